import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { Fatal } from '../../../packages/cairn/src/core/errors.ts';
import { MAX_UNREAD_SIGNALS } from '../../../packages/cairn/src/core/run/data/unread-signals.ts';
import type { StepFactory } from '../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { cancelRun } from '../../../packages/cairn/src/operations/cancel-run.ts';
import { signalRun } from '../../../packages/cairn/src/operations/events/signal-run.ts';
import { intercept } from '../../support/intercept.ts';
import { assertStored } from '../../support/soundness.ts';
import { driven, preview, said, succeed } from '../../support/successors.ts';
import { World } from '../../support/world.ts';

/** This many parallel steps, a step that fails until it is fixed, and then a wait for the event `go`. */
function scene(steps = 1) {
  const cause = { mended: false };
  const waits = defineWorkflow({
    type: 'waits',
    planVersion: 1,
    input: z.unknown(),
    steps(step: StepFactory<unknown>) {
      const needs = Object.fromEntries(
        Array.from({ length: steps }, (_, i) => [`n${i}`, step(`s${i}`, () => i)] as const),
      );
      const checked = step('check', { needs }, () => {
        if (!cause.mended) throw new Fatal('broken');
        return true;
      });
      return { go: step.event('go', { needs: { checked }, event: 'go', key: () => 'k' }) };
    },
  });
  const plain = defineWorkflow({
    type: 'plain',
    planVersion: 1,
    input: z.unknown(),
    steps: (step) => ({ done: step('do', () => 1) }),
  });
  const world = new World({ workflows: [waits, plain], settings: { concurrentSteps: 500 } });
  return { world, cause };
}

const send = ({ world }: ReturnType<typeof scene>, runId: string, signalId: string, name = 'go') =>
  signalRun(world.deps, { runId, tenantId: 't1', name, key: 'k', signalId, data: 7, actor: 'c.ci' });
const unread = (world: World, runId: string) =>
  assertStored(world.db, runId).unread.map(({ signalId }) => signalId);

/** A run that failed with these unread signals, and whose cause has been fixed. */
async function failed(of: ReturnType<typeof scene>, signals: readonly string[]): Promise<string> {
  const runId = await of.world.start('waits');
  for (const id of signals) await send(of, runId, id);
  await of.world.run();
  expect(assertStored(of.world.db, runId).status).toBe('failed');
  of.cause.mended = true;
  return runId;
}

describe('unread signals are kept by a run that', () => {
  test('completed, and its end counts them', async () => {
    const of = scene();
    const runId = await of.world.start('plain');
    await send(of, runId, 's1');
    await of.world.run();
    expect(unread(of.world, runId)).toEqual(['s1']);
    expect(said(of.world, runId, 'run_completed')).toMatchObject([{ unread: 1 }]);
  });

  test('failed', async () => {
    const of = scene();
    const runId = await failed(of, ['s1', 's2']);
    expect(unread(of.world, runId)).toEqual(['s1', 's2']);
  });

  test('was cancelled, and its end counts them, once', async () => {
    const of = scene();
    const runId = await of.world.start('waits');
    await send(of, runId, 's1');
    await cancelRun(of.world.deps, { runId, tenantId: 't1', actor: 'c.ops', stopKind: 'user' });
    await of.world.run();
    expect(unread(of.world, runId)).toEqual(['s1']);
    expect(said(of.world, runId, 'run_cancelled')).toEqual([{ stopKind: 'user', unread: 1 }]);
    expect(said(of.world, runId, 'cancel_requested')).toEqual([{ stopKind: 'user' }]);
  });

  test('an end without unread signals does not mention them', async () => {
    const { world } = scene();
    const runId = await world.start('plain');
    await world.run();
    expect(said(world, runId, 'run_completed')[0]).not.toHaveProperty('unread');
  });
});

describe('a successor', () => {
  test.each(['resume', 'replay', 'fork'] as const)('by %s reads those that it carries over', async (mode) => {
    const of = scene();
    const runId = await failed(of, ['s1']);
    const state = await driven(of.world, mode, runId, { signals: 'carry' });
    expect(state).toMatchObject({ status: 'completed', result: { text: '{"go":7}' }, unread: [] });
    expect(state.source).toMatchObject({ runId, mode, signals: 'carry' });
    // Its sender may repeat it to the successor as well.
    await expect(send(of, state.id, 's1')).resolves.toMatchObject({ outcome: 'taken_in' });
    expect(unread(of.world, runId)).toEqual(['s1']);
  });

  test('carries over none by default, and the preview names them', async () => {
    const of = scene();
    const runId = await failed(of, ['s1']);
    const { unread: foretold } = await preview(of.world, 'resume', runId);
    expect(foretold).toEqual([{ signalId: 's1', name: 'go', key: 'k', at: expect.any(Number) }]);
    const successor = await succeed(of.world, 'resume', runId);
    await of.world.run(() => of.world.db.runs.get(successor)?.snapshot.status === 'waiting_external');
    expect(assertStored(of.world.db, successor).unread).toEqual([]);
    expect(said(of.world, successor, 'signal_received')).toEqual([]);
  });

  test('carries over a full buffer beside hundreds of steps in commits that a store accepts, once if a dispatch dies after them', async () => {
    const of = scene(100);
    const ids = Array.from({ length: MAX_UNREAD_SIGNALS }, (_, i) => `s${i}`);
    const runId = await failed(of, ids);
    const { world } = of;
    const successor = await succeed(world, 'resume', runId, { signals: 'carry' });
    const writes: number[] = [];
    let dies = true;
    const store = intercept(world.store, async ({ method, args }, proceed) => {
      if (method !== 'commit') return proceed();
      const [{ events, checkpoints, steps }] = args as [
        { events: { type: string }[]; checkpoints: []; steps: [] },
      ];
      writes.push(events.length + checkpoints.length + steps.length);
      if (dies && events.some(({ type }) => type === 'step_reused')) {
        dies = false;
        throw new TypeError('a mistake of ours');
      }
      return proceed();
    });
    world.queue.take();
    await drive({ ...world.deps, store }, { runId: successor });
    expect(dies).toBe(false);
    await world.run(() => world.db.runs.get(successor)?.snapshot.status === 'completed', {
      ...world.deps,
      store,
    });
    expect(Math.max(...writes)).toBeLessThan(300);
    expect(said(world, successor, 'signal_received').map(({ signalId }) => signalId)).toEqual(ids);
    expect(unread(world, successor)).toEqual(ids.slice(1));
    expect(said(world, successor, 'run_completed')).toMatchObject([{ unread: MAX_UNREAD_SIGNALS - 1 }]);
  });
});
