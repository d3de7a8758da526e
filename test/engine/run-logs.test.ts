import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../functions/src/engine/define/workflow.ts';
import { drive } from '../../functions/src/engine/drive/drive.ts';
import { cancelRun } from '../../functions/src/operations/cancel-run.ts';
import { scan } from '../../functions/src/recovery/scan.ts';
import { CollectedLog } from '../../functions/src/testing/world/collected-log.ts';
import { mortal } from '../support/mortal.ts';
import { settle } from '../support/virtual-clock.ts';
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

test('the end of a run is logged by the drive that brings it about, with run, tenant and trace', async () => {
  const { deps, runId, about, fieldsOf } = await begun();
  await drive(deps, { runId });
  expect(fieldsOf('run_transition')).toEqual([
    { ...about, from: 'pending', to: 'running', initiator: 'system' },
  ]);
  expect(fieldsOf('run_completed')).toEqual([
    { ...about, type: 'one', status: 'completed', durationMs: expect.any(Number) },
  ]);
});

test('a cancelled run is logged by whoever cancels it, with run, tenant and trace', async () => {
  const { deps, runId, about, fieldsOf } = await begun();
  const request = { runId, tenantId: 'acme', stopKind: 'user', actor: 'c.ops' } as const;
  await cancelRun(deps, request);
  expect(fieldsOf('run_cancel_requested')).toMatchObject([about]);
  expect(fieldsOf('run_transition')).toMatchObject([{ ...about, from: 'pending', to: 'cancelled' }]);
  expect(fieldsOf('run_completed')).toMatchObject([{ ...about, status: 'cancelled' }]);
});

test('an orphan is logged by the scan that finds it, with run, tenant and trace', async () => {
  const { world, deps, control, runId, about, fieldsOf } = await begun({ hang: true });
  const victim = mortal(world.deps, 50);
  void drive(victim.deps, { runId });
  await settle();
  victim.kill();
  control.hang = false;
  world.clock.jump(world.deps.settings.leaseMs + 1);
  await scan(deps);
  expect(fieldsOf('orphan_detected')).toEqual([{ ...about, lastHeartbeat: expect.any(Number) }]);
  expect(fieldsOf('run_recovered')).toMatchObject([{ ...about, verdict: 'run_resumed' }]);
});

test('a run that is failed by whoever finds it dead is logged as ended too', async () => {
  const { world, deps, runId, about, fieldsOf } = await begun({ hang: true, idempotent: false });
  const victim = mortal(world.deps, 50);
  void drive(victim.deps, { runId });
  await settle();
  victim.kill();
  world.clock.jump(world.deps.settings.leaseMs + 1);
  await scan(deps);
  expect(fieldsOf('run_completed')).toMatchObject([{ ...about, status: 'failed' }]);
});
