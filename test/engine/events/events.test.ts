import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { runView } from '../../../packages/cairn/src/api/views/run.ts';
import { MAX_WAITING } from '../../../packages/cairn/src/core/mailbox/limits.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { cancelRun } from '../../../packages/cairn/src/operations/cancel-run.ts';
import { deliverEvent } from '../../../packages/cairn/src/operations/events/deliver-event.ts';
import { signalRun } from '../../../packages/cairn/src/operations/events/signal-run.ts';
import { assertStored } from '../../support/soundness.ts';
import { World } from '../../support/world.ts';

const PLACE = { tenantId: 't1', event: 'built', key: 'main' };
const HOUR_MS = 3_600_000;

const waits = defineWorkflow({
  type: 'waits',
  planVersion: 1,
  input: z.object({}),
  steps(step) {
    const built = step.event('built', {
      event: 'built',
      key: () => 'main',
      timeout: '1h',
      output: z.object({ build: z.number() }),
      onFailure: { degradeTo: { build: 0 } },
    });
    return { seen: step('seen', { needs: { built } }, ({ built }) => built.build) };
  },
});

/** Two steps of one run wait for the same event, one of them for a long time. */
const twice = defineWorkflow({
  type: 'twice',
  planVersion: 1,
  input: z.object({}),
  steps(step) {
    const wait = { event: 'built', key: () => 'main' };
    const short = step.event('short', { ...wait, timeout: '1h', onFailure: 'skip' });
    const patient = step.event('patient', { ...wait, output: z.object({ build: z.number() }) });
    return { short, patient };
  },
});

/** A run that waits for the same event twice, one after the other. */
const inTurn = defineWorkflow({
  type: 'in-turn',
  planVersion: 1,
  input: z.object({}),
  steps(step) {
    const wait = { event: 'built', key: () => 'main', output: z.object({ build: z.number() }) };
    const first = step.event('first', wait);
    return { first, second: step.event('second', { ...wait, needs: { first } }) };
  },
});

async function started(type = 'waits', world = new World({ workflows: [waits, twice] })) {
  const runId = await world.start(type);
  const until = () => world.db.runs.get(runId)?.snapshot.status === 'waiting_external';
  await world.run(until);
  return { world, runId };
}

test('an expected time of an event is in the journal and in the answer, and nothing happens when it passes', async () => {
  const expecting = defineWorkflow({
    type: 'expecting',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({
      built: step.event('built', { event: 'built', key: () => 'main', expected: '10m', timeout: '1h' }),
    }),
  });
  const { world, runId } = await started('expecting', new World({ workflows: [expecting] }));
  const [wait] = world.stateOf(runId).waits;
  expect((wait?.expectedAt ?? 0) - (wait?.openedAt ?? 0)).toBe(600_000);
  expect((wait?.dueAt ?? 0) - (wait?.openedAt ?? 0)).toBe(HOUR_MS);
  const { expectedAt = 0 } = wait ?? {};
  const events = await world.store.readEvents(runId, 0, 100);
  expect(events.find(({ type }) => type === 'wait_opened')?.data).toMatchObject({ wait: { expectedAt } });
  const values = { input: { text: '{}' }, result: undefined };
  expect(runView({ state: world.stateOf(runId), metadata: {} }, values, 'cairn')).toMatchObject({
    waits: [{ expectedAt: new Date(expectedAt).toISOString() }],
  });
  const before = await world.eventTypes(runId);
  world.clock.jump(30 * 60_000);
  await world.run(() => true);
  expect(await world.eventTypes(runId)).toEqual(before);
  await send(world, 'e1');
  await world.run();
  expect(world.stateOf(runId).status).toBe('completed');
});

function send(world: World, eventId: string, data: unknown = { build: 7 }) {
  return deliverEvent(world.deps, { ...PLACE, eventId, data });
}

async function result(world: World, runId: string): Promise<unknown> {
  await world.run();
  const { status, result: value } = assertStored(world.db, runId, Number.POSITIVE_INFINITY);
  return { status, ...(value && 'text' in value ? JSON.parse(value.text) : {}) };
}

function placeOf(world: World) {
  return [...world.db.mailboxes.values()][0]?.mailbox;
}

describe('a step that waits for an event', () => {
  test('outputs the event, and the run continues', async () => {
    const { world, runId } = await started();
    expect(placeOf(world)?.waiting).toEqual([{ runId, waitId: 'built.1' }]);
    expect(await send(world, 'e1')).toMatchObject({ delivered: [runId] });
    expect(await result(world, runId)).toEqual({ status: 'completed', seen: 7 });
  });

  test('receives one that was sent before, and a repeated send names the receiver', async () => {
    const world = new World({ workflows: [waits] });
    expect(await send(world, 'e1')).toMatchObject({ kept: true });
    const runId = await world.start('waits');
    expect(await result(world, runId)).toEqual({ status: 'completed', seen: 7 });
    expect(await send(world, 'e1')).toMatchObject({ delivered: [runId], repeated: true });
    expect(placeOf(world)).toMatchObject({ waiting: [], buffered: [] });
  });

  test('leaves events that its schema refuses to others, and waits on', async () => {
    const world = new World({ workflows: [waits] });
    await send(world, 'bad', { build: 'seven' });
    const { runId } = await started('waits', world);
    expect(await send(world, 'worse', 'seven')).toMatchObject({ refused: [{ runId }], kept: true });
    await send(world, 'good');
    expect(await result(world, runId)).toEqual({ status: 'completed', seen: 7 });
    expect(placeOf(world)?.buffered.map(({ eventId }) => eventId)).toEqual(['bad', 'worse']);
  });

  test('times out as its policy says, and leaves its mailbox', async () => {
    const { world, runId } = await started();
    const begun = world.clock.now();
    expect(await result(world, runId)).toEqual({ status: 'completed', seen: 0 });
    expect(world.clock.now() - begun).toBeGreaterThanOrEqual(HOUR_MS);
    expect(await world.eventTypes(runId)).toContain('wait_expired');
    expect(world.db.mailboxes.size).toBe(0);
    expect(await send(world, 'late')).toMatchObject({ kept: true });
  });

  test('of a cancelled run waits no longer', async () => {
    const { world, runId } = await started();
    await cancelRun(world.deps, { runId, tenantId: 't1', stopKind: 'user' });
    expect(await send(world, 'e1')).toMatchObject({ delivered: [], kept: true });
    await world.run();
    expect(placeOf(world)).toMatchObject({ waiting: [], buffered: [{ eventId: 'e1' }] });
  });

  test('receives a signal that came before it opened: the oldest that it accepts', async () => {
    const world = new World({ workflows: [waits] });
    const runId = await world.start('waits');
    const signal = (signalId: string, more: object) =>
      signalRun(world.deps, { runId, tenantId: 't1', name: 'built', signalId, ...more });
    await signal('s1', { data: 'no build' });
    await signal('s2', { data: { build: 2 }, key: 'other' });
    await signal('s3', { data: { build: 3 } });
    await signal('s4', { data: { build: 4 } });
    expect(await result(world, runId)).toEqual({ status: 'completed', seen: 3 });
    expect(world.db.mailboxes.size).toBe(0);
  });

  test('fails without delaying its run, where there is no room for another wait', async () => {
    const world = new World({ workflows: [waits] });
    const crowd = Array.from({ length: MAX_WAITING }, (_, i) => ({ runId: `run_${i}`, waitId: 'w.1' }));
    await world.mailboxes.write(PLACE, { ...PLACE, waiting: crowd, buffered: [], delivered: [] }, undefined);
    const runId = await world.start('waits');
    expect(await result(world, runId)).toEqual({ status: 'completed', seen: 0 });
    const events = await world.store.readEvents(runId, 0, 100);
    expect(events.find(({ type }) => type === 'step_degraded')).toMatchObject({
      data: { reason: expect.stringContaining('RATE_LIMITED') },
    });
  });
});

describe('two steps of a run that wait for the same event', () => {
  test('receive one event each in turn, though the first sender died before the mailbox was updated', async () => {
    const { world, runId } = await started('in-turn', new World({ workflows: [inTurn] }));
    let writes = 0;
    const { mailboxes: whole } = world;
    const mailboxes: typeof world.deps.mailboxes = {
      read: (address) => whole.read(address),
      async write(...change) {
        writes += 1;
        if (writes > 1) throw new Error('the sender died');
        return whole.write(...change);
      },
    };
    const sent = deliverEvent({ ...world.deps, mailboxes }, { ...PLACE, eventId: 'e1', data: { build: 1 } });
    await expect(sent).rejects.toThrow('the sender died');
    await world.run(() =>
      world.stateOf(runId).waits.some(({ id, announced }) => id === 'second.1' && announced),
    );
    expect(world.stateOf(runId).waits.map(({ id }) => id)).toEqual(['second.1']);
    await send(world, 'e2', { build: 2 });
    expect(await result(world, runId)).toEqual({
      status: 'completed',
      first: { build: 1 },
      second: { build: 2 },
    });
    expect(await send(world, 'e1', { build: 1 })).toMatchObject({ delivered: [runId] });
  });

  test('both receive it if they wait at the same time', async () => {
    const { world, runId } = await started('twice');
    await send(world, 'e1');
    expect(await result(world, runId)).toEqual({
      status: 'completed',
      short: { build: 7 },
      patient: { build: 7 },
    });
  });

  test('share no buffered event: one receives it, the other keeps waiting', async () => {
    const world = new World({ workflows: [twice] });
    await send(world, 'e1', 'no build');
    const { runId } = await started('twice', world);
    expect((await world.folded(runId)).waits.map(({ id }) => id)).toEqual(['patient.1']);
    expect(placeOf(world)?.waiting).toEqual([{ runId, waitId: 'patient.1' }]);
    await send(world, 'e2');
    expect(await result(world, runId)).toMatchObject({ status: 'completed', patient: { build: 7 } });
  });

  test('do not lose it when one of them has timed out', async () => {
    const { world, runId } = await started('twice');
    const until = () => world.db.runs.get(runId)?.snapshot.waits.length === 1;
    await world.run(until);
    await world.run(() => world.db.runs.get(runId)?.snapshot.status === 'waiting_external');
    expect(await send(world, 'e1')).toMatchObject({ delivered: [runId] });
    expect(await result(world, runId)).toMatchObject({ status: 'completed', patient: { build: 7 } });
  });
});
