import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Backlog, type Delivery } from '../../../packages/local-pubsub/src/model/backlog.ts';
import { redeliveryPauseMs } from '../../../packages/local-pubsub/src/model/backoff.ts';
import type { Consumer } from '../../../packages/local-pubsub/src/model/leases.ts';

const LEASE_MS = 10_000;
const PAUSE_MS = 700;
const UNLIMITED = Number.POSITIVE_INFINITY;

type Step =
  | { readonly do: 'publish'; readonly key: string }
  | { readonly do: 'take'; readonly who: number; readonly most: number }
  | { readonly do: 'ack' | 'nack' | 'extend'; readonly pick: number }
  | { readonly do: 'wait'; readonly ms: number };

const steps = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant('publish' as const), key: fc.constantFrom('', 'a', 'a', 'b') }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('take' as const),
        who: fc.nat(2),
        most: fc.integer({ min: 1, max: 4 }),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({ do: fc.constantFrom('ack' as const, 'nack', 'extend'), pick: fc.nat(1_000) }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat(12_000) }) },
  ),
  { maxLength: 80, size: 'max' },
);

/** Checks deliveries against publications, independent of heaps, queues and leases. */
class Witness {
  readonly published = new Map<number, string>();
  readonly acked = new Set<number>();
  readonly failures = new Map<number, number>();
  /** By key: the last delivered position that was not returned since. */
  readonly reached = new Map<string, number>();
  /** Outstanding deliveries by ack id. */
  readonly open = new Map<string, { id: number; who: number; until: number }>();
  /** Ids that became invalid because an earlier message of the key failed. */
  readonly voided: string[] = [];
  readonly #oneOfKey: boolean;

  constructor(oneOfKey: boolean) {
    this.#oneOfKey = oneOfKey;
  }

  delivered({ id, ackId, attempt }: Delivery, who: number, now: number): void {
    const key = this.published.get(id);
    expect(key).toBeDefined();
    expect(this.acked.has(id)).toBe(false);
    expect([...this.open.values()].some((other) => other.id === id)).toBe(false);
    expect(attempt).toBe((this.failures.get(id) ?? 0) + 1);
    this.open.set(ackId, { id, who, until: now + LEASE_MS });
    if (!key) return;
    const sameKey = [...this.open.values()].filter((other) => this.published.get(other.id) === key);
    expect(new Set(sameKey.map((other) => other.who))).toEqual(new Set([who]));
    if (this.#oneOfKey) expect(sameKey).toHaveLength(1);
    const place = this.#order(key).indexOf(id);
    expect(place).toBe((this.reached.get(key) ?? -1) + 1);
    this.reached.set(key, place);
  }

  /** The message and all later ones of its key are redelivered. */
  failed(id: number): void {
    this.failures.set(id, (this.failures.get(id) ?? 0) + 1);
    const key = this.published.get(id);
    if (!key) return;
    const place = this.#order(key).indexOf(id);
    this.reached.set(key, place - 1);
    for (const [ackId, other] of this.open) {
      if (this.published.get(other.id) !== key || other.id <= id) continue;
      this.open.delete(ackId);
      this.voided.push(ackId);
    }
  }

  #order(key: string): number[] {
    return [...this.published].filter(([, other]) => other === key).map(([id]) => id);
  }
}

class Trial {
  readonly witness: Witness;
  readonly consumers: Consumer[];
  readonly backlog: Backlog;
  now = 0;
  #id = 0;

  constructor(oneOfKey: boolean, maxMessages: number) {
    this.witness = new Witness(oneOfKey);
    this.consumers = [0, 1, 2].map(() => ({
      maxMessages,
      maxBytes: UNLIMITED,
      outstanding: 0,
      outstandingBytes: 0,
    }));
    this.backlog = new Backlog(
      {
        pauseMs: (failures) => (failures % 2 === 0 ? PAUSE_MS : 0),
        oneOfKey,
        generation: 'g',
        confirmed: () => false,
      },
      {
        acked: (id) => {
          expect(this.witness.acked.has(id)).toBe(false);
          this.witness.acked.add(id);
        },
        failed: (id) => {
          this.witness.failed(id);
          return false;
        },
      },
    );
  }

  run(step: Step): void {
    const { backlog, witness, now } = this;
    const open = [...witness.open];
    switch (step.do) {
      case 'publish':
        witness.published.set(++this.#id, step.key);
        backlog.add({ id: this.#id, key: step.key, bytes: 1, publishedAt: now, failures: 0 }, now);
        return;
      case 'take':
        this.take(step.who, step.most);
        return;
      case 'wait':
        this.pass(step.ms);
        return;
      default: {
        const [ackId, delivery] = open[step.pick % Math.max(1, open.length)] ?? [];
        if (ackId === undefined || delivery === undefined) return;
        if (step.do === 'extend') {
          expect(backlog.extend(ackId, now + LEASE_MS)).toBe(true);
          delivery.until = now + LEASE_MS;
          return;
        }
        witness.open.delete(ackId);
        expect(step.do === 'ack' ? backlog.ack(ackId) : backlog.nack(ackId, now)).toBe(
          step.do === 'ack' ? 'acked' : true,
        );
        expect(backlog.ack(ackId)).toBe('unknown');
      }
    }
  }

  take(who: number, most: number): number {
    const consumer = this.consumers[who] as Consumer;
    const taking = { now: this.now, leaseMs: LEASE_MS, most, mostBytes: UNLIMITED };
    const taken = this.backlog.take(consumer, taking);
    for (const delivery of taken) this.witness.delivered(delivery, who, this.now);
    expect(consumer.outstanding).toBeLessThanOrEqual(consumer.maxMessages);
    return taken.length;
  }

  pass(ms: number): void {
    this.now += ms;
    const due = [...this.witness.open].filter(([, { until }]) => until <= this.now);
    const next = this.backlog.nextChange(this.now - ms);
    if (due.length > 0) expect(next).toBeLessThanOrEqual(this.now);
    // Expired deliveries are recorded before the backlog fails them, in the order of their deadlines.
    for (const [ackId] of due) this.witness.open.delete(ackId);
    this.backlog.expire(this.now);
    for (const consumer of this.consumers) {
      const out = [...this.witness.open.values()].filter(({ who }) => this.consumers[who] === consumer);
      expect(consumer.outstanding).toBe(out.length);
    }
  }

  /** Acknowledges everything, after which nothing must be left. */
  drain(): void {
    for (let round = 0; this.witness.acked.size < this.witness.published.size; round++) {
      expect(round).toBeLessThan(1_000);
      for (const who of [0, 1, 2]) this.take(who, 10);
      for (const [ackId] of [...this.witness.open]) {
        this.witness.open.delete(ackId);
        this.backlog.ack(ackId);
      }
      const next = this.backlog.nextChange(this.now);
      if (next !== undefined) this.pass(Math.max(0, next - this.now));
    }
    expect(this.backlog.size).toBe(0);
    for (const { outstanding, outstandingBytes } of this.consumers) {
      expect({ outstanding, outstandingBytes }).toEqual({ outstanding: 0, outstandingBytes: 0 });
    }
  }
}

describe('whatever subscribers do', () => {
  test.each([
    ['pull', false],
    ['push', true],
  ])(
    '%s: no message is lost, or redelivered while outstanding or after its end, and each key keeps its order',
    (_how, oneOfKey) => {
      fc.assert(
        fc.property(steps, fc.integer({ min: 1, max: 6 }), (list, maxMessages) => {
          const trial = new Trial(oneOfKey, maxMessages);
          for (const step of list) trial.run(step);
          for (const ackId of trial.witness.voided) expect(trial.backlog.ack(ackId)).toBe('unknown');
          trial.drain();
        }),
        { numRuns: 120 },
      );
    },
  );
});

describe('a backlog', () => {
  const backlog = (failed: (id: number) => boolean = () => false, oneOfKey = false) =>
    new Backlog(
      { pauseMs: () => 0, oneOfKey, generation: 'g', confirmed: () => false },
      { acked: () => {}, failed },
    );
  const consumer = (limits: Partial<Consumer> = {}): Consumer => ({
    maxMessages: UNLIMITED,
    maxBytes: UNLIMITED,
    outstanding: 0,
    outstandingBytes: 0,
    ...limits,
  });
  const add = (to: Backlog, id: number, key = '') =>
    to.add({ id, key, bytes: 10, publishedAt: id, failures: 0 }, 0);
  const take = (from: Backlog, who: Consumer, options: object = {}) =>
    from.take(who, { now: 100, leaseMs: LEASE_MS, most: 100, mostBytes: UNLIMITED, ...options });
  const ids = (deliveries: Delivery[]) => deliveries.map(({ id }) => id);

  test('stops at the byte limits of a consumer and of one response', () => {
    const some = backlog();
    for (let id = 1; id <= 9; id++) add(some, id);
    expect(ids(take(some, consumer({ maxBytes: 25 })))).toEqual([1, 2, 3]);
    expect(ids(take(some, consumer(), { mostBytes: 15 }))).toEqual([4, 5]);
  });

  test('for push has one outstanding message per key', () => {
    const some = backlog(undefined, true);
    for (let id = 1; id <= 3; id++) add(some, id, 'k');
    const who = consumer();
    const [first] = take(some, who);
    expect(ids(take(some, who))).toEqual([]);
    some.ack(String(first?.ackId));
    expect(ids(take(some, who))).toEqual([2]);
  });

  test('continues a key after one of its messages is dead-lettered', () => {
    const some = backlog((id) => id === 1);
    for (let id = 1; id <= 3; id++) add(some, id, 'k');
    const [first] = take(some, consumer(), { most: 1 });
    some.nack(String(first?.ackId), 100);
    expect(ids(take(some, consumer()))).toEqual([2, 3]);
    expect(some.size).toBe(2);
  });

  test('drops expired messages, outstanding or not, and frees their consumer', () => {
    const some = backlog();
    for (let id = 1; id <= 4; id++) add(some, id, id > 2 ? 'k' : '');
    const who = consumer();
    take(some, who, { most: 3 });
    expect(some.dropBefore(4)).toBe(true);
    expect(who.outstanding).toBe(0);
    expect(ids(take(some, consumer()))).toEqual([4]);
  });
});

test('the pause after a failure doubles, never shrinks and never exceeds its maximum', () => {
  const retry = fc.record({
    minBackoffMs: fc.integer({ min: 0, max: 10_000 }),
    maxBackoffMs: fc.integer({ min: 10_000, max: 600_000 }),
  });
  fc.assert(
    fc.property(retry, fc.integer({ min: 1, max: 5_000 }), (policy, failures) => {
      const config = { retry: policy, push: undefined };
      const pause = redeliveryPauseMs(config, failures);
      expect(pause).toBeLessThanOrEqual(policy.maxBackoffMs);
      expect(redeliveryPauseMs(config, failures + 1)).toBe(Math.min(pause * 2, policy.maxBackoffMs));
    }),
  );
});
