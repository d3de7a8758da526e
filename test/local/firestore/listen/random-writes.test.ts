/** Listeners of the unmodified client under random writes, compared with a scan of all documents at the same moment. */
import type { Firestore, Timestamp } from '@google-cloud/firestore';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { answer, completeOrders, type Doc, NAME, type Question } from '../support/brute-force.ts';
import { type Bench, startBench } from '../support/client.ts';
import { Chooser, randomDocs, randomQuestion } from '../support/random-queries.ts';
import { toQuery } from '../support/to-query.ts';
import { listenTo, nobodyListens, type Seen, type Shown } from './seen.ts';

const SEEDS = 8;
const LISTENERS = 14;
const COMMITS = 40;
const DOCS = 25;

interface Moment {
  readonly time: bigint;
  readonly docs: readonly Doc[];
}

interface Listening {
  readonly question: Question;
  readonly group: boolean;
  readonly seen: Seen<Shown>;
}

let bench: Bench;
beforeAll(async () => {
  bench = await startBench();
});
afterAll(async () => {
  await nobodyListens(bench.server);
  await bench.stop();
});

describe('every snapshot equals a full scan at its read time', () => {
  let compared = 0;
  let cuts = 0;

  test.each(Array.from({ length: SEEDS }, (_, seed) => seed))(
    'with writes and cuts of seed %i',
    async (seed) => {
      const { db, server } = bench;
      server.reset();
      const choose = new Chooser(seed);
      const world = new World(db, choose);
      await world.commit(randomDocs(choose, db, DOCS));
      const listening = Array.from({ length: LISTENERS }, () => listen(db, choose, world));
      const cut = { kind: 'cut-stream', afterMessages: 30 } as const;
      server.faults.set([{ call: 'Listen', probability: 0.5, times: 20, fault: cut }], seed);
      for (let i = 0; i < COMMITS; i++) {
        await world.commit(randomDocs(choose, db, 1 + choose.below(4)));
        if (choose.chance(0.2)) await new Promise((resolve) => setImmediate(resolve));
      }
      const refused = new Set<Listening>();
      for (const one of listening) {
        const expected = answered(world.last, one);
        await one.seen
          .until(
            (all) =>
              all.at(-1) !== undefined &&
              JSON.stringify(inOrder(all.at(-1)?.paths ?? [], one.question)) ===
                JSON.stringify(inOrder(expected, one.question)),
          )
          .catch((error: Error) => {
            // A query that production would refuse is not compared.
            if (!/Error 3/.test(error.message)) throw error;
            refused.add(one);
          });
      }
      cuts += server.faults.injected()['cut-stream'] ?? 0;
      server.faults.clear();
      for (const one of listening) {
        one.seen.stop();
        if (!refused.has(one)) compared += check(world, one);
      }
    },
  );

  test('the comparison ran many times, over many cuts', () => {
    expect(compared).toBeGreaterThan(SEEDS * LISTENERS * 4);
    expect(cuts).toBeGreaterThan(SEEDS * 4);
  });
});

/** All states of the database, with the times of their commits. */
class World {
  readonly moments: Moment[] = [];
  readonly #db: Firestore;
  readonly #choose: Chooser;

  constructor(db: Firestore, choose: Chooser) {
    this.#db = db;
    this.#choose = choose;
  }

  get last(): readonly Doc[] {
    return this.moments.at(-1)?.docs ?? [];
  }

  at(time: bigint): readonly Doc[] {
    return this.moments.findLast((m) => m.time <= time)?.docs ?? [];
  }

  /** Sets the documents, and sometimes deletes others in the same commit. */
  async commit(docs: readonly Doc[]): Promise<void> {
    const next = new Map(this.last.map((d) => [d.path, d]));
    const batch = this.#db.batch();
    const gone = this.last.filter((d) => this.#choose.chance(0.04) && !docs.some((o) => o.path === d.path));
    for (const { path } of gone) {
      batch.delete(this.#db.doc(path));
      next.delete(path);
    }
    for (const doc of docs) {
      batch.set(this.#db.doc(doc.path), doc.data);
      next.set(doc.path, doc);
    }
    // Every commit changes this document, so its update time is the time of the commit.
    batch.set(this.#db.doc('time/of-commit'), { count: this.moments.length });
    const written = (await batch.commit()).at(-1);
    if (!written) throw new Error('a commit without results');
    this.moments.push({ time: micros(written.writeTime), docs: [...next.values()] });
  }
}

function listen(db: Firestore, choose: Chooser, world: World): Listening {
  const group = choose.chance(0.3);
  for (;;) {
    const question = randomQuestion(choose, db, inScope(world.last, group));
    const query = toQuery(db, { collectionId: 'c', group }, question);
    if (query) return { question, group, seen: listenTo(query) };
  }
}

/** Returns how many snapshots were compared. */
function check(world: World, { question, group, seen }: Listening): number {
  let before: readonly string[] = [];
  let time = 0n;
  for (const snapshot of seen.all) {
    const at = micros(snapshot.readTime);
    expect(at).toBeGreaterThan(time);
    time = at;
    const expected = answered(world.at(at), { question, group });
    expect(inOrder(snapshot.paths, question)).toEqual(inOrder(expected, question));
    expect([...after(before, snapshot.changes)].sort()).toEqual([...snapshot.paths].sort());
    before = snapshot.paths;
  }
  return seen.all.length;
}

/** The client sorts results itself, and ignores orders that inequalities imply; then it sorts by path. */
function inOrder(paths: readonly string[], question: Question): readonly string[] {
  const explicit = question.orderBy.filter((o) => o.field !== NAME).length;
  const complete = completeOrders(question).filter((o) => o.field !== NAME).length;
  return explicit === complete ? paths : [...paths].sort();
}

function after(before: readonly string[], changes: readonly string[]): Set<string> {
  const paths = new Set(before);
  for (const change of changes) {
    const [type, path] = change.split(' ') as [string, string];
    if (type === 'added') expect(paths.has(path)).toBe(false);
    else expect(paths.has(path)).toBe(true);
    if (type === 'removed') paths.delete(path);
    else paths.add(path);
  }
  return paths;
}

function answered(
  docs: readonly Doc[],
  { question, group }: Pick<Listening, 'question' | 'group'>,
): string[] {
  return answer(inScope(docs, group), question);
}

function inScope(docs: readonly Doc[], group: boolean): Doc[] {
  return docs.filter(({ path }) => (group ? path.split('/').at(-2) === 'c' : /^c\/[^/]+$/.test(path)));
}

function micros(time: Timestamp): bigint {
  return BigInt(time.seconds) * 1_000_000n + BigInt(Math.floor(time.nanoseconds / 1000));
}
