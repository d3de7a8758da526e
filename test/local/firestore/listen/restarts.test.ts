/** Listeners of the unmodified client under random writes, while their streams are cut and the server is restarted. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Firestore, Query } from '@google-cloud/firestore';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { steadyPort } from '../../../../scripts/demo/steady-port.ts';
import { type Bench, startBench } from '../support/client.ts';
import { Chooser } from '../support/random-queries.ts';
import { listenTo, nobodyListens, type Seen, type Shown } from './seen.ts';

const SEEDS = [1, 2, 3];
/** Number of server starts. */
const LIVES = 3;
const COMMITS = 15;
const DOCS = 12;
const TOP = 4;

const folder = mkdtempSync(join(tmpdir(), 'cairn-listen-restarts-'));
/** Called even after a failure, because a remaining listener would keep the process alive. */
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Asked {
  readonly query: Query;
  readonly answer: (docs: ReadonlyMap<string, number>) => string[];
}

/** A collection, a window of it in an order, and a filter. */
function questions(db: Firestore): Asked[] {
  const list = db.collection('c');
  const inOrder = (docs: ReadonlyMap<string, number>) =>
    [...docs].sort(([a, v], [b, w]) => v - w || (a < b ? -1 : 1)).map(([path]) => path);
  return [
    { query: list, answer: (docs) => [...docs.keys()].sort() },
    { query: list.orderBy('v').limit(TOP), answer: (docs) => inOrder(docs).slice(0, TOP) },
    {
      query: list.where('v', '>=', 50).orderBy('v'),
      answer: (docs) => inOrder(new Map([...docs].filter(([, v]) => v >= 50))),
    },
  ];
}

/** Sets some documents and deletes others, in one commit. */
async function commit(db: Firestore, choose: Chooser, docs: Map<string, number>): Promise<void> {
  const batch = db.batch();
  for (const path of new Set(Array.from({ length: 1 + choose.below(3) }, () => `c/d${choose.below(DOCS)}`))) {
    if (choose.chance(0.3)) {
      batch.delete(db.doc(path));
      docs.delete(path);
    } else {
      const v = choose.below(100);
      batch.set(db.doc(path), { v });
      docs.set(path, v);
    }
  }
  await batch.commit();
}

/** Each snapshot equals the previous one with its changes; no document is added twice or removed without having been added. */
function assertNothingTwice({ all }: Seen<Shown>): void {
  let before = new Set<string>();
  let time = 0;
  for (const { paths, changes, readTime } of all) {
    const now = readTime.toMillis();
    expect(now).toBeGreaterThanOrEqual(time);
    time = now;
    const after = new Set(before);
    for (const change of changes) {
      const [type, path = ''] = change.split(' ');
      expect([change, after.has(path)]).toEqual([change, type !== 'added']);
      if (type === 'removed') after.delete(path);
      else after.add(path);
    }
    expect([...after].sort()).toEqual([...paths].sort());
    before = new Set(paths);
  }
}

describe('over restarts of the server and cuts of the stream', () => {
  test.each(SEEDS)(
    'a listener reaches the result of the query, and gets nothing twice (seed %i)',
    async (seed) => {
      const choose = new Chooser(seed);
      const storage = { kind: 'sqlite', file: join(folder, `${seed}.sqlite`) } as const;
      const docs = new Map<string, number>();
      const port = await steadyPort();
      let life: Bench = await startBench({ storage, port });
      const { db: listener } = life;
      const first = life;
      ends.push(async () => {
        await nobodyListens(life.server);
        await Promise.all([listener.terminate(), life.stop()]);
      });
      await commit(life.db, choose, docs);
      const listeners = questions(listener).map((one) => ({ ...one, seen: listenTo(one.query) }));
      ends.push(() => {
        for (const { seen } of listeners) seen.stop();
      });
      let cuts = 0;
      for (let n = 0; n < LIVES; n += 1) {
        if (n > 0) {
          // The listeners resume from their last message; some commits happen before they reconnect.
          await life.server.stop();
          if (life !== first) await life.db.terminate();
          life = await startBench({ storage, port });
        }
        const cut = { kind: 'cut-stream', afterMessages: 1 + choose.below(8) } as const;
        life.server.faults.set([{ call: 'Listen', probability: 0.7, times: 3, fault: cut }], seed);
        for (let i = 0; i < COMMITS; i += 1) {
          await commit(life.db, choose, docs);
          if (choose.chance(0.3)) await new Promise((resolve) => setImmediate(resolve));
        }
        for (const { seen, answer } of listeners) {
          const expected = answer(docs).join();
          await seen.until((all) => all.at(-1)?.paths.join() === expected);
        }
        cuts += life.server.faults.injected()['cut-stream'] ?? 0;
      }
      // Uncertain commits: the model takes the state that a read returns.
      const looked = await life.db.collection('c').get();
      expect(new Map(looked.docs.map((doc) => [doc.ref.path, doc.get('v')]))).toEqual(docs);
      expect(cuts).toBeGreaterThan(0);
      for (const { seen } of listeners) assertNothingTwice(seen);
    },
  );
});
