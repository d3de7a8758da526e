import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../packages/cairn/src/engine/drive/drive.ts';
import { decideApproval } from '../../packages/cairn/src/operations/approvals/decide-approval.ts';
import { cancelRun } from '../../packages/cairn/src/operations/cancel-run.ts';
import { scan } from '../../packages/cairn/src/recovery/scan.ts';
import { CollectedLog } from '../../packages/cairn/src/testing/world/collected-log.ts';
import { dieDuring } from '../support/mortal.ts';
import { succeed } from '../support/successors.ts';
import { World } from '../support/world.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const trace = { traceId: TRACE, spanId: '00f067aa0ba902b7' };

async function begun({ hang = false, idempotent = true } = {}) {
  const control = { hang };
  const workflow = defineWorkflow({
    type: 'one',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({
      a: step('a', { timeout: '5m', idempotent }, () => (control.hang ? new Promise<number>(() => {}) : 1)),
    }),
  });
  const world = new World({ workflows: [workflow] });
  const log = new CollectedLog(world.clock);
  const runId = await world.start('one', {}, { tenantId: 'acme', trace });
  world.queue.take();
  const about = { runId, tenantId: 'acme', traceId: TRACE };
  const fieldsOf = (event: string) =>
    log.lines.filter((line) => line.event === event).map((line) => line.fields);
  return { world, deps: { ...world.deps, log }, control, runId, about, fieldsOf };
}

test('the end of a run is logged by the drive that ends it, with run, tenant and trace', async () => {
  const { deps, runId, about, fieldsOf } = await begun();
  await drive(deps, { runId });
  expect(fieldsOf('run_claimed')).toEqual([{ ...about, epoch: 1 }]);
  expect(fieldsOf('run_transition')).toEqual([
    { ...about, from: 'pending', to: 'running', initiator: 'system', cause: 'run_started', seq: 3 },
    { ...about, from: 'running', to: 'completed', initiator: 'system', cause: 'run_completed', seq: 5 },
  ]);
  expect(fieldsOf('run_completed')).toEqual([
    { ...about, type: 'one', status: 'completed', durationMs: expect.any(Number) },
  ]);
});

test('a cancelled run is logged by the process that cancels it, with run, tenant and trace', async () => {
  const { deps, runId, about, fieldsOf } = await begun();
  const request = { runId, tenantId: 'acme', stopKind: 'user', actor: 'c.ops' } as const;
  await cancelRun(deps, request);
  expect(fieldsOf('run_cancel_requested')).toMatchObject([about]);
  expect(fieldsOf('run_transition')).toMatchObject([
    { ...about, from: 'pending', to: 'cancelled', initiator: 'user', actor: 'c.ops', cause: 'run_cancelled' },
  ]);
  expect(fieldsOf('run_completed')).toMatchObject([{ ...about, status: 'cancelled' }]);
});

test('an orphan is logged by the scan that finds it, with run, tenant and trace', async () => {
  const { world, deps, control, runId, about, fieldsOf } = await begun({ hang: true });
  await dieDuring(world.deps, { runId });
  control.hang = false;
  world.clock.jump(world.deps.settings.leaseMs + 1);
  await scan(deps);
  expect(fieldsOf('orphan_detected')).toEqual([
    { ...about, lastHeartbeat: expect.any(Number), why: 'silence' },
  ]);
  expect(fieldsOf('run_recovered')).toMatchObject([{ ...about, verdict: 'run_resumed' }]);
});

test('a run that fails when its dead worker is found is logged as ended too', async () => {
  const { world, deps, runId, about, fieldsOf } = await begun({ hang: true, idempotent: false });
  await dieDuring(world.deps, { runId });
  world.clock.jump(world.deps.settings.leaseMs + 1);
  await scan(deps);
  expect(fieldsOf('run_completed')).toMatchObject([{ ...about, status: 'failed' }]);
});

test('every transition of a run is logged once at INFO with its cause, whoever makes it, and a second claim is not one', async () => {
  const workflow = defineWorkflow({
    type: 'asked',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({
      late: step.sleep('late', {
        for: '1h',
        needs: { gate: step.approval('gate', { ask: () => 'Go on?' }) },
      }),
    }),
  });
  const world = new World({ workflows: [workflow] });
  const log = new CollectedLog(world.clock);
  const deps = { ...world.deps, log };
  const runId = await world.start('asked', {}, { tenantId: 'acme' });
  const isAsking = () => world.stateOf(runId).status === 'awaiting_approval';
  await world.run(isAsking, deps);
  await decideApproval(deps, {
    runId,
    tenantId: 'acme',
    stepId: 'gate',
    decision: 'approve',
    actor: 'c.ann',
  });
  await world.run(undefined, deps);
  const { events } = world.db.runs.get(runId) ?? {};
  const lines = log.lines.filter(({ event }) => event === 'run_transition');
  expect(lines.map(({ level, fields }) => [level, fields?.from, fields?.to, fields?.initiator])).toEqual([
    ['info', 'pending', 'running', 'system'],
    ['info', 'running', 'awaiting_approval', 'system'],
    ['info', 'awaiting_approval', 'running', 'approval'],
    ['info', 'running', 'waiting_external', 'system'],
    ['info', 'waiting_external', 'running', expect.any(String)],
    ['info', 'running', 'completed', 'system'],
  ]);
  for (const { fields } of lines) {
    expect(events?.[Number(fields?.seq) - 1]?.type).toBe(fields?.cause);
  }
  const claims = (events ?? []).filter(({ type }) => type === 'run_claimed');
  expect(log.lines.filter(({ event }) => event === 'run_claimed')).toHaveLength(claims.length);
  expect(claims.length).toBeGreaterThan(1);
});

test('a successor logs which recorded steps it reuses, and which it runs again', async () => {
  const { world, deps, runId, fieldsOf } = await begun();
  await drive(deps, { runId });
  const before = fieldsOf('run_transition').length;
  const made = await succeed(world, 'replay', runId, { tenantId: 'acme' });
  await drive(deps, { runId: made });
  expect(fieldsOf('run_transition').slice(before)).toMatchObject([
    { runId: made, from: 'pending', to: 'running' },
    { runId: made, from: 'running', to: 'replaying', cause: 'replay_started' },
    { runId: made, from: 'replaying', to: 'running', cause: 'replay_finished' },
    { runId: made, from: 'running', to: 'completed' },
  ]);
});
