import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { emptyChain, seal } from '../../../packages/cairn/src/core/run/chain.ts';
import type { RunEvent } from '../../../packages/cairn/src/core/run/events.ts';
import { fold } from '../../../packages/cairn/src/core/run/reduce/index.ts';
import { RunPublisher } from '../../../packages/cairn/src/engine/publish/run-publisher.ts';
import type { BusMessage } from '../../../packages/cairn/src/ports/runs/event-bus.ts';
import { MemoryEventBus } from '../../support/memory/memory-event-bus.ts';
import { settle, VirtualClock } from '../../support/virtual-clock.ts';
import { SILENT } from '../../support/world.ts';
import { assertPublished } from '../../sweep/watch.ts';

const RUN = 'run_1';

/** A journal of which only the order matters here. */
function journal(length: number, textBytes = 0): RunEvent[] {
  const created = seal(
    {
      type: 'run_created',
      initiator: 'system',
      data: {
        tenantId: 't1',
        environment: 'test',
        type: 'long',
        planVersion: 1,
        threadId: 'x',
        trigger: { source: 'api' },
        traceId: 'trace',
        inputHash: 'h',
        input: { text: '{}' },
        rootRunId: RUN,
      },
    },
    { chain: emptyChain(RUN), id: 'first', now: 0 },
  );
  const events = [created];
  let state = fold(RUN, events);
  for (let seq = 2; seq <= length; seq += 1) {
    const payloadText = JSON.stringify('x'.repeat(textBytes));
    const draft = {
      type: 'signal_received',
      initiator: 'system',
      data: { signalId: `s${seq}`, name: 'n', payloadText },
    } as const;
    const event = seal(draft, { chain: state, id: `e${seq}`, now: 0 });
    events.push(event);
    state = { ...state, head: event.seq, headHash: event.hash };
  }
  return events;
}

interface Made {
  readonly publisher: RunPublisher;
  readonly bus: MemoryEventBus;
  readonly clock: VirtualClock;
  readonly requests: number[];
  readonly reads: () => number;
}

function made(
  events: readonly RunEvent[],
  known: { publishedSeq?: number; head?: number; fails?: () => boolean },
): Made {
  const { publishedSeq = 0, head = 1, fails = () => false } = known;
  const bus = new MemoryEventBus();
  const clock = new VirtualClock();
  const requests: number[] = [];
  let reads = 0;
  const publisher = new RunPublisher({
    bus: {
      async publish(messages: readonly BusMessage[]) {
        requests.push(messages.length);
        if (fails()) throw new Error('not taken');
        await bus.publish(messages);
      },
    },
    store: {
      async readEvents(_runId, afterSeq, limit) {
        reads += 1;
        return events.slice(afterSeq, afterSeq + limit);
      },
    },
    clock,
    log: SILENT,
    run: fold(RUN, events.slice(0, 1)),
    firstEventId: 'first',
    publishedSeq,
    head,
  });
  return { publisher, bus, clock, requests, reads: () => reads };
}

test('all events arrive, first arrivals in order, whatever repetitions and failures occur', async () => {
  const events = journal(60);
  await fc.assert(
    fc.asyncProperty(
      fc.nat(5),
      fc.array(fc.record({ skip: fc.nat(3), take: fc.integer({ min: 1, max: 12 }), again: fc.boolean() }), {
        maxLength: 12,
      }),
      fc.infiniteStream(fc.boolean()),
      async (publishedSeq, moves, failures) => {
        const { publisher, bus, clock } = made(events, {
          publishedSeq,
          head: Math.max(1, publishedSeq),
          fails: () => failures.next().value === true,
        });
        // Published events already count as arrived.
        if (publishedSeq > 0) {
          await bus.publish(
            events.slice(0, publishedSeq).map(({ seq }) => ({
              orderingKey: RUN,
              attributes: { seq: String(seq) },
              text: '',
            })),
          );
        }
        let head = Math.max(1, publishedSeq);
        for (const { skip, take, again } of moves) {
          const from = head + skip;
          const batches = [events.slice(from, from + take)];
          if (again) batches.push(events.slice(Math.max(0, from - 2), from + 1));
          for (const some of batches) publisher.take(some);
          head = Math.max(head, ...batches.flat().map(({ seq }) => seq));
          clock.fireNext(clock.now() + 1_000);
          await settle();
        }
        for (let tries = 0; !(await publisher.flush()); tries += 1) expect(tries).toBeLessThan(200);
        publisher.end();
        assertPublished(bus, RUN, head);
        expect(publisher.publishedSeq).toBe(head);
        expect(clock.nextAt).toBeUndefined();
      },
    ),
    { numRuns: 150 },
  );
});

test('the first event of a run is made from its state without a read, identical to the byte', async () => {
  const events = journal(3);
  const { publisher, bus, reads } = made(events, {});
  publisher.take(events.slice(1));
  expect(await publisher.flush()).toBe(true);
  expect(reads()).toBe(0);
  expect(JSON.parse(bus.messages()[0]?.text ?? '')).toMatchObject({
    id: 'first',
    hash: events[0]?.hash,
    seq: 1,
  });
});

test('a bus that is down for long costs memory for a thousand events, and the rest is read when it is back', async () => {
  const events = journal(3_000);
  let down = true;
  const { publisher, bus, reads } = made(events, { fails: () => down });
  for (let from = 1; from < events.length; from += 50) publisher.take(events.slice(from, from + 50));
  expect(await publisher.flush()).toBe(false);
  expect(bus.messages()).toHaveLength(0);
  down = false;
  expect(await publisher.flush()).toBe(true);
  publisher.end();
  assertPublished(bus, RUN, 3_000);
  // Pages of a hundred of what was not kept.
  expect(reads()).toBeGreaterThanOrEqual(20);
  expect(reads()).toBeLessThan(25);
});

test('a request has at most a hundred events, and two MiB unless one event is larger', async () => {
  const small = journal(251);
  const many = made(small, {});
  many.publisher.take(small.slice(1));
  await many.publisher.flush();
  expect(Math.max(...many.requests)).toBe(100);
  const large = journal(9, 500 * 1024);
  const few = made(large, {});
  few.publisher.take(large.slice(1));
  await few.publisher.flush();
  expect(few.requests).toEqual([1, 4, 4]);
  assertPublished(few.bus, RUN, 9);
});
