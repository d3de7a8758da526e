import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { NotApplied } from '../../packages/cairn/src/core/errors.ts';
import { defineBinding, defineCapability } from '../../packages/cairn/src/engine/define/capability.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../packages/cairn/src/engine/drive/drive.ts';
import { cancelRun } from '../../packages/cairn/src/operations/cancel-run.ts';
import { InstanceMetrics } from '../../packages/cairn/src/platform/telemetry/instance-metrics.ts';
import type { ScanMetric } from '../../packages/cairn/src/ports/metrics.ts';
import { scan } from '../../packages/cairn/src/recovery/scan.ts';
import { CollectedLog } from '../../packages/cairn/src/testing/world/collected-log.ts';
import { intercept } from '../support/intercept.ts';
import { settle } from '../support/virtual-clock.ts';
import { World } from '../support/world.ts';

const TENANT = 't1';

const put = defineCapability({
  id: 'shelf.put',
  sideEffects: 'write',
  idempotency: 'required',
  request: z.object({}),
  response: z.object({}),
});

function counted({ refusals = 0, losses = 0 } = {}) {
  const left = { refusals, losses };
  const binding = defineBinding(put, {
    id: 'shelf.put.here',
    async call() {
      if (left.refusals-- > 0) throw new NotApplied('full');
      if (left.losses-- > 0) throw new Error('the answer was lost');
      return {};
    },
  });
  const putting = defineWorkflow({
    type: 'putting',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({
      put: step('put', { uses: [put], retry: { maxAttempts: 3 } }, ({ perform }) => perform(put, {})),
    }),
  });
  const metrics = new InstanceMetrics();
  const world = new World({ workflows: [putting], bindings: [binding], metrics });
  return { world, metrics };
}

test.each([
  ['an answer', {}, ['executed']],
  ['a refusal and an answer', { refusals: 1 }, ['not_applied', 'executed']],
  ['a lost answer and another', { losses: 1 }, ['in_doubt', 'executed']],
])('a call that gets %s is counted by its result', async (_what, outside, outcomes) => {
  const { world, metrics } = counted(outside);
  await world.start('putting');
  await world.run();
  expect(metrics.countsOf(TENANT).effects).toEqual(
    outcomes.map((outcome) => ({ capabilityId: 'shelf.put', outcome, count: 1 })),
  );
});

test('a drive is counted by its end and duration, the first of its instance separately', async () => {
  const { world, metrics } = counted();
  const runId = await world.start('putting');
  world.queue.take();
  await drive(world.deps, { runId, isCold: true });
  await drive(world.deps, { runId });
  await drive(world.deps, { runId: 'run_aaaaaaaaaaaaaaaaaaaaaaaaaa' });
  expect(metrics.countsOf(TENANT).dispatches).toMatchObject([
    { end: 'closed', cold: true, count: 1 },
    { end: 'over', cold: false, count: 1 },
  ]);
});

test('a drive during which the store failed is counted as failed', async () => {
  const { world, metrics } = counted();
  const runId = await world.start('putting');
  world.queue.take();
  const effects = intercept(world.deps.effects, async () => {
    throw new Error('away');
  });
  const store = intercept(world.deps.store, async ({ method }, proceed) => {
    if (method === 'commit') throw new Error('away');
    return proceed();
  });
  await expect(drive({ ...world.deps, store, effects }, { runId })).rejects.toThrow('away');
  expect(metrics.countsOf(TENANT).dispatches).toMatchObject([{ end: 'failed', count: 1 }]);
});

test('a lost append is counted as a conflict of the loser', async () => {
  const { world, metrics } = counted();
  const runId = await world.start('putting');
  let hasCancelled = false;
  const store = intercept(world.deps.store, async ({ method }, proceed) => {
    if (method === 'commit' && world.stateOf(runId).lease && !hasCancelled) {
      hasCancelled = true;
      await cancelRun(world.deps, { runId, tenantId: TENANT, stopKind: 'user', actor: 'c.ops' });
    }
    return proceed();
  });
  await world.run(undefined, { ...world.deps, store });
  expect(world.stateOf(runId).status).toBe('cancelled');
  expect(metrics.countsOf(TENANT).conflicts).toContainEqual({ leased: true, count: 1 });
});

test('a scan reports the number of due runs, its lag, and its actions', async () => {
  const { world } = counted();
  const received: ScanMetric[] = [];
  const counts = { enqueue() {}, scan: (one: ScanMetric) => void received.push(one) };
  await scan({ ...world.deps, counts });
  for (let i = 0; i < 3; i += 1) await world.start('putting');
  world.queue.take();
  world.clock.jump(60_000 + 45_000);
  await scan({ ...world.deps, counts });
  expect(received).toEqual([
    { due: 0, lagMs: 0, handled: { enqueued: 0, recovered: 0, held: 0, failed: 0, skipped: 0 } },
    { due: 3, lagMs: 45_000, handled: { enqueued: 3, recovered: 0, held: 0, failed: 0, skipped: 0 } },
  ]);
});

test('each durable checkpoint is a log line at INFO', async () => {
  const { world } = counted();
  const log = new CollectedLog(world.clock);
  const runId = await world.start('putting');
  world.queue.take();
  await drive({ ...world.deps, log }, { runId });
  await settle();
  const lines = log.lines.filter(({ event }) => event === 'run_checkpoint');
  const { checkpoints } = world.db.runs.get(runId) ?? {};
  expect(lines.map(({ level, fields }) => [level, fields?.seq])).toEqual(
    [...(checkpoints?.keys() ?? [])].filter((seq) => seq > 1).map((seq) => ['info', seq]),
  );
  expect(lines.map(({ fields }) => fields)).toContainEqual(
    expect.objectContaining({ runId, tenantId: TENANT, stepId: 'put', resumable: true }),
  );
});
