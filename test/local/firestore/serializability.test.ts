import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Firestore, Timestamp, Transaction } from '@google-cloud/firestore';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { TransactionalStore } from '../../../packages/local-firestore/src/service/transactional-store.ts';
import { LockTable } from '../../../packages/local-firestore/src/service/transactions/lock-table.ts';
import { OptimisticReads } from '../../../packages/local-firestore/src/service/transactions/optimistic-reads.ts';
import { type Bench, startBench } from './support/client.ts';
import { Chooser } from './support/random-queries.ts';

/**
 * Every history has its own collection with a few documents, and several concurrent actors: transactions that read, query
 * and write, plain writes, read-only transactions. Each committed actor records the time of its commit. A sequential replay
 * in that order must give each actor exactly the results that it saw. So the order is serial, also for phantoms, because
 * queries are replayed too. `HISTORIES=2000` before the command checks more histories.
 */
const HISTORIES = Number(process.env.HISTORIES ?? 60);
const AT_ONCE = 60;
const ACTORS = 3;
/** The client is most of the cost: 2,000 take about a minute when other work shares the cores. */
const TIMEOUT_MS = 240_000;
/** Most histories until a mutant is found, and the number that is checked concurrently. */
const MUTANT_HISTORIES = { most: 60, atOnce: 12 };
const OPTIMISTIC_HISTORIES = Math.ceil(HISTORIES / 8);
const IDS = ['a', 'b', 'c', 'd'];

interface Seen {
  readonly what: string;
  readonly value: unknown;
}

interface Actor {
  readonly id: string;
  readonly time: string;
  readonly seen: readonly Seen[];
  readonly writes: ReadonlyMap<string, number | undefined>;
}

const require = createRequire(import.meta.url);
/** Internal function of the client that waits between attempts. */
const { setTimeoutHandler } = require(
  join(dirname(require.resolve('@google-cloud/firestore')), 'backoff.js'),
) as {
  setTimeoutHandler(handler: (retry: () => void, delayMs: number) => unknown): void;
};

let bench: Bench;
beforeAll(async () => {
  // The client backs off by seconds after ABORTED; a hundredth of that explores the same interleavings.
  setTimeoutHandler((retry: () => void, delayMs: number) => setTimeout(retry, delayMs / 100));
  bench = await startBench();
});
afterAll(async () => {
  setTimeoutHandler(setTimeout);
  await bench.stop();
});

describe('serializability', () => {
  test(
    `each of ${HISTORIES} random concurrent histories has an equivalent serial order`,
    async () => {
      const violations: string[] = [];
      bench.server.faults.set([{ call: 'Commit', probability: 0.05, fault: { kind: 'aborted' } }], 1);
      let next = 0;
      const worker = async () => {
        for (let seed = next++; seed < HISTORIES; seed = next++) {
          violations.push(...(await violationsOf(`h${seed}`, seed)));
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, worker));
      expect(bench.server.faults.injected().aborted).toBeGreaterThan(HISTORIES / 10);
      bench.server.faults.clear();
      expect(next).toBeGreaterThanOrEqual(HISTORIES);
      expect(violations).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test.each(['holdDocuments', 'holdRange'] as const)(
    'without %s the same check finds violations',
    async (method) => {
      const mutated = jest.spyOn(LockTable.prototype, method).mockImplementation(() => {});
      try {
        const found = await firstViolations((from, to) =>
          Promise.all(seedsIn(from, to).map((seed) => violationsOf(`m-${method}-${seed}`, seed))),
        );
        expect(found.length).toBeGreaterThan(0);
      } finally {
        mutated.mockRestore();
      }
    },
  );
});

describe('serializability of transactions of which half are optimistic', () => {
  const histories = async (name: string, from: number, to: number) => {
    const choose = new Chooser(to);
    const { begin } = TransactionalStore.prototype;
    const mixed = jest.spyOn(TransactionalStore.prototype, 'begin').mockImplementation(function (
      this: TransactionalStore,
      ...[at, mode]
    ) {
      const isOptimistic = choose.chance(0.5);
      return begin.call(this, at, mode.kind === 'readWrite' ? { ...mode, isOptimistic } : mode);
    });
    try {
      return await Promise.all(seedsIn(from, to).map((seed) => violationsOf(`${name}-${seed}`, seed)));
    } finally {
      mixed.mockRestore();
    }
  };

  test(`each of ${OPTIMISTIC_HISTORIES} random concurrent histories has an equivalent serial order`, async () => {
    expect((await histories('optimistic', 0, OPTIMISTIC_HISTORIES)).flat()).toEqual([]);
  });

  test.each(['sawDocuments', 'sawRange'] as const)(
    'without %s the same check finds violations',
    async (method) => {
      const mutated = jest.spyOn(OptimisticReads.prototype, method).mockImplementation(() => {});
      try {
        const found = await firstViolations((from, to) => histories(`m-${method}`, from, to));
        expect(found.length).toBeGreaterThan(0);
      } finally {
        mutated.mockRestore();
      }
    },
  );
});

const seedsIn = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

/** Violations of the first histories with any; empty if no history has one. */
async function firstViolations(
  look: (from: number, to: number) => Promise<readonly string[][]>,
): Promise<readonly string[]> {
  const { most, atOnce } = MUTANT_HISTORIES;
  for (let from = 0; from < most; from += atOnce) {
    const found = (await look(from, from + atOnce)).flat();
    if (found.length > 0) return found;
  }
  return [];
}

async function violationsOf(collection: string, seed: number): Promise<string[]> {
  const { db } = bench;
  const initial = db.batch();
  initial.set(db.doc(`${collection}/a`), { v: 1 });
  initial.set(db.doc(`${collection}/b`), { v: 2 });
  await initial.commit();
  const actors = await Promise.all(
    Array.from({ length: ACTORS }, (_, i) => act(db, collection, `${i}`, new Chooser(seed * ACTORS + i))),
  );
  return replay(
    collection,
    actors.filter((actor) => actor !== undefined),
  );
}

/** Undefined if the actor gave up. The replay of the others shows that it left no trace. */
async function act(
  db: Firestore,
  collection: string,
  id: string,
  choose: Chooser,
): Promise<Actor | undefined> {
  const plan = Array.from({ length: 1 + choose.below(3) }, () => ({
    kind: choose.below(3),
    id: choose.of(IDS),
    bound: choose.below(6),
    value: choose.below(6),
    remove: choose.chance(0.2),
  }));
  const doc = (name: string) => db.doc(`${collection}/${name}`);
  const marker = db.doc(`${collection}-markers/${id}`);
  const query = (bound: number) => db.collection(collection).where('v', '>=', bound);
  const style = choose.below(8);
  const writes = new Map<string, number | undefined>();
  let seen: Seen[] = [];

  if (style === 0) {
    const [step] = plan as [(typeof plan)[number]];
    const batch = db.batch();
    writes.set(step.id, step.remove ? undefined : step.value);
    if (step.remove) batch.delete(doc(step.id));
    else batch.set(doc(step.id), { v: step.value });
    batch.create(marker, {});
    const results = await batch.commit();
    return { id, time: stamp(results[1]?.writeTime as Timestamp), seen, writes };
  }
  const read = async (transaction: Transaction, step: (typeof plan)[number]): Promise<Timestamp> => {
    if (step.kind === 1) {
      const found = await transaction.get(query(step.bound));
      seen.push({
        what: `>=${step.bound}`,
        value: found.docs
          .map((d) => `${d.id}=${d.get('v')}`)
          .sort()
          .join(),
      });
      return found.readTime;
    }
    const found = await transaction.get(doc(step.id));
    seen.push({ what: step.id, value: found.get('v') });
    return found.readTime;
  };
  if (style === 1) {
    const time = await db.runTransaction(
      async (transaction) => {
        seen = [];
        let last: Timestamp | undefined;
        for (const step of plan) last = await read(transaction, step);
        return last as Timestamp;
      },
      { readOnly: true },
    );
    return { id, time: `${stamp(time)}+`, seen, writes };
  }
  try {
    await db.runTransaction(
      async (transaction) => {
        seen = [];
        writes.clear();
        for (const step of plan) if (step.kind !== 2) await read(transaction, step);
        for (const step of plan) {
          if (step.kind === 1 && plan.length > 1) continue;
          writes.set(step.id, step.remove ? undefined : step.value);
          if (step.remove) transaction.delete(doc(step.id));
          else transaction.set(doc(step.id), { v: step.value });
        }
        transaction.create(marker, {});
      },
      { maxAttempts: 10 },
    );
  } catch (error) {
    if ((error as { code?: number }).code === ABORTED) return undefined;
    throw error;
  }
  const committed = await marker.get();
  return { id, time: stamp(committed.updateTime as Timestamp), seen, writes };
}

const ABORTED = 10;

function replay(collection: string, actors: readonly Actor[]): string[] {
  const state = new Map<string, number>([
    ['a', 1],
    ['b', 2],
  ]);
  const violations: string[] = [];
  for (const actor of [...actors].sort((x, y) => (x.time < y.time ? -1 : 1))) {
    for (const { what, value } of actor.seen) {
      const expected = what.startsWith('>=') ? matching(state, Number(what.slice(2))) : state.get(what);
      if (value !== expected)
        violations.push(`${collection}/${actor.id} read ${what}: ${value}, not ${expected}`);
    }
    for (const [name, value] of actor.writes) {
      if (value === undefined) state.delete(name);
      else state.set(name, value);
    }
  }
  return violations;
}

function matching(state: ReadonlyMap<string, number>, bound: number): string {
  return [...state]
    .filter(([, v]) => v >= bound)
    .map(([name, v]) => `${name}=${v}`)
    .sort()
    .join();
}

function stamp(time: Timestamp): string {
  return `${time.seconds}.${String(time.nanoseconds).padStart(9, '0')}`;
}
