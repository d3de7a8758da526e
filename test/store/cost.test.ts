import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { RunState } from '../../packages/cairn/src/core/run/state.ts';
import { systemClock } from '../../packages/cairn/src/platform/clock.ts';
import type { RunStore } from '../../packages/cairn/src/ports/run-store.ts';
import { FirestoreRunListWatch } from '../../packages/cairn/src/store/watch/firestore-run-list-watch.ts';
import { firestoreHarness } from '../conformance/support/harness.firestore.ts';
import {
  beginning,
  claim,
  idempotencyRecord,
  move,
  release,
  succeeded,
  T0,
} from '../conformance/support/run-fixture.ts';

const harness = firestoreHarness();
let runs: RunStore;
let state: RunState;

/** Billed document operations of the call by kind, and its number of commits. */
async function costOf(
  call: () => Promise<unknown>,
): Promise<{ reads: number; writes: number; commits: number }> {
  harness.meter().reset();
  await call();
  const { reads, writes, deletes, commits } = harness.meter().snapshot().total;
  expect(deletes).toBe(0);
  return { reads, writes, commits };
}

beforeEach(async () => {
  runs = (await harness.make()).runs;
  const start = beginning('run_1', {
    records: [{ record: idempotencyRecord('k') }, { record: idempotencyRecord('k2') }],
  });
  expect(await costOf(() => runs.start(start))).toEqual({ reads: 0, writes: 4, commits: 1 });
  const held = move(start.state, claim(start.state, T0 + 300_000), { snapshot: true });
  await runs.commit(held.commit);
  state = held.after;
});
afterAll(() => harness.close());

describe('the Firestore run store is billed', () => {
  test('one commit of three writes and no read for a step, however many came before', async () => {
    for (const id of ['first', 'second', 'third']) {
      const { after, commit } = move(state, [succeeded(id)]);
      expect(await costOf(() => runs.commit(commit))).toEqual({ reads: 0, writes: 3, commits: 1 });
      state = after;
    }
  });

  test('one commit for steps that end together', async () => {
    const { commit } = move(state, [succeeded('a'), succeeded('b'), succeeded('c')], { snapshot: true });
    expect(await costOf(() => runs.commit(commit))).toEqual({ reads: 0, writes: 10, commits: 1 });
  });

  test('no write for a refused append', async () => {
    const { commit } = move(state, [succeeded('a')]);
    await runs.commit(commit);
    expect(await costOf(() => runs.commit(commit))).toMatchObject({ writes: 0 });
  });

  test('the snapshot for a load, and its tail only under a lease', async () => {
    expect(await costOf(() => runs.load('run_1'))).toEqual({ reads: 2, writes: 0, commits: 0 });
    const steps = move(state, [succeeded('a'), succeeded('b')]);
    await runs.commit(steps.commit);
    expect(await costOf(() => runs.load('run_1'))).toEqual({ reads: 3, writes: 0, commits: 0 });
    const free = move(steps.after, [release()], { snapshot: true });
    await runs.commit(free.commit);
    expect(await costOf(() => runs.load('run_1'))).toEqual({ reads: 1, writes: 0, commits: 0 });
  });

  test('the same for a load of another tenant’s run as for a missing one, even while it is driven', async () => {
    const steps = move(state, [succeeded('a')]);
    await runs.commit(steps.commit);
    for (const runId of ['run_1', 'run_none']) {
      expect(await costOf(() => runs.load(runId, 'another'))).toEqual({ reads: 1, writes: 0, commits: 0 });
    }
  });

  test('what is due and a query for more shards for a scan, however many runs exist', async () => {
    for (let i = 0; i < 20; i += 1) await runs.start(beginning(`run_later${i}`, { at: T0 + 500_000 + i }));
    expect(await costOf(() => runs.dueRuns(T0 + 300_000, 200))).toEqual({ reads: 2, writes: 0, commits: 0 });
  });

  test('one read for each status that a worker may hold for the search for silent runs', async () => {
    await runs.dueRuns(T0, 1);
    const window = { after: T0 - 80_000, until: T0 - 26_000 };
    expect(await costOf(() => runs.silentRuns(window, 5_000))).toEqual({ reads: 2, writes: 0, commits: 0 });
  });

  test('one write for a heartbeat', async () => {
    const seen = (await runs.load('run_1'))?.snapshotVersion ?? '';
    const beat = () =>
      runs.touch({ runId: 'run_1', seen, metadata: { heartbeat: true, leaseExtendedTo: T0 + 999_999 } });
    expect(await costOf(beat)).toEqual({ reads: 0, writes: 1, commits: 1 });
  });
});

test('the runs of a watched list once, then one read for each change', async () => {
  for (const id of ['a', 'b', 'c']) await runs.start(beginning(`run_${id}`, { at: T0 + 1_000 }));
  let lists = 0;
  let notify = () => {};
  const untilTold = (n: number) =>
    new Promise<void>((resolve) => {
      notify = () => (lists >= n ? resolve() : undefined);
      notify();
    });
  let stop = () => {};
  const watched = await costOf(async () => {
    const onRuns = () => {
      lists += 1;
      notify();
    };
    const onError = (error: unknown) => {
      throw error;
    };
    const watch = new FirestoreRunListWatch(harness.db(), systemClock);
    stop = watch.watchRuns({ tenantId: 'acme', status: 'running' }, 50, { onRuns, onError });
    await untilTold(1);
  });
  expect(watched).toEqual({ reads: 1, writes: 0, commits: 0 });
  const changed = await costOf(async () => {
    for (const [i, stepId] of ['x', 'y'].entries()) {
      await runs.start(beginning(`run_other${i}`));
      const { after, commit } = move(state, [succeeded(stepId)], { snapshot: true });
      await runs.commit(commit);
      state = after;
      await untilTold(2 + i);
    }
  });
  expect(changed).toMatchObject({ reads: 2 });
  stop();
});

test('the run document keeps its input, and grows by a few bytes for each step', async () => {
  const document = () => harness.db().doc('gwi_runs/run_1').get();
  const before = (await document()).data() ?? {};
  const { commit } = move(
    state,
    Array.from({ length: 90 }, (_, i) => succeeded(`step-${i}`)),
    { snapshot: true },
  );
  await runs.commit(commit);
  const after = (await document()).data() ?? {};
  expect(after.input).toBe(before.input);
  expect(after.head).toBe(93);
  expect(after.lastHeartbeatAt).toBeUndefined();
  expect(String(after.steps).length / 90).toBeLessThan(12);
});
