import { afterAll, expect, test } from '@jest/globals';
import { DELETION_GRACE_MS } from '../../../packages/cairn/src/core/retention/lineage.ts';
import type { EventDraft } from '../../../packages/cairn/src/core/run/events.ts';
import { deleteExpiredRuns } from '../../../packages/cairn/src/operations/retention/delete-expired.ts';
import type { DeletionDeps } from '../../../packages/cairn/src/operations/retention/deps.ts';
import { NOTHING_SET } from '../../../packages/cairn/src/ports/runtime-config.ts';
import { row } from '../../conformance/suites/rows.ts';
import { firestoreHarness } from '../../conformance/support/harness.firestore.ts';
import type { Stores } from '../../conformance/support/harness.ts';
import { beginning, claim, move, succeeded, T0 } from '../../conformance/support/run-fixture.ts';
import { SILENT, seededRandomness } from '../../support/world.ts';
import { DAY, WIDE } from './shelf.ts';

// The wire by frames, because the calls are the same and HTTP/2 would take half of the time.
const harness = firestoreHarness({ frames: true });
afterAll(() => harness.close());

const COMPLETED: EventDraft = {
  type: 'run_completed',
  data: { result: { text: '{}' } },
  initiator: 'system',
};

async function run(stores: Stores, runId: string, { rootRunId = runId, at = T0, isLive = false } = {}) {
  const start = beginning(runId, { at, identity: { rootRunId } });
  await stores.runs.start(start);
  const drafts = [...claim(start.state, at + 60_000), succeeded('a'), succeeded('b')];
  const { commit } = move(start.state, isLive ? drafts : [...drafts, COMPLETED], { at, snapshot: true });
  const record = { ...row({ idempotencyKey: runId.padEnd(64, '0'), n: 1 }), runId, rootRunId };
  await stores.runs.commit({ ...commit, effects: [{ kind: 'create', record }] });
}

function ticking(stores: Stores, bounds = WIDE) {
  let now = T0 + 100 * DAY;
  const deps: DeletionDeps = {
    retention: stores.retention,
    erasures: stores.erasures,
    mailboxes: stores.mailboxes,
    random: seededRandomness(1),
    store: stores.runs,
    retentionOf: () => 90 * DAY,
    clock: { now: () => now, timer: () => () => {} },
    runtime: { current: async () => NOTHING_SET },
    log: SILENT,
  };
  return async () => {
    harness.meter().reset();
    const report = await deleteExpiredRuns(deps, bounds);
    now += 2 * DELETION_GRACE_MS;
    const { reads, writes, deletes } = harness.meter().snapshot().total;
    return { report, billed: { reads, writes, deletes } };
  };
}

/** Reads of a tick that finds nothing: its own progress, the payloads, and the final statuses. */
const IDLE_READS = 6;

test('a run of average size is read twice, written once, and deleted with its documents', async () => {
  const stores = await harness.make();
  const tick = ticking(stores);
  expect((await tick()).billed).toEqual({ reads: IDLE_READS, writes: 0, deletes: 0 });
  for (let n = 0; n < 10; n += 1) await run(stores, `run_${n}`, { at: T0 + n });

  const marking = await tick();
  expect(marking.report).toMatchObject({ marked: 10, failed: 0 });
  // The run and its lineage are read. Once per tick: the bucket, its documents in more shards, and the next bucket.
  expect(marking.billed).toEqual({ reads: 10 * 2 + IDLE_READS + 2, writes: 10, deletes: 0 });

  const deleting = await tick();
  expect(deleting.report).toMatchObject({ deleted: 10, failed: 0 });
  // The head, the first event and two counts; under each run 2 steps and a row of the ledger; five empty lists, including events.
  const found = 1 + 1 + 2 + 2 + 1 + 5;
  // 6 events and as many checkpoint ids, of which 4 exist. The run document and a finding about the run are deleted without a read.
  expect(deleting.billed.deletes).toBe(10 * (6 + 6 + 2 + 1 + 2));
  expect(deleting.billed.reads).toBeLessThanOrEqual(10 * (2 + found) + IDLE_READS + 2);
  // A deletion is recorded before it starts and after it ended.
  expect(deleting.billed.writes).toBeLessThanOrEqual(3);

  const { docs } = await harness.db().collection('gwi_runs').get();
  expect(docs).toEqual([]);
  for (const group of ['events', 'checkpoints', 'steps', 'gwi_effects'])
    expect([group, (await harness.db().collectionGroup(group).get()).size]).toEqual([group, 0]);
});

test('interrupted ticks delete exactly the due ones of 60 runs in Firestore', async () => {
  const stores = await harness.make();
  const kept: string[] = [];
  for (let n = 0; n < 60; n += 1) {
    const runId = `run_${String(n).padStart(2, '0')}`;
    const isLate = n % 5 === 0;
    const rootRunId = n % 4 === 3 ? `run_${String(n - 1).padStart(2, '0')}` : runId;
    await run(stores, runId, { rootRunId, at: isLate ? T0 + 50 * DAY : T0, isLive: n % 12 === 7 });
    const lineage = [n, n % 4 === 3 ? n - 1 : n % 4 === 2 ? n + 1 : n];
    if (lineage.some((one) => one % 5 === 0 || one % 12 === 7)) kept.push(runId);
  }
  const tick = ticking(stores, { ...WIDE, documents: 150 });
  for (let ticks = 0; ticks < 12; ticks += 1)
    expect((await tick()).billed.deletes).toBeLessThanOrEqual(150 + 8 * 3);
  expect((await tick()).report).toMatchObject({ deleted: 0, marked: 0, failed: 0 });
  const { docs } = await harness.db().collection('gwi_runs').get();
  expect(docs.map(({ id }) => id)).toEqual(kept);
  expect((await harness.db().collectionGroup('gwi_effects').get()).size).toBe(kept.length);
});
