import { describe, expect, test } from '@jest/globals';
import { cancelRun } from '../../../packages/cairn/src/operations/cancel-run.ts';
import { intercept } from '../../support/intercept.ts';
import { MemoryEventBus } from '../../support/memory/memory-event-bus.ts';
import { assertStored } from '../../support/soundness.ts';
import type { World } from '../../support/world.ts';
import {
  asking,
  chain,
  DAY,
  FlakyBus,
  FOUND_MS,
  firstArrivals,
  HOUR,
  KnownBus,
  MINUTE,
  shownBy,
  stored,
  worldWith,
} from './publish-fixture.ts';

const cancel = (world: World, runId: string) =>
  cancelRun(world.deps, { runId, tenantId: 't1', stopKind: 'user' });

/** Each event of the run arrived, once and in order, as the API shows it. */
async function expectAll(
  world: World,
  bus: MemoryEventBus,
  runId: string,
  arrived = bus.messages(runId),
): Promise<void> {
  const { head } = stored(world, runId).snapshot;
  expect(arrived.map(({ attributes }) => Number(attributes.seq))).toEqual(
    Array.from({ length: head }, (_, i) => i + 1),
  );
  expect(arrived.map(({ text }) => text)).toEqual(await shownBy(world, runId));
}

/** Store calls by method while a run of the type goes as far as it can without input. */
async function callsOf(type: string, bus?: MemoryEventBus): Promise<Record<string, number>> {
  const world = worldWith(bus);
  const counts: Record<string, number> = {};
  const store = intercept(world.store, ({ method }, proceed) => {
    counts[method] = (counts[method] ?? 0) + 1;
    return proceed();
  });
  const runId = await world.start(type);
  const rests = () =>
    stored(world, runId).snapshot.lease === undefined && stored(world, runId).snapshot.head > 1;
  await world.run(() => rests() && world.queue.pending.length === 0 && world.clock.nextAt === undefined, {
    ...world.deps,
    store,
  });
  return counts;
}

async function eventsOf(type: string) {
  const world = worldWith(undefined);
  const runId = await world.start(type);
  await world.run();
  return world.store.readEvents(runId, 0, 100);
}

describe('the events of a run', () => {
  test('are all published in order, as the API shows them', async () => {
    const bus = new MemoryEventBus();
    const world = worldWith(bus);
    const runId = await world.start('chain');
    await world.run();
    await expectAll(world, bus, runId);
    expect(bus.messages(runId).at(-1)?.attributes).toEqual({
      runId,
      seq: String(stored(world, runId).snapshot.head),
      type: 'run_completed',
      tenantId: 't1',
      workflow: chain.type,
      traceId: stored(world, runId).snapshot.traceId,
    });
  });

  test('have no outputs', async () => {
    const bus = new MemoryEventBus();
    const world = worldWith(bus);
    await world.run(undefined, { ...world.deps });
    const runId = await world.start('chain');
    await world.run();
    for (const { text } of bus.messages(runId)) expect(text).not.toContain('output"');
  });

  test('cost a run one write at its end and one at a wait, and no read', async () => {
    const more = async (type: string) => {
      const [off, on] = [await callsOf(type), await callsOf(type, new MemoryEventBus())];
      return Object.fromEntries(Object.keys(on).map((name) => [name, (on[name] ?? 0) - (off[name] ?? 0)]));
    };
    expect(await more('chain')).toEqual({ load: 0, commit: 0, touch: 1 });
    expect(await more('asking')).toEqual({ load: 0, commit: 0, touch: 1 });
  });

  test('without a subscriber cost nothing, and leave no duty behind', async () => {
    for (const type of ['chain', 'asking']) {
      const bus = new KnownBus();
      expect(await callsOf(type, bus)).toEqual(await callsOf(type));
      expect(bus.asked).toBe(0);
    }
    const world = worldWith(new KnownBus());
    const runId = await world.start('chain');
    await world.run();
    const { snapshot, metadata, wakeAt } = stored(world, runId);
    expect(metadata.publishedSeq).toBe(snapshot.head);
    expect(wakeAt).toBeUndefined();
    assertStored(world.db, runId);
  });

  test('are published from the first commit with a subscriber, whenever that subscribes or leaves', async () => {
    const { length } = await eventsOf('chain');
    for (let from = 0; from <= length; from += 1)
      for (const listensFirst of [false, true]) {
        const bus = new KnownBus();
        bus.heard = listensFirst;
        const world = worldWith(bus);
        let headThen = 0;
        let runId = '';
        const store = intercept(world.store, async ({ method }, proceed) => {
          const result = await proceed();
          const head = (await world.store.readEvents(runId, 0, 100)).length;
          if (method === 'commit' && head >= from && bus.heard === listensFirst) {
            bus.heard = !listensFirst;
            headThen = head;
          }
          return result;
        });
        runId = await world.start('chain');
        await world.run(undefined, { ...world.deps, store });
        const seqs = firstArrivals(bus, runId).map(({ attributes }) => Number(attributes.seq));
        // One batch: in order, without gaps.
        expect(seqs).toEqual(seqs.map((_, i) => (seqs[0] ?? 0) + i));
        if (!listensFirst && headThen < length) {
          expect(seqs[0]).toBeLessThanOrEqual(headThen + 1);
          expect(seqs.at(-1)).toBe(length);
        }
        const { snapshot, metadata, wakeAt } = stored(world, runId);
        expect([metadata.publishedSeq, wakeAt]).toEqual([snapshot.head, undefined]);
      }
  });

  test('of a commit are published if the subscription is older than it, although its snapshot says otherwise', async () => {
    const { length } = await eventsOf('chain');
    const bus = new KnownBus();
    const world = worldWith(bus);
    const store = intercept(world.store, async ({ method, args: [commit] }, proceed) => {
      const { events } = commit as { events?: readonly { seq: number }[] };
      if (method === 'commit' && events?.at(-1)?.seq === length) bus.heard = true;
      return proceed();
    });
    const runId = await world.start('chain');
    await world.run(undefined, { ...world.deps, store });
    expect(firstArrivals(bus, runId).at(-1)?.attributes.seq).toBe(String(length));
    expect(stored(world, runId).metadata.publishedSeq).toBe(length);
  });

  test('add nothing to a run where they are not published', async () => {
    const world = worldWith(undefined);
    const runId = await world.start('chain');
    await world.run();
    expect(stored(world, runId).metadata).not.toHaveProperty('publishedSeq');
    expect(stored(world, runId).wakeAt).toBeUndefined();
  });

  test('are published before a wait, which is then checked no more often than without', async () => {
    const bus = new MemoryEventBus();
    const world = worldWith(bus);
    const runId = await world.start('asking');
    const until = world.clock.now() + MINUTE;
    await world.run(() => stored(world, runId).metadata.publishedSeq === stored(world, runId).snapshot.head);
    expect(world.clock.now()).toBeLessThan(until);
    const { snapshot, wakeAt } = stored(world, runId);
    expect(firstArrivals(bus, runId)).toHaveLength(snapshot.head);
    expect(wakeAt).toBe(snapshot.updatedAt + DAY);
  });

  test('of an append without a lease are published by a drive at once', async () => {
    const bus = new MemoryEventBus();
    const world = worldWith(bus);
    const runId = await world.start('asking');
    await world.run(() => stored(world, runId).metadata.publishedSeq === stored(world, runId).snapshot.head);
    await cancel(world, runId);
    const endedAt = world.clock.now();
    await world.run();
    expect(world.clock.now()).toBe(endedAt);
    await expectAll(world, bus, runId);
    expect(stored(world, runId)).toMatchObject({ metadata: { dutiesMet: true }, wakeAt: undefined });
  });

  test('of a run that was cancelled before its first drive are published too', async () => {
    const bus = new MemoryEventBus();
    const world = worldWith(bus);
    const runId = await world.start('chain');
    world.queue.take();
    await cancel(world, runId);
    await world.run();
    await expectAll(world, bus, runId);
  });
});

describe('a drive that dies between the commit and the publishing', () => {
  test.each(['chain', 'asking', 'sleeping'])(
    'leaves no event unpublished for more than two minutes, however long the run rests (%s)',
    async (type) => {
      const bus = new MemoryEventBus();
      const world = worldWith(bus);
      const runId = await world.start(type);
      const never = new Promise<never>(() => {});
      // Its publisher hangs for ever: it is as good as dead.
      void world.run(
        () => stored(world, runId).snapshot.lease === undefined && stored(world, runId).snapshot.head > 2,
        {
          ...world.deps,
          bus: { publish: () => never },
        },
      );
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      expect(bus.messages()).toEqual([]);
      const { snapshot } = stored(world, runId);
      expect(snapshot.lease).toBeUndefined();
      const from = world.clock.now();
      await world.run(() => firstArrivals(bus, runId).length === snapshot.head);
      expect(world.clock.now() - from).toBeLessThanOrEqual(FOUND_MS);
    },
  );
});

describe('a bus that is down', () => {
  test('does not delay the end of a run, and receives the events once it is back', async () => {
    const bus = new FlakyBus();
    bus.down = true;
    const world = worldWith(bus);
    const runId = await world.start('chain');
    const startedAt = world.clock.now();
    await world.run(() => world.clock.now() > startedAt + 3 * HOUR);
    expect(stored(world, runId).snapshot).toMatchObject({ status: 'completed' });
    expect(stored(world, runId).snapshot.durationMs).toBeLessThan(1_000);
    bus.down = false;
    await world.run();
    await expectAll(world, bus, runId);
    expect(world.clock.now() - startedAt).toBeLessThan(7 * HOUR);
    assertStored(world.db, runId);
  });

  test('is tried about ten times, less and less often, for a day; the log counts the missed events', async () => {
    const bus = new FlakyBus();
    bus.down = true;
    const world = worldWith(bus);
    const lines: unknown[] = [];
    const log = { ...world.deps.log, error: (event: string, fields: unknown) => lines.push([event, fields]) };
    const runId = await world.start('chain');
    const startedAt = world.clock.now();
    await world.run(undefined, { ...world.deps, log: log as typeof world.deps.log });
    expect(bus.asked).toBeGreaterThan(5);
    expect(bus.asked).toBeLessThan(16);
    expect(world.clock.now() - startedAt).toBeLessThan(3 * DAY);
    const { head: toSeq, tenantId } = stored(world, runId).snapshot;
    expect(lines).toEqual([['run_events_given_up', { runId, tenantId, fromSeq: 1, toSeq }]]);
    expect(stored(world, runId)).toMatchObject({ metadata: { publishedSeq: toSeq }, wakeAt: undefined });
  });

  test('does not delay the answer to a waiting run', async () => {
    const bus = new FlakyBus();
    bus.down = true;
    const world = worldWith(bus);
    const runId = await world.start('asking');
    await world.run(() => world.clock.now() > stored(world, runId).snapshot.createdAt + HOUR);
    assertStored(world.db, runId);
    await cancel(world, runId);
    expect(stored(world, runId).snapshot.status).toBe('cancelled');
    bus.down = false;
    await world.run();
    // Two drives may come for it at once, and both publish.
    await expectAll(world, bus, runId, firstArrivals(bus, runId));
  });
});

test('a run that began with publishing on and ends with it off has no unpublished events', async () => {
  const bus = new MemoryEventBus();
  const world = worldWith(bus);
  const runId = await world.start('asking');
  await world.run(() => stored(world, runId).metadata.publishedSeq === stored(world, runId).snapshot.head);
  const { bus: _, ...deps } = world.deps;
  await cancelRun(deps, { runId, tenantId: 't1', stopKind: 'user' });
  const arrived = bus.messages(runId).length;
  await world.run(undefined, deps);
  expect(bus.messages(runId)).toHaveLength(arrived);
  expect(stored(world, runId).wakeAt).toBeUndefined();
  expect(stored(world, runId).snapshot.type).toBe(asking.type);
});
