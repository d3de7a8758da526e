import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { Fatal } from '../../../packages/cairn/src/core/errors.ts';
import { WorkflowRegistry } from '../../../packages/cairn/src/engine/define/registry.ts';
import type { StepFactory } from '../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { cancelRun } from '../../../packages/cairn/src/operations/cancel-run.ts';
import { intercept } from '../../support/intercept.ts';
import { assertStored } from '../../support/soundness.ts';
import { depsOf, driven, resultOf, reusedIn, said, succeed } from '../../support/successors.ts';
import { World } from '../../support/world.ts';

/** This many parallel steps, and one after them that fails until it is fixed. */
function wide(steps: number) {
  const cause = { mended: false };
  const workflow = defineWorkflow({
    type: 'wide',
    planVersion: 1,
    input: z.unknown(),
    steps(step: StepFactory<unknown>) {
      const needs = Object.fromEntries(
        Array.from({ length: steps }, (_, i) => [`n${i}`, step(`s${i}`, () => i)] as const),
      );
      const sum = step('sum', { needs }, (context) => {
        if (!cause.mended) throw new Fatal('broken');
        return Object.keys(needs).reduce((total, name) => total + Number(context[name as never]), 0);
      });
      return { sum };
    },
  });
  const world = new World({ workflows: [workflow], settings: { concurrentSteps: 500 } });
  return { world, cause };
}

async function failedRun({ world, cause }: ReturnType<typeof wide>): Promise<string> {
  const runId = await world.start('wide');
  await world.run();
  expect(assertStored(world.db, runId).status).toBe('failed');
  cause.mended = true;
  return runId;
}

/** Steps of the widest source. `IMPORT_STEPS=5000` before the command tests more. */
const STEPS = Number(process.env.IMPORT_STEPS ?? 1_000);

describe('the import', () => {
  test('of thousands of steps is split into commits that a store accepts, and reads the journal in pages', async () => {
    const of = wide(STEPS);
    const runId = await failedRun(of);
    const { world } = of;
    const successor = await succeed(world, 'resume', runId);
    const writes: number[] = [];
    const pages: number[] = [];
    const store = intercept(world.store, ({ method, args }, proceed) => {
      const [first, , limit] = args as [{ events: []; checkpoints: []; steps: [] }, number, number];
      if (method === 'commit')
        writes.push(first.events.length + first.checkpoints.length + first.steps.length);
      if (method === 'readEvents') pages.push(limit);
      return proceed();
    });
    await world.run(undefined, { ...world.deps, store });
    const state = assertStored(world.db, successor);
    expect(state.status).toBe('completed');
    expect(await resultOf(world, state)).toEqual({ sum: (STEPS * (STEPS - 1)) / 2 });
    expect(reusedIn(world, successor)).toHaveLength(STEPS);
    expect(Math.max(...writes)).toBeLessThanOrEqual(300);
    expect(Math.max(...pages)).toBeLessThanOrEqual(500);
  });

  test('interrupted after any commit continues with the rest, and imports nothing twice', async () => {
    const of = wide(200);
    const runId = await failedRun(of);
    const { world } = of;
    for (let crashAt = 1; crashAt <= 5; crashAt += 1) {
      const successor = await succeed(world, 'fork', runId);
      let commits = 0;
      const store = intercept(world.store, async ({ method }, proceed) => {
        if (method === 'commit') commits += 1;
        if (method === 'commit' && commits > crashAt) return new Promise(() => {});
        return proceed();
      });
      world.queue.take();
      void drive({ ...world.deps, store }, { runId: successor });
      await world.run();
      const state = assertStored(world.db, successor);
      expect([crashAt, state.status]).toEqual([crashAt, 'completed']);
      const reused = reusedIn(world, successor);
      expect([reused.length, new Set(reused).size]).toEqual([200, 200]);
      const times = said(world, successor, 'replay_finished').length;
      expect(times).toBe(1);
    }
  });

  test('ends with the run if it is cancelled meanwhile, and undoes the imported steps', async () => {
    const undone: string[] = [];
    const workflow = defineWorkflow({
      type: 'undoing',
      planVersion: 1,
      input: z.unknown(),
      steps(step) {
        const made = step('make', { compensate: () => void undone.push('make') }, () => 1);
        return { used: step('use', { needs: { made } }, () => 2) };
      },
    });
    const world = new World({ workflows: [workflow] });
    const runId = await world.start('undoing');
    await world.run();
    const successor = await succeed(world, 'fork', runId);
    const store = intercept(world.store, async ({ method, args }, proceed) => {
      const result = await proceed();
      const [commit] = args as [{ events: { type: string }[] }];
      // Acknowledged before the drive hears that its import is durable.
      if (method === 'commit' && commit.events.some(({ type }) => type === 'replay_finished')) {
        await cancelRun(depsOf(world), {
          runId: successor,
          tenantId: 't1',
          stopKind: 'user',
          actor: 'u.ann',
        });
      }
      return result;
    });
    await world.run(undefined, { ...world.deps, store });
    const state = assertStored(world.db, successor);
    expect([state.status, undone]).toEqual(['cancelled', ['make']]);
    expect(assertStored(world.db, runId).status).toBe('completed');
  });

  test('waits for its plan where that is no longer deployed', async () => {
    const of = wide(120);
    const runId = await failedRun(of);
    const { world } = of;
    const successor = await succeed(world, 'resume', runId);
    world.queue.take();
    const bare = { ...world.deps, registry: new WorkflowRegistry([]) };
    expect(await drive(bare, { runId: successor })).toBe('waiting');
    expect(assertStored(world.db, successor).parked).toBe('PLAN_VERSION_UNAVAILABLE');
    await world.run();
    expect(assertStored(world.db, successor).status).toBe('completed');
  });

  test('fails the run where its source is missing', async () => {
    const of = wide(1);
    const runId = await failedRun(of);
    const { world } = of;
    const successor = await succeed(world, 'replay', runId);
    world.db.runs.delete(runId);
    await world.run();
    expect(assertStored(world.db, successor)).toMatchObject({
      status: 'failed',
      error: { code: 'RUN_RESUME_FAILED' },
    });
  });

  test('cancels it if a cancel came meanwhile: an acknowledged cancel takes effect', async () => {
    const of = wide(1);
    const runId = await failedRun(of);
    const { world } = of;
    const successor = await succeed(world, 'replay', runId);
    world.db.runs.delete(runId);
    world.queue.take();
    const store = intercept(world.store, async ({ method, args }, proceed) => {
      if (method === 'load' && args[0] === runId) {
        const cancelled = await cancelRun(world.deps, { runId: successor, tenantId: 't1', stopKind: 'user' });
        expect(cancelled.status).toBe('cancelling');
      }
      return proceed();
    });
    expect(await drive({ ...world.deps, store }, { runId: successor })).toBe('closed');
    expect(assertStored(world.db, successor)).toMatchObject({ status: 'cancelled', stopKind: 'user' });
  });

  test('releases the run when its process is shutting down, and another drive continues', async () => {
    const of = wide(300);
    const runId = await failedRun(of);
    const { world } = of;
    const successor = await succeed(world, 'resume', runId);
    const ending = new AbortController();
    let commits = 0;
    const store = intercept(world.store, ({ method }, proceed) => {
      if (method === 'commit') commits += 1;
      if (commits === 2) ending.abort();
      return proceed();
    });
    world.queue.take();
    const end = await drive({ ...world.deps, store, shutdown: ending.signal }, { runId: successor });
    expect([end, assertStored(world.db, successor).status]).toEqual(['released', 'replaying']);
    await world.run();
    expect(assertStored(world.db, successor).status).toBe('completed');
    expect(reusedIn(world, successor)).toHaveLength(300);
  });
});

test('a replay reuses nothing unless it names a checkpoint', async () => {
  const of = wide(3);
  const runId = await failedRun(of);
  const { world } = of;
  const replay = await driven(world, 'replay', runId);
  expect([replay.status, reusedIn(world, replay.id)]).toEqual(['completed', []]);
  const from = await driven(world, 'replay', replay.id, { from: { step: 'sum' } });
  expect([from.status, reusedIn(world, from.id).sort()]).toEqual(['completed', ['s0', 's1', 's2']]);
  expect(replay.effectScopes).toEqual([{ runId: replay.id, mode: 'replay' }]);
  expect(from.effectScopes).toEqual([
    { runId: from.id, mode: 'replay' },
    { runId: replay.id, mode: 'replay' },
  ]);
});
