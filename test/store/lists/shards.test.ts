/** All readers find every run once and in order while the number of shards is raised and lowered. */
import type { Firestore } from '@google-cloud/firestore';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { RECORD_TTL_MS } from '../../../packages/cairn/src/core/decisions/idempotency.ts';
import { MAX_SHARDS, SHARD_COUNT, shardOf } from '../../../packages/cairn/src/core/encoding/ids.ts';
import { FirestoreStoreProbe } from '../../../packages/cairn/src/store/diagnosis/firestore-store-probe.ts';
import { FirestoreIdempotencyStore } from '../../../packages/cairn/src/store/firestore-idempotency-store.ts';
import { FirestoreRunStatistics } from '../../../packages/cairn/src/store/firestore-run-statistics.ts';
import { FirestoreRunStore } from '../../../packages/cairn/src/store/firestore-run-store.ts';
import { FirestoreRunSample } from '../../../packages/cairn/src/store/integrity/firestore-run-sample.ts';
import { Shards } from '../../../packages/cairn/src/store/lists/shards.ts';
import { Paths } from '../../../packages/cairn/src/store/paths.ts';
import { FirestoreRetentionStore } from '../../../packages/cairn/src/store/retention/firestore-retention-store.ts';
import { firestoreHarness } from '../../conformance/support/harness.firestore.ts';
import { beginning, claim, idempotencyRecord, move, T0 } from '../../conformance/support/run-fixture.ts';

// Frames, because the calls are the same and HTTP/2 would take twice as long.
const harness = firestoreHarness({ frames: true });
let db: Firestore;
let passTime: (ms: number) => void;
let now: () => number;
beforeEach(async () => {
  ({ passTime, now } = await harness.make());
  db = harness.db();
});
afterAll(() => harness.close());

const RAISED = 64;
/** Later than everything that the tests write. */
const LATER = T0 + 1_000_000;
const TYPE = 'review-pull-request';

/** The stores of an instance that is deployed with `count` shards. */
function deployed(count: number) {
  const shards = new Shards(new Paths(db), count);
  return {
    count,
    runs: new FirestoreRunStore(db, undefined, undefined, { shards }),
    records: new FirestoreIdempotencyStore(db, undefined, count),
    statistics: new FirestoreRunStatistics(db, undefined, shards),
    retention: new FirestoreRetentionStore(db, undefined, shards),
    sample: new FirestoreRunSample(db, undefined, shards),
    look: new FirestoreStoreProbe({ db, randomId: () => '8', shards }),
  };
}
type Deployed = ReturnType<typeof deployed>;

/** Starts run `i` like `startRun` with that number of shards. Its times increase with `i`. */
async function start({ runs, count }: Deployed, i: number) {
  const runId = `run_${i}`;
  const begun = beginning(runId, { at: T0 + i, identity: { shard: shardOf(runId, count) } });
  expect(await runs.start(begun)).toMatchObject({ kind: 'committed' });
  return begun.state;
}

/** 40 runs with few shards, then 40 with many. */
async function startSome(): Promise<readonly string[]> {
  for (let i = 0; i < 80; i += 1) await start(i < 40 ? deployed(SHARD_COUNT) : deployed(RAISED), i);
  const written = await db.collection('gwi_runs').get();
  const shards = written.docs.map((found) => found.get('shard') as number);
  // Otherwise the tests would prove nothing.
  expect(Math.max(...shards)).toBeGreaterThan(SHARD_COUNT + 30);
  return Array.from({ length: 80 }, (_, i) => `run_${i}`);
}

async function allDue({ runs }: Deployed, pageSize: number): Promise<string[]> {
  const ids: string[] = [];
  let page = await runs.dueRuns(LATER, pageSize);
  while (page.length > 0) {
    ids.push(...page.map(({ runId }) => runId));
    // A page that is not full is the last one.
    if (page.length < pageSize) break;
    page = await runs.dueRuns(LATER, pageSize, page.at(-1));
  }
  return ids;
}

const reads = async (work: () => Promise<unknown>): Promise<number> => {
  harness.meter().reset();
  await work();
  return harness.meter().snapshot().total.reads;
};

describe.each([
  ['raised', RAISED],
  ['raised to the most', MAX_SHARDS],
  ['raised and lowered again', SHARD_COUNT],
  ['raised and lowered in part', 40],
])('with a number of shards that was %s', (_, shards) => {
  test('the scan finds every run that is due, page after page in order', async () => {
    const ids = await startSome();
    expect(await allDue(deployed(shards), 7)).toEqual(ids);
    expect(await allDue(deployed(shards), 100)).toEqual(ids);
  });

  test('the scan finds every silent run, and operators every held run', async () => {
    const ids = await startSome();
    const { runs, statistics, look } = deployed(shards);
    for (const i of [3, 77]) {
      const loaded = await runs.load(`run_${i}`);
      if (!loaded) throw new Error('no run');
      const held = move(loaded.state, claim(loaded.state, LATER + 1), { snapshot: true });
      await runs.commit({ ...held.commit, metadata: { heartbeat: true } });
      passTime(1_000);
    }
    const silent = await runs.silentRuns({ after: T0 - 1, until: now() }, 10);
    expect(silent.map(({ runId }) => runId)).toEqual(['run_3', 'run_77']);

    const due = await statistics.due({ until: LATER, type: TYPE, limit: 100 });
    const expected = ids.filter((id) => !['run_3', 'run_77'].includes(id));
    expect(due.map(({ runId }) => runId)).toEqual(expected);
    const rest = await statistics.due({
      until: LATER,
      type: TYPE,
      limit: 100,
      after: due[49] as (typeof due)[0],
    });
    expect(rest.map(({ runId }) => runId)).toEqual(expected.slice(50));
    expect((await look.waking(100)).map(({ wakeAt }) => wakeAt)).toHaveLength(80);
  });

  test('deletion finds every run that ended long ago', async () => {
    for (let i = 0; i < 40; i += 1) {
      const stores = deployed(i < 20 ? SHARD_COUNT : RAISED);
      const state = await start(stores, i);
      const ended = {
        type: 'run_cancelled',
        initiator: 'user',
        data: { stopKind: 'user' },
      } as const;
      const { commit } = move(state, [ended], { at: T0 + 1_000 + i, snapshot: true });
      expect(await stores.runs.commit(commit)).toMatchObject({ kind: 'committed' });
    }
    const { retention } = deployed(shards);
    const bucket = await retention.nextBucket(undefined);
    if (!bucket) throw new Error('nothing has ended');
    const first = await retention.ended({ bucket, until: LATER, after: undefined, limit: 25 });
    const rest = await retention.ended({ bucket, until: LATER, after: first.at(-1), limit: 25 });
    expect([...first, ...rest].map(({ runId }) => runId)).toEqual(
      Array.from({ length: 40 }, (_each, i) => `run_${i}`),
    );
    expect(first).toHaveLength(25);
  });

  test('starts are sampled over all records, and the oldest expired one is found', async () => {
    for (let i = 0; i < 40; i += 1) {
      const expiresAt = T0 + RECORD_TTL_MS + 1 + i;
      const record = idempotencyRecord(`k${i}`, { status: 'completed', runId: `run_${i}`, expiresAt });
      await deployed(i < 20 ? RAISED : SHARD_COUNT).records.create(record);
    }
    const { sample, look } = deployed(shards);
    expect(await sample.startedSince(T0, 100)).toHaveLength(40);
    const [oldest] = await look.leftOvers(LATER + RECORD_TTL_MS);
    expect(oldest).toMatchObject({ expiredAt: T0 + RECORD_TTL_MS + 1 });
  });
});

describe('a tick of the scan that finds nothing is billed', () => {
  test.each([
    [SHARD_COUNT, 2, 2],
    [30, 2, 2],
    [RAISED, 4, 6],
    // The maximum, so no query for further shards is needed.
    [MAX_SHARDS, 9, 18],
  ])('with %d shards %d reads for due runs and %d for silent ones', async (shards, due, silent) => {
    const { runs } = deployed(shards);
    expect(await reads(() => runs.dueRuns(T0, 500))).toBe(due);
    expect(await reads(() => runs.silentRuns({ after: T0, until: T0 + 1 }, 500))).toBe(silent);
  });
});

test('pages of a backlog over several groups of shards read less than a third more than they return', async () => {
  const stores = deployed(RAISED);
  for (let i = 0; i < 300; i += 1) await start(stores, i);
  const spent = await reads(async () => expect(await allDue(stores, 100)).toHaveLength(300));
  // One query for further shards, and an empty query for each of the three groups after the last full page.
  expect(spent).toBeGreaterThanOrEqual(300 + 1);
  expect(spent).toBeLessThanOrEqual(300 * (4 / 3) + 1 + 3);
});
