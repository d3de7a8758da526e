/** Failing a wait for an event from outside, with a reason. */
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import type { EventOptions } from '../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { deliverEvent } from '../../../packages/cairn/src/operations/events/deliver-event.ts';
import { failWait } from '../../../packages/cairn/src/operations/events/fail-wait.ts';
import { assertStored } from '../../support/soundness.ts';
import { World } from '../../support/world.ts';

const NOTHING = z.object({});
const actor = 'c.carrier';
const reason = 'lost on the way';

async function waiting(onFailure: EventOptions<object, Record<never, never>, unknown>['onFailure'] = 'fail') {
  const workflow = defineWorkflow({
    type: 'w',
    planVersion: 1,
    input: NOTHING,
    steps(step) {
      const parcel = step.event('parcel', { event: 'parcel.arrived', key: () => 'p1', onFailure });
      const after = step('after', { needs: { parcel }, ifSkipped: 'run' }, ({ parcel }) => parcel ?? 'none');
      return { after };
    },
  });
  const world = new World({ workflows: [workflow] });
  const runId = await world.start('w');
  await world.run(() => world.stateOf(runId).status === 'waiting_external');
  const { tenantId } = world.stateOf(runId);
  const fail = (requestId = 'f.1', stepId = 'parcel') =>
    failWait(world.deps, { runId, tenantId, stepId, reason, requestId, actor });
  return { world, runId, tenantId, fail, state: () => assertStored(world.db, runId) };
}

test('fails the step at once, and the run shows the author and the reason', async () => {
  const { world, fail, state } = await waiting();
  await fail();
  await world.run();
  expect(state()).toMatchObject({
    status: 'failed',
    error: { code: 'EVENT_FAILED', stepId: 'parcel', message: expect.stringContaining(reason) },
  });
  expect(state().error?.message).toContain(actor);
});

test('has the effect that onFailure of the step declares', async () => {
  const skipping = await waiting('skip');
  await skipping.fail();
  await skipping.world.run();
  expect(skipping.state()).toMatchObject({ status: 'completed', result: { text: '{"after":"none"}' } });
  const degrading = await waiting({ degradeTo: 'later' });
  await degrading.fail();
  await degrading.world.run();
  expect(degrading.state()).toMatchObject({ status: 'completed', result: { text: '{"after":"later"}' } });
});

test('repeats its answer when sent again, and answers another request that nothing waits', async () => {
  const { world, runId, fail } = await waiting('skip');
  await fail();
  await fail();
  expect((await world.eventTypes(runId)).filter((type) => type === 'wait_resolved')).toHaveLength(1);
  await expect(fail('f.2')).rejects.toMatchObject({ code: 'RUN_INVALID_TRANSITION' });
  await world.run();
  await expect(fail('f.3')).rejects.toMatchObject({ code: 'RUN_TERMINAL_STATE' });
  await expect(fail('f.1')).resolves.toMatchObject({ stepId: 'parcel' });
});

test('does nothing after the event was received, and a later event is buffered for others', async () => {
  const first = await waiting('skip');
  const event = { tenantId: first.tenantId, event: 'parcel.arrived', key: 'p1', data: 1, actor };
  await deliverEvent(first.world.deps, { ...event, eventId: 'e1' });
  await expect(first.fail()).rejects.toMatchObject({ code: 'RUN_INVALID_TRANSITION' });
  const second = await waiting('skip');
  await second.fail();
  const later = await deliverEvent(second.world.deps, { ...event, eventId: 'e2' });
  expect(later).toMatchObject({ delivered: [], kept: true });
});

test('does nothing for a step that waits for no event, or for another tenant', async () => {
  const { world, runId, fail } = await waiting();
  await expect(fail('f.1', 'after')).rejects.toMatchObject({ code: 'RUN_INVALID_TRANSITION' });
  const stranger = { runId, tenantId: 'stranger', stepId: 'parcel', reason, requestId: 'f.1', actor };
  await expect(failWait(world.deps, stranger)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
});
