import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import type { EngineDeps } from '../../packages/cairn/src/engine/deps.ts';
import { drive } from '../../packages/cairn/src/engine/drive/drive.ts';
import { scanAndDispatchSoon } from '../../packages/cairn/src/engine/mailbox/scan-soon.ts';
import { driveRequestOf } from '../../packages/cairn/src/memory/memory-task-queue.ts';
import { wakePaused } from '../../packages/cairn/src/operations/runtime/wake-paused.ts';
import { startRun } from '../../packages/cairn/src/operations/start/start-run.ts';
import { continueRun, suspendRun } from '../../packages/cairn/src/operations/suspend-run.ts';
import { NOTHING_SET } from '../../packages/cairn/src/ports/runtime-config.ts';
import { scan } from '../../packages/cairn/src/recovery/scan.ts';
import { assertStored } from '../support/soundness.ts';
import { World } from '../support/world.ts';

const one = (type: string) =>
  defineWorkflow({
    type,
    planVersion: 1,
    input: z.object({}),
    steps(step) {
      const first = step('first', () => 1);
      return { nap: step.sleep('nap', { needs: { first }, for: '1h' }) };
    },
  });

/** Runs of `video` have functions of their own. */
function pooledWorld(): { world: World; deps: EngineDeps } {
  const world = new World({ workflows: [one('video'), one('order')] });
  return { world, deps: { ...world.deps, poolOf: (type) => (type === 'video' ? 'slow' : undefined) } };
}

test('a start of a workflow with its own functions enqueues to them, and no other does', async () => {
  const { world, deps } = pooledWorld();
  for (const type of ['video', 'order']) {
    const workflow = deps.registry.newest(type);
    if (!workflow) throw new Error(type);
    await startRun(
      { ...deps, records: world.records },
      {
        tenantId: 'acme',
        environment: 'test',
        workflow,
        input: {},
        trigger: { kind: 'api' } as never,
        source: 'api',
        key: undefined,
        requestHash: type,
      },
    );
  }
  expect(world.queue.pending.map(({ pool }) => pool)).toEqual(['slow', undefined]);
});

test.each([
  ['video', undefined, 'slow'],
  ['video', 'other', 'slow'],
  ['order', 'slow', undefined],
])(
  'a drive of %s that reached the functions %j hands it to %j and runs nothing',
  async (type, came, goes) => {
    const { world, deps } = pooledWorld();
    const runId = await world.start(type);
    world.queue.take();
    expect(await drive(deps, { runId, pool: came })).toBe('moved');
    expect(assertStored(world.db, runId).epoch).toBe(0);
    expect(world.queue.pending).toMatchObject([{ runId, reason: 'continue', alone: false }]);
    expect(world.queue.pending[0]?.pool).toBe(goes);
  },
);

test('a run stays with its own functions to its end, whoever enqueues a drive', async () => {
  const { world, deps } = pooledWorld();
  const runId = await world.start('video');
  const pools: unknown[] = [];
  const own: EngineDeps = {
    ...deps,
    queue: {
      async enqueue(task) {
        pools.push(task.pool);
        await world.queue.enqueue(task);
      },
    },
  };
  await world.run(undefined, own);
  expect(assertStored(world.db, runId).status).toBe('completed');
  expect(pools.length).toBeGreaterThan(1);
  expect(new Set(pools)).toEqual(new Set(['slow']));
});

test('a run that the scan finds is enqueued to its own functions', async () => {
  const { world, deps } = pooledWorld();
  const runId = await world.start('video');
  world.queue.take();
  world.clock.jump(3_600_000);
  await scan(deps);
  const [task] = world.queue.pending;
  expect(task).toMatchObject({ runId, pool: 'slow' });
  expect(task && driveRequestOf(task).pool).toBe('slow');
});

/** Appends from outside that enqueue a dispatch of a run that was not in a queue. */
const ENQUEUERS: Readonly<
  Record<string, (deps: EngineDeps, world: World, runId: string) => Promise<unknown>>
> = {
  'a request to continue it': async (deps, world, runId) => {
    const run = { runId, tenantId: world.stateOf(runId).tenantId, actor: 'c.ops' };
    await suspendRun(deps, { ...run, reason: 'wait' });
    while (world.queue.take()) {}
    await continueRun(deps, run);
  },
  'the end of a pause': (deps, world) =>
    wakePaused({ ...deps, statistics: world.statistics }, NOTHING_SET, { tenantId: 't1' }),
  'an event that it could not receive': (deps, _, runId) => scanAndDispatchSoon(deps, runId),
};

test.each(Object.keys(ENQUEUERS))('a run is enqueued to its own functions by %s', async (by) => {
  const { world, deps } = pooledWorld();
  const runId = await world.start('video');
  world.queue.take();
  await ENQUEUERS[by]?.(deps, world, runId);
  expect(world.queue.pending).toMatchObject([
    { runId, pool: 'slow', tenantId: world.stateOf(runId).tenantId },
  ]);
});
