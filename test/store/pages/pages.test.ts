/** Properties of pages at the level of documents: when they are written, deleted and missing. */
import type { Firestore } from '@google-cloud/firestore';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { checkRun } from '../../../packages/cairn/src/core/integrity/check-run.ts';
import type { RunState } from '../../../packages/cairn/src/core/run/state.ts';
import { readDocuments } from '../../../packages/cairn/src/operations/integrity/read-documents.ts';
import { repairRun } from '../../../packages/cairn/src/operations/integrity/repair.ts';
import type { RunStore } from '../../../packages/cairn/src/ports/run-store.ts';
import { encodeSnapshotUpdate } from '../../../packages/cairn/src/store/codec/snapshot.ts';
import { RunPages } from '../../../packages/cairn/src/store/pages/run-pages.ts';
import { Paths } from '../../../packages/cairn/src/store/paths.ts';
import { claimed, loaded } from '../../conformance/run-store/runs.ts';
import { firestoreHarness } from '../../conformance/support/harness.firestore.ts';
import type { Stores } from '../../conformance/support/harness.ts';
import { answers, attempts, failedUndos } from '../../conformance/support/large-run.ts';
import { move, release } from '../../conformance/support/run-fixture.ts';
import { budgetQuestionOf, opened } from '../../core/run/journal-drafts.ts';
import { completed } from '../../integrity/support/runs.ts';

/** A valid run id, because the check requires one. */
const RUN = `run_${'a'.repeat(26)}`;

const harness = firestoreHarness({ raw: true });
let stores: Stores;
let runs: RunStore;
let db: Firestore;
beforeEach(async () => {
  stores = await harness.make();
  ({ runs } = stores);
  db = harness.db();
});
afterAll(() => harness.close());

const document = () => db.doc(`gwi_runs/${RUN}`);
const pages = async () => (await document().collection('pages').listDocuments()).map(({ id }) => id).sort();

async function costOf(call: () => Promise<unknown>) {
  harness.meter().reset();
  await call();
  const { reads, writes, deletes } = harness.meter().snapshot().total;
  return { reads, writes, deletes };
}

/** A state of 1.3 MB of a run with a lease. */
async function large(): Promise<RunState> {
  const acted = move(await claimed(runs, RUN), attempts(0, 250));
  await runs.commit(acted.commit);
  const undone = move(acted.after, failedUndos(0, 280), { snapshot: true });
  await runs.commit(undone.commit);
  return undone.after;
}

describe('the pages of a run', () => {
  test('are written with the snapshot that names them first, and not again', async () => {
    const state = await large();
    const before = await pages();
    expect(before.length).toBeGreaterThan(4);
    const more = move(state, failedUndos(280, 1), { snapshot: true });
    const cost = await costOf(() => runs.commit(more.commit));
    expect(cost).toEqual({ reads: 1, writes: 2, deletes: 0 });
    expect(await pages()).toEqual(before);
  });

  test('are deleted in the commit of the snapshot that no longer needs them', async () => {
    const state = await large();
    const before = await pages();
    const small = move(state, [...answers(0, 250), ...[release()]], { snapshot: true });
    const cost = await costOf(() => runs.commit(small.commit));
    expect(cost.deletes).toBeGreaterThan(0);
    expect((await pages()).length).toBe(before.length - cost.deletes);
    expect(await loaded(runs, RUN)).toMatchObject({ state: { head: small.after.head } });
  });

  test('are written again if others have written the snapshot since their names were read', async () => {
    const state = await large();
    const more = move(state, failedUndos(280, 100), { snapshot: true });
    const other = new RunPages(db, new Paths(db));
    let looks = 0;
    const result = await other.write(
      {
        run: document(),
        snapshot: more.after,
        members: encodeSnapshotUpdate({ snapshot: more.after }),
        cost: undefined,
      },
      async (write) => {
        looks += 1;
        // The scan moves `wakeAt` between the read and the commit.
        if (looks === 1) {
          const { snapshotVersion: seen } = await loaded(runs, RUN);
          await runs.touch({ runId: RUN, seen, wakeAt: 7 });
          expect((await loaded(runs, RUN)).snapshotVersion).not.toBe(write?.seen);
          return 'refused';
        }
        expect(write?.seen).toBe((await loaded(runs, RUN)).snapshotVersion);
        return 'written';
      },
      (answer) => answer === 'refused',
    );
    expect([result, looks]).toEqual(['written', 2]);
  });

  test('that are missing because the snapshot was written meanwhile are found by reading it again', async () => {
    const state = await large();
    const old = await document().get();
    const other = move(state, answers(0, 250));
    await runs.commit(other.commit);
    const small = move(other.after, failedUndos(280, 300), { snapshot: true });
    await runs.commit(small.commit);
    const { found, reads } = await new RunPages(db, new Paths(db)).whole(old);
    expect(found.updateTime).not.toEqual(old.updateTime);
    expect(found.get('head')).toBe(small.after.head);
    expect(reads).toBeGreaterThan(1);
  });

  test.each([
    ['the common version', []],
    ['a later version', [opened(budgetQuestionOf('gate', '2026-05-17'))]],
  ])(
    'are ignored after a process that does not support them wrote a run of %s without pages',
    async (_, drafts) => {
      const state = await large();
      const named = move(state, [...drafts, ...failedUndos(280, 1)], { snapshot: true });
      await runs.commit(named.commit);
      expect((await loaded(runs, RUN)).state).toEqual(named.after);
      const small = move(named.after, [...answers(0, 250), release()], { snapshot: true });
      await document().update(encodeSnapshotUpdate({ snapshot: small.after }));
      const { state: found } = await loaded(runs, RUN);
      expect({ ...found, steps: [...found.steps] }).toEqual({
        ...small.after,
        steps: [...small.after.steps],
      });
    },
  );

  test('cost nothing for a run that has none', async () => {
    const state = await claimed(runs, RUN);
    const { commit } = move(state, failedUndos(0, 1), { snapshot: true });
    expect(await costOf(() => runs.commit(commit))).toEqual({ reads: 0, writes: 2, deletes: 0 });
    expect(await pages()).toEqual([]);
    expect((await document().get()).data()).not.toHaveProperty('pages');
    expect((await document().get()).get('schemaVersion')).toBe(1);
  });

  test('are billed as the run reports', async () => {
    const state = await large();
    const metadata = { heartbeat: false, cost: { writes: 201 } };
    const more = move(state, failedUndos(280, 200), { snapshot: true, metadata });
    const { reads, writes } = await costOf(() => runs.commit(more.commit));
    expect((await loaded(runs, RUN)).metadata.cost).toEqual({ reads, writes });
    expect(writes).toBeGreaterThan(201);
    const { reads: billed } = await costOf(async () => {
      expect((await loaded(runs, RUN)).reads).toBe((await pages()).length + 2);
    });
    expect(billed).toBeGreaterThan(2);
  });

  test('are deleted by retention', async () => {
    await large();
    for (;;) {
      const { more } = await stores.retention.deleteUnder(RUN, 300);
      if (!more) break;
    }
    expect(await pages()).toEqual([]);
  });

  test('list the children of a run for retention', async () => {
    const ties = Array.from({ length: 4_000 }, (_, i) => ({
      kind: 'child' as const,
      waitId: `w${i}`,
      runId: `run_${'c'.repeat(200)}${i}`,
      onParentEnd: 'cancel' as const,
    }));
    const state = { ...(await claimed(runs, RUN)), ties };
    const { snapshotVersion: seen } = await loaded(runs, RUN);
    await runs.touch({ runId: RUN, seen, snapshot: state });
    const [member] = await stores.retention.lineage('run_root', 10);
    expect(member?.childRunIds).toHaveLength(4_000);
  });

  test.each([
    ['missing', 'PAGE_MISSING'],
    ['damaged', 'PAGE_DAMAGED'],
    ['left over', 'PAGE_ORPHANED'],
  ])('that is %s is reported by the check as %s, and repaired', async (how, code) => {
    const state = await large();
    const [page] = await pages();
    if (how === 'missing') await document().collection('pages').doc(String(page)).delete();
    if (how === 'damaged') await document().collection('pages').doc(String(page)).set({ text: '[]' });
    if (how === 'left over') await document().collection('pages').doc('0'.repeat(64)).set({ text: '[]' });
    if (how !== 'left over') await expect(runs.load(RUN)).rejects.toThrow(/page/);
    const bench = await completed();
    const deps = { ...bench.deps, reader: stores.integrity, repairs: stores.integrity, payloads: runs };
    const read = await readDocuments(deps, RUN, () => true);
    const codes = read ? checkRun(read.run).map((problem) => problem.code) : [];
    expect(codes).toContain(code);
    const repairRequest = { runId: RUN, tenantId: 'acme', actor: 'c.operator' };
    const { run } = read ?? {};
    expect(run?.journal.state?.head).toBe(state.head);
    expect(await repairRun(deps, { ...repairRequest, apply: true })).toMatchObject({ outcome: 'applied' });
    const again = await readDocuments(deps, RUN, () => true);
    const left = again ? checkRun(again.run).map((problem) => problem.code) : ['gone'];
    expect(left.filter((one) => one.startsWith('PAGE') || one.startsWith('SNAPSHOT'))).toEqual([]);
    expect((await loaded(runs, RUN)).state.compensationLog).toEqual(state.compensationLog);
  });
});
