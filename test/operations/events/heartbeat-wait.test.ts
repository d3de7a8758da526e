/** Heartbeats from the sender of the event that a step waits for. */
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import type { EventOptions } from '../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { deliverEvent } from '../../../packages/cairn/src/operations/events/deliver-event.ts';
import { failWait } from '../../../packages/cairn/src/operations/events/fail-wait.ts';
import { heartbeatWait } from '../../../packages/cairn/src/operations/events/heartbeat-wait.ts';
import { assertStored } from '../../support/soundness.ts';
import { World } from '../../support/world.ts';

const NOTHING = z.object({});
const MINUTE = 60_000;
const actor = 'c.carrier';
type Options = Partial<EventOptions<object, Record<never, never>, unknown>>;
const SCHEDULED_FUNCTIONS: Options = { heartbeat: { within: '8m' } };

async function waiting(options: Options = SCHEDULED_FUNCTIONS, busyMs?: number) {
  const world: World = new World({
    workflows: [
      defineWorkflow({
        type: 'w',
        planVersion: 1,
        input: NOTHING,
        steps(step) {
          const parcel = step.event('parcel', {
            event: 'parcel.arrived',
            key: () => 'p1',
            ...options,
          });
          if (busyMs !== undefined)
            step('busy', () => new Promise<void>((resolve) => world.clock.timer(busyMs, resolve)));
          return { parcel };
        },
      }),
    ],
  });
  const runId = await world.start('w');
  await world.run(() => world.stateOf(runId).waits.length > 0);
  const { tenantId } = world.stateOf(runId);
  const startedAt = world.stateOf(runId).waits[0]?.openedAt ?? 0;
  const beat = (stepId = 'parcel') => heartbeatWait(world.deps, { runId, tenantId, stepId, actor });
  return {
    world,
    runId,
    tenantId,
    beat,
    startedAt,
    state: () => assertStored(world.db, runId),
    beats: async () => (await world.eventTypes(runId)).filter((type) => type === 'wait_heartbeat').length,
  };
}

test('a step without a heartbeat fails after its interval, with its own error code', async () => {
  const { world, state, startedAt } = await waiting();
  await world.run();
  expect(state()).toMatchObject({ status: 'failed', error: { code: 'HEARTBEAT_MISSED', stepId: 'parcel' } });
  expect(state().error?.message).toContain('after the wait was opened');
  expect(state().completedAt).toBe(startedAt + 8 * MINUTE);
});

test('each heartbeat extends the wait by the whole interval, and at most a quarter more', async () => {
  const { world, runId, beat, state } = await waiting();
  let last = 0;
  for (let i = 0; i < 5; i += 1) {
    world.clock.jump(7 * MINUTE);
    await world.run(() => true);
    last = world.clock.now();
    expect(await beat()).toMatchObject({ recorded: true });
    expect(world.stateOf(runId).status).toBe('waiting_external');
    expect(world.stateOf(runId).waits[0]?.heartbeat?.lastAt).toBe(last);
  }
  await world.run();
  const { error, completedAt = 0 } = state();
  expect(error).toMatchObject({
    code: 'HEARTBEAT_MISSED',
    message: expect.stringContaining('after the last one'),
  });
  expect(completedAt - last).toBeGreaterThanOrEqual(8 * MINUTE);
  expect(completedAt - last).toBeLessThanOrEqual(10 * MINUTE);
});

test('heartbeats more frequent than needed are answered without a write, and shorten no interval', async () => {
  const { world, runId, beat, beats, state } = await waiting();
  const head = () => world.stateOf(runId).head;
  let last = 0;
  for (let second = 0; second < 30 * 60; second += 30) {
    const before = head();
    const { dueAt, recorded } = await beat();
    last = world.clock.now();
    expect(dueAt).toBeGreaterThanOrEqual(last + 8 * MINUTE);
    expect(head() - before).toBe(recorded ? 1 : 0);
    world.clock.jump(30_000);
  }
  // One heartbeat in two minutes, which is a quarter of the eight.
  expect(await beats()).toBeLessThanOrEqual(16);
  await world.run();
  expect((state().completedAt ?? 0) - last).toBeGreaterThanOrEqual(8 * MINUTE);
});

test('the timeout of the step limits the total time, however many heartbeats arrive', async () => {
  const { world, runId, beat, state, startedAt } = await waiting({ ...SCHEDULED_FUNCTIONS, timeout: '20m' });
  for (let i = 0; i < 3; i += 1) {
    world.clock.jump(6 * MINUTE);
    await world.run(() => true);
    await beat();
  }
  expect(world.stateOf(runId).waits[0]?.dueAt).toBe(startedAt + 20 * MINUTE);
  expect(await beat()).toMatchObject({ recorded: false });
  await world.run();
  expect(state()).toMatchObject({ status: 'failed', error: { code: 'STEP_TIMEOUT' } });
  expect(state().completedAt).toBe(startedAt + 20 * MINUTE);
});

test('a heartbeat reaches a drive that holds the wait beside a busy step', async () => {
  const { world, runId, beat, state } = await waiting({ heartbeat: { within: '10s' } }, 50_000);
  let last = 0;
  for (let i = 0; i < 4; i += 1) {
    const next = world.clock.now() + 6_000;
    await world.run(() => world.clock.now() >= next);
    await beat();
    last = world.clock.now();
    expect(world.stateOf(runId)).toMatchObject({ status: 'running', waits: [{ id: 'parcel.1' }] });
  }
  await world.run();
  const failed = world.db.runs.get(runId)?.events.find(({ type }) => type === 'wait_expired');
  expect((failed?.at ?? 0) - last).toBeGreaterThanOrEqual(10_000);
  expect(state()).toMatchObject({ status: 'failed', error: { code: 'HEARTBEAT_MISSED' } });
});

test('an event still completes the wait, and a failure still fails it', async () => {
  const came = await waiting();
  await came.beat();
  await deliverEvent(came.world.deps, {
    tenantId: came.tenantId,
    event: 'parcel.arrived',
    key: 'p1',
    data: 1,
    eventId: 'e1',
    actor,
  });
  await came.world.run();
  expect(came.state()).toMatchObject({ status: 'completed', result: { text: '{"parcel":1}' } });
  const lost = await waiting();
  await lost.beat();
  const { runId, tenantId } = lost;
  await failWait(lost.world.deps, {
    runId,
    tenantId,
    stepId: 'parcel',
    reason: 'lost',
    requestId: 'f.1',
    actor,
  });
  await lost.world.run();
  expect(lost.state()).toMatchObject({ status: 'failed', error: { code: 'EVENT_FAILED' } });
});

test('a heartbeat is refused for a step that does not wait, has no heartbeat, or belongs to another tenant', async () => {
  const { world, runId, beat } = await waiting();
  await expect(beat('nothing')).rejects.toMatchObject({ code: 'RUN_INVALID_TRANSITION' });
  const stranger = { runId, tenantId: 'stranger', stepId: 'parcel', actor };
  await expect(heartbeatWait(world.deps, stranger)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
  await world.run();
  await expect(beat()).rejects.toMatchObject({ code: 'RUN_TERMINAL_STATE' });
  const silent = await waiting({});
  await expect(silent.beat()).rejects.toMatchObject({
    code: 'RUN_INVALID_TRANSITION',
    help: expect.stringContaining('heartbeat: { within'),
  });
  expect((await world.eventTypes(runId)).includes('wait_heartbeat')).toBe(false);
});

test.each([
  ['9s', 'at least 10000 ms'],
  ['soon', 'is not a duration'],
])('a heartbeat within %s is refused at load', async (within, why) => {
  await expect(waiting({ heartbeat: { within } })).rejects.toThrow(why);
});
