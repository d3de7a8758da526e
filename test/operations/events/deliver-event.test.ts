import { describe, expect, test } from '@jest/globals';
import {
  EVENT_TTL_MS,
  MAX_BUFFERED,
  MAX_DELIVERED_BYTES,
  MAX_NAMED_RUNS,
} from '../../../packages/cairn/src/core/mailbox/limits.ts';
import { WorkflowRegistry } from '../../../packages/cairn/src/engine/define/registry.ts';
import {
  deliverEvent,
  type EventToDeliver,
} from '../../../packages/cairn/src/operations/events/deliver-event.ts';
import { OutcomeUnknown } from '../../../packages/cairn/src/ports/store-errors.ts';
import { intercept } from '../../support/intercept.ts';
import { assertStored } from '../../support/soundness.ts';
import {
  announce,
  end,
  expire,
  world as newWorld,
  PLACE,
  place,
  waitingRun,
} from '../../support/waiting-runs.ts';
import type { World } from '../../support/world.ts';

function send(world: World, eventId: string, more: Partial<EventToDeliver> = {}, deps = world.deps) {
  return deliverEvent(deps, { ...PLACE, eventId, data: { build: 7 }, actor: 'c.ci', ...more });
}

async function listedRun(world: World, steps: readonly string[] = ['any']): Promise<string> {
  const runId = await waitingRun(world, steps);
  for (const step of steps) await announce(world.deps, runId, step);
  return runId;
}

describe('an event that runs wait for', () => {
  test('completes their waits in one commit with the outcome of the step, and wakes them', async () => {
    const world = newWorld();
    const one = await listedRun(world);
    const two = await listedRun(world);
    const answer = await send(world, 'e1');
    expect(answer).toEqual({
      eventId: 'e1',
      delivered: [one, two],
      kept: false,
      refused: [],
      repeated: false,
    });
    for (const runId of [one, two]) {
      const events = await world.store.readEvents(runId, 0, 100);
      const at = events.findIndex(({ type }) => type === 'wait_resolved');
      expect(events.slice(at).map(({ type }) => type)).toEqual([
        'wait_resolved',
        'step_succeeded',
        'run_resumed',
      ]);
      expect(events[at]).toMatchObject({
        initiator: 'user',
        actor: 'c.ci',
        data: { waitId: 'any.1', signalId: 'e1' },
      });
      const [checkpoint] = await world.store.readCheckpoints(runId, [at + 2]);
      expect(checkpoint).toMatchObject({ stepId: 'any', outputText: '{"build":7}' });
      expect(assertStored(world.db, runId, 0)).toMatchObject({ status: 'running', waits: [] });
    }
    expect(world.queue.pending.map(({ runId }) => runId).sort()).toEqual([one, two].sort());
    expect(await place(world)).toMatchObject({ waiting: [], buffered: [] });
  });

  test('sent again repeats its answer and does nothing, even if the runs have ended and another run waits', async () => {
    const world = newWorld();
    const runId = await listedRun(world);
    await send(world, 'e1');
    const { head } = await world.folded(runId);
    const again = { eventId: 'e1', delivered: [runId], kept: false, refused: [], repeated: true };
    expect(await send(world, 'e1')).toEqual(again);
    expect((await world.folded(runId)).head).toBe(head);
    await end(world.deps, runId);
    const other = await listedRun(world);
    expect(await send(world, 'e1')).toEqual(again);
    expect((await world.folded(other)).waits).toHaveLength(1);
  });

  test('answers every step of a run that waits for it', async () => {
    const world = newWorld();
    const runId = await listedRun(world, ['any', 'strict']);
    expect(await send(world, 'e1')).toMatchObject({ delivered: [runId] });
    expect(await world.folded(runId)).toMatchObject({ status: 'running', waits: [], received: ['e1'] });
    expect((await place(world))?.waiting).toEqual([]);
  });

  test('is refused by a step whose schema it does not match; that step keeps waiting, others receive it', async () => {
    const world = newWorld();
    const strict = await listedRun(world, ['strict']);
    const any = await listedRun(world);
    const answer = await send(world, 'e1', { data: { build: 'seven' } });
    expect(answer).toMatchObject({ delivered: [any], kept: false });
    expect(answer.refused).toEqual([
      { runId: strict, code: 'INVALID_INPUT', reason: expect.stringContaining("'strict'") },
    ]);
    expect((await world.folded(strict)).waits).toHaveLength(1);
    expect(await send(world, 'e2')).toMatchObject({ delivered: [strict], refused: [] });
  });

  test('that all refuse is buffered for later waits', async () => {
    const world = newWorld();
    await listedRun(world, ['strict']);
    const answer = await send(world, 'e1', { data: 'seven' });
    expect(answer).toMatchObject({ delivered: [], kept: true, refused: [{ code: 'INVALID_INPUT' }] });
    const any = await listedRun(world);
    expect((await world.folded(any)).received).toEqual(['e1']);
    expect((await place(world))?.waiting).toHaveLength(1);
  });

  test('is refused for a run whose plan version is not deployed, and writes nothing to it', async () => {
    const world = newWorld();
    const runId = await listedRun(world);
    const { head } = await world.folded(runId);
    const bare = { ...world.deps, registry: new WorkflowRegistry([]) };
    expect(await send(world, 'e1', {}, bare)).toMatchObject({
      kept: true,
      refused: [{ runId, code: 'PLAN_VERSION_UNAVAILABLE' }],
    });
    expect((await world.folded(runId)).head).toBe(head);
    // The version is deployed again, and the event sent again.
    expect(await send(world, 'e1')).toMatchObject({ delivered: [runId], repeated: true });
  });

  test('reaches many runs, of which the answer names some', async () => {
    const world = newWorld();
    const runs: string[] = [];
    for (let i = 0; i < MAX_NAMED_RUNS + 5; i += 1) runs.push(await listedRun(world));
    const { delivered } = await send(world, 'e1');
    expect(delivered).toHaveLength(MAX_NAMED_RUNS);
    for (const runId of runs) expect((await world.folded(runId)).received).toEqual(['e1']);
  });

  test('skips runs that are ending, and runs that left', async () => {
    const world = newWorld();
    const gone = await listedRun(world);
    await end(world.deps, gone);
    const late = await listedRun(world);
    world.clock.jump(3_600_000);
    await expire(world.deps, late);
    expect(await send(world, 'e1')).toMatchObject({ delivered: [], kept: true, refused: [] });
  });

  test('skips runs of another tenant, and waits for another name or key', async () => {
    const world = newWorld();
    await listedRun(world);
    for (const other of [{ tenantId: 't2' }, { event: 'bui' }, { key: 'main2' }]) {
      expect(await send(world, 'e1', other)).toMatchObject({ delivered: [], kept: true });
    }
  });
});

describe('an event without a waiting run', () => {
  test('is buffered for 24 hours, and the first run that waits receives it', async () => {
    const world = newWorld();
    const now = world.clock.now();
    expect(await send(world, 'e1')).toEqual({
      eventId: 'e1',
      delivered: [],
      kept: true,
      keptUntil: now + EVENT_TTL_MS,
      refused: [],
      repeated: false,
    });
    expect(await send(world, 'e1')).toMatchObject({
      kept: true,
      keptUntil: now + EVENT_TTL_MS,
      repeated: true,
    });
    const first = await listedRun(world);
    const second = await listedRun(world);
    expect((await world.folded(first)).received).toEqual(['e1']);
    expect((await world.folded(second)).waits).toHaveLength(1);
    expect(await send(world, 'e1')).toMatchObject({ delivered: [first], kept: false, repeated: true });
  });

  test('is received before one that was sent after it', async () => {
    const world = newWorld();
    await send(world, 'e1');
    await send(world, 'e2');
    expect((await world.folded(await listedRun(world))).received).toEqual(['e1']);
    expect((await world.folded(await listedRun(world))).received).toEqual(['e2']);
  });

  test('is received by no run after that time', async () => {
    const world = newWorld();
    await send(world, 'e1');
    world.clock.jump(EVENT_TTL_MS);
    const runId = await listedRun(world);
    expect((await world.folded(runId)).waits).toHaveLength(1);
    expect((await place(world))?.buffered).toEqual([]);
  });

  test('leaves no document after it expires', async () => {
    const world = newWorld();
    await send(world, 'e1');
    expect(await place(world)).toMatchObject({ expiresAt: world.clock.now() + EVENT_TTL_MS });
    const runId = await listedRun(world);
    expect(await place(world)).toMatchObject({ expiresAt: world.clock.now() + EVENT_TTL_MS });
    world.clock.jump(EVENT_TTL_MS);
    await listedRun(world);
    expect(await place(world)).not.toHaveProperty('expiresAt');
    await end(world.deps, runId);
  });
});

describe('limits of events', () => {
  test('data of more than 256 KiB is refused, and nothing is written', async () => {
    const world = newWorld();
    const data = 'x'.repeat(MAX_DELIVERED_BYTES - 1);
    await expect(send(world, 'e1', { data })).rejects.toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
      field: 'data',
    });
    expect(await place(world)).toBeUndefined();
    expect(await send(world, 'e1', { data: data.slice(1) })).toMatchObject({ kept: true });
  });

  test('events without a receiver are limited in number and size; beyond that, senders must retry', async () => {
    const world = newWorld();
    for (let i = 0; i < MAX_BUFFERED; i += 1) await send(world, `e${i}`);
    await expect(send(world, 'more')).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    expect(await send(world, 'e5')).toMatchObject({ repeated: true });
    await listedRun(world);
    expect(await send(world, 'more')).toMatchObject({ kept: true });

    const other = { key: 'large', data: 'x'.repeat(MAX_DELIVERED_BYTES - 2) };
    await send(world, 'l1', other);
    await send(world, 'l2', other);
    await expect(send(world, 'l3', { ...other, data: '' })).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  });

  test.each([
    [{ event: '' }, 'event'],
    [{ event: 'e'.repeat(101) }, 'event'],
    [{ key: '' }, 'key'],
    [{ key: 'k'.repeat(501) }, 'key'],
    [{ key: '\ud800' }, 'key'],
    [{ data: { at: new Date(0) } }, 'data.at'],
  ])('%j is invalid', async (more, field) => {
    const world = newWorld();
    await expect(send(world, 'e1', more)).rejects.toMatchObject({ code: 'INVALID_INPUT', field });
    expect(world.db.mailboxes.size).toBe(0);
  });
});

describe('a run that cannot be reached', () => {
  test('makes the sender retry, and the retry asks only the remaining runs', async () => {
    const world = newWorld();
    const one = await listedRun(world);
    const two = await listedRun(world);
    const store = intercept(world.deps.store, ({ method, args }, proceed) =>
      method === 'load' && args[0] === two ? Promise.reject(new OutcomeUnknown('load', 'no')) : proceed(),
    );
    await expect(send(world, 'e1', {}, { ...world.deps, store })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
    expect((await world.folded(one)).received).toEqual(['e1']);
    expect((await world.folded(two)).received).toEqual([]);
    expect((await place(world))?.waiting).toEqual([{ runId: two, waitId: 'any.1' }]);
    const { delivered, repeated } = await send(world, 'e1');
    expect(delivered).toEqual([one, two]);
    expect(repeated).toBe(true);
    expect((await world.folded(two)).received).toEqual(['e1']);
  });

  test('because it cannot be read does not prevent others from receiving the event, nor the answer to the sender', async () => {
    const world = newWorld();
    const one = await listedRun(world);
    const two = await listedRun(world);
    const store = intercept(world.deps.store, ({ method, args }, proceed) =>
      method === 'load' && args[0] === one ? Promise.reject(new Error('damaged')) : proceed(),
    );
    expect(await send(world, 'e1', {}, { ...world.deps, store })).toMatchObject({
      delivered: [two],
      refused: [{ runId: one, code: 'INTERNAL' }],
    });
  });

  test('because the queue does not answer still receives the event, and the scan finds it', async () => {
    const world = newWorld();
    const runId = await listedRun(world);
    const queue = { enqueue: () => Promise.reject(new Error('down')) };
    expect(await send(world, 'e1', {}, { ...world.deps, queue })).toMatchObject({ delivered: [runId] });
    expect(world.db.runs.get(runId)?.wakeAt).toBeLessThanOrEqual(world.clock.now() + 60_000);
  });
});
