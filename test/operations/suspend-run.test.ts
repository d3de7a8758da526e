/** An operator suspends one run and continues it. */
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { RunState } from '../../packages/cairn/src/core/run/state.ts';
import { wakeAt } from '../../packages/cairn/src/core/run/wake.ts';
import type { WorkflowOptions } from '../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../packages/cairn/src/engine/drive/drive.ts';
import { cancelRun } from '../../packages/cairn/src/operations/cancel-run.ts';
import { resumeRun } from '../../packages/cairn/src/operations/successors/resume-run.ts';
import { continueRun, suspendRun } from '../../packages/cairn/src/operations/suspend-run.ts';
import { scan } from '../../packages/cairn/src/recovery/scan.ts';
import { mortal } from '../support/mortal.ts';
import { assertStored } from '../support/soundness.ts';
import { World } from '../support/world.ts';

const TENANT = 't';
const HOUR = 3_600_000;
const actor = 'c.ops';
const reason = 'the bank is down';

type Steps = WorkflowOptions<object>['steps'];

async function started(steps: Steps) {
  const workflow = defineWorkflow({ type: 'w', planVersion: 1, input: z.object({}), steps });
  const world = new World({ workflows: [workflow] });
  const runId = await world.start('w');
  const { tenantId } = world.stateOf(runId);
  const run = { runId, tenantId, actor };
  return {
    world,
    runId,
    run,
    suspend: () => suspendRun(world.deps, { ...run, reason }),
    /** Advances until nothing is due. */
    rest: () => world.run(() => world.queue.pending.length === 0 && !world.stateOf(runId).lease),
    goOn: () => continueRun(world.deps, run),
    state: (): RunState => assertStored(world.db, runId, world.clock.now() + 24 * HOUR),
  };
}

const two =
  (bodies: string[], first: () => unknown = () => 1): Steps =>
  (step) => {
    const a = step('a', async () => {
      bodies.push('a');
      return await first();
    });
    const b = step('b', { needs: { a } }, () => {
      bodies.push('b');
      return 2;
    });
    return { b };
  };

describe('a suspended run', () => {
  test('starts no step, and names the author and the reason', async () => {
    const bodies: string[] = [];
    const { world, suspend, rest, goOn, state } = await started(two(bodies));
    expect(await suspend()).toMatchObject({ status: 'suspended', reason, actor });
    await rest();
    expect(bodies).toEqual([]);
    expect(state()).toMatchObject({ status: 'pending', suspension: { reason, actor } });
    await goOn();
    await world.run();
    expect(bodies).toEqual(['a', 'b']);
    expect(state()).toMatchObject({ status: 'completed' });
    expect(state().suspension).toBeUndefined();
  });

  test('lets a running body end, and begins no other', async () => {
    const bodies: string[] = [];
    const end = Promise.withResolvers<number>();
    const { world, suspend, rest, goOn, state } = await started(two(bodies, () => end.promise));
    await world.run(() => bodies.length === 1);
    expect(await suspend()).toMatchObject({ status: 'suspending' });
    end.resolve(1);
    await rest();
    expect(bodies).toEqual(['a']);
    expect(state().steps.get('a')).toMatchObject({ phase: 'done', outcome: 'succeeded' });
    expect(state().lease).toBeUndefined();
    await goOn();
    await world.run();
    expect(state().status).toBe('completed');
    expect(bodies).toEqual(['a', 'b']);
  });

  test('stays suspended through the scan, another delivery and a due timer; the timer ends when the run continues', async () => {
    const { world, runId, suspend, goOn, state } = await started((step) => {
      const nap = step.sleep('nap', { for: '1h' });
      const b = step('b', { needs: { nap } }, () => 2);
      return { b };
    });
    await world.run(() => world.stateOf(runId).status === 'waiting_external');
    await suspend();
    world.clock.jump(30 * HOUR);
    await scan(world.deps);
    expect(await drive(world.deps, { runId })).toBe('deferred');
    expect(state()).toMatchObject({ status: 'waiting_external', suspension: { reason } });
    expect(wakeAt(state())).toBeGreaterThan(world.clock.now() - 30 * HOUR);
    await goOn();
    await world.run();
    expect(state().status).toBe('completed');
  });

  test('stays suspended after its worker died: it is recovered, and then not driven', async () => {
    const bodies: string[] = [];
    const { world, runId, suspend, rest, goOn, state } = await started(
      two(bodies, () => (bodies.length === 1 ? new Promise(() => {}) : 1)),
    );
    const worker = mortal(world.deps, 7);
    await world.run(() => bodies.length === 1, worker.deps);
    worker.kill();
    await suspend();
    await world.run(() => world.stateOf(runId).resumeCount === 1);
    await rest();
    expect(bodies).toEqual(['a']);
    expect(state()).toMatchObject({ status: 'running', resumeCount: 1, suspension: { reason } });
    await goOn();
    await world.run();
    expect(state().status).toBe('completed');
    expect(bodies).toEqual(['a', 'a', 'b']);
  });

  test('that fails is compensated only when it continues', async () => {
    const undone: string[] = [];
    const end = Promise.withResolvers<number>();
    const { world, runId, suspend, rest, goOn, state } = await started((step) => {
      const a = step('a', { compensate: () => void undone.push('a') }, () => 1);
      const b = step('b', { needs: { a }, retry: { maxAttempts: 1 } }, () => end.promise);
      return { b };
    });
    await world.run(() => world.stateOf(runId).steps.get('a')?.phase === 'done');
    await suspend();
    end.reject(new Error('broken'));
    await rest();
    expect(undone).toEqual([]);
    expect(state()).toMatchObject({ status: 'running', suspension: { reason } });
    await goOn();
    await world.run();
    expect(undone).toEqual(['a']);
    expect(state().status).toBe('failed');
  });

  test('is cancelled at once: a cancel overrides a suspension', async () => {
    const { world, runId, run, suspend, state } = await started(two([]));
    await suspend();
    await cancelRun(world.deps, { ...run, stopKind: 'user' });
    await world.run();
    expect(state().status).toBe('cancelled');
    await expect(suspendRun(world.deps, { ...run, runId, reason })).rejects.toMatchObject({
      code: 'RUN_TERMINAL_STATE',
    });
  });

  test('keeps the first author and reason, and is not continued by a resume', async () => {
    const { world, run, suspend, state } = await started(two([]));
    await suspend();
    const second = await suspendRun(world.deps, { ...run, actor: 'c.other', reason: 'another' });
    expect(second).toMatchObject({ reason, actor });
    const events = await world.eventTypes(run.runId);
    expect(events.filter((type) => type === 'suspend_requested')).toHaveLength(1);
    await expect(resumeRun(world.deps as never, run)).rejects.toMatchObject({
      code: 'RUN_INVALID_TRANSITION',
      message: expect.stringContaining(reason),
    });
    expect(state().suspension).toMatchObject({ actor });
  });

  test('of another tenant is answered as missing', async () => {
    const { world, runId } = await started(two([]));
    await expect(
      suspendRun(world.deps, { runId, tenantId: `${TENANT}-other`, actor, reason }),
    ).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
  });
});
