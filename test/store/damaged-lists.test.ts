import { FieldValue, type Firestore } from '@google-cloud/firestore';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { erasureId, NOTHING_GONE } from '../../packages/cairn/src/core/retention/erasure.ts';
import { problemResponse } from '../../packages/cairn/src/http/problem.ts';
import { systemClock } from '../../packages/cairn/src/platform/clock.ts';
import type { ListedRun, Page, PageRequest } from '../../packages/cairn/src/ports/run-store.ts';
import { Paths } from '../../packages/cairn/src/store/paths.ts';
import { FirestoreRunListWatch } from '../../packages/cairn/src/store/watch/firestore-run-list-watch.ts';
import { firestoreHarness } from '../conformance/support/harness.firestore.ts';
import type { Stores } from '../conformance/support/harness.ts';
import { beginning, claim, move, T0 } from '../conformance/support/run-fixture.ts';
import { bySystem, opened, questionOf } from '../core/run/journal-drafts.ts';
import { SILENT } from '../support/world.ts';

const harness = firestoreHarness();
const SUSPENDED = bySystem('run_suspended', { status: 'awaiting_approval', announced: true });
const RUNS = ['run_1', 'run_2', 'run_3', 'run_4', 'run_5', 'run_6', 'run_7'];
let stores: Stores;
let db: Firestore;

/** Seven runs that wait for a person; four were edited by hand, and a newer version wrote one. */
beforeAll(async () => {
  stores = await harness.make();
  db = harness.db();
  for (const [i, runId] of RUNS.entries()) {
    const begun = beginning(runId, { identity: { tenantId: 'acme' } });
    await stores.runs.start(begun);
    const question = opened(questionOf('gate', { id: 'gate.1', openedAt: T0 + i }));
    const { commit } = move(begun.state, [...claim(begun.state, T0), question, SUSPENDED], {
      snapshot: true,
    });
    await stores.runs.commit(commit);
  }
  const paths = new Paths(db);
  await paths.run('run_2').update({ cancellation: null });
  await paths.run('run_4').update({ status: FieldValue.delete(), steps: FieldValue.delete() });
  await paths.run('run_5').update({ status: 'flying' });
  await paths.run('run_6').update({ schemaVersion: 99, steps: { another: 'form' } });
  await paths.run('run_7').update({ waits: '"x"', listed: FieldValue.delete() });
});
afterAll(() => harness.close());

/** Listed and named items of all pages. */
async function walked<T>(
  read: (page: PageRequest) => Promise<Page<T>>,
  idOf: (item: T) => string,
  limit: number,
) {
  const ids: string[] = [];
  const unreadable: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await read({ limit, ...(cursor === undefined ? {} : { cursor }) });
    ids.push(...page.items.map(idOf));
    unreadable.push(...(page.unreadable ?? []));
    if (page.next === undefined) return { ids: ids.sort(), unreadable: unreadable.sort() };
    cursor = page.next;
  }
}

const WHOLE = { ids: ['run_1', 'run_3'], unreadable: ['run_2', 'run_4', 'run_5', 'run_6', 'run_7'] };

describe('a run document that cannot be read', () => {
  test.each([1, 2, 3, 10])(
    'does not hide the other runs of a list, and is named: %d a page',
    async (limit) => {
      const { runs, finder } = stores;
      expect(
        await walked(
          (page) => runs.listRuns({ tenantId: 'acme' }, page),
          (run) => run.state.id,
          limit,
        ),
      ).toEqual(WHOLE);
      expect(
        await walked(
          (page) => finder.asking('acme', page),
          ({ id }) => id,
          limit,
        ),
      ).toEqual(WHOLE);
    },
  );

  test('does not hide the other runs that a search finds', async () => {
    const ids = (found: readonly ListedRun[]) => found.map(({ state }) => state.id).sort();
    const { finder } = stores;
    expect(ids(await finder.beginning('acme', 'run_', 10))).toEqual(WHOLE.ids);
    expect(ids(await finder.named('acme', 'thread-1', 10))).toEqual(WHOLE.ids);
  });

  test('does not end the stream of a list', async () => {
    const report = Promise.withResolvers<readonly string[]>();
    const stop = new FirestoreRunListWatch(db, systemClock).watchRuns({ tenantId: 'acme' }, 10, {
      onRuns: (runs) => report.resolve(runs.map(({ state }) => state.id)),
      onError: report.reject,
    });
    expect([...(await report.promise)].sort()).toEqual(WHOLE.ids);
    stop();
  });

  test('is reported with what is damaged, and without its content', async () => {
    const error = await stores.runs.load('run_2', 'acme').catch((thrown: unknown) => thrown);
    const answer = problemResponse(error, SILENT);
    expect([answer.status, await answer.json()]).toEqual([
      500,
      expect.objectContaining({
        code: 'DATA_DAMAGED',
        detail: "run run_2: member 'cancellation': expected a map, found null",
        help: expect.stringContaining('consistency'),
      }),
    ]);
  });
});

test('a finding that cannot be read does not hide the others', async () => {
  const { findings } = stores;
  const ids = ['run_1', 'run_2', 'run_3', 'run_4', 'run_5'];
  for (const runId of ids)
    await findings.note({
      ...{ runId, tenantId: 'acme', type: 'w', head: 1, reason: 'request', message: 'no' },
      ...{ since: T0, lastAt: T0 },
    });
  const paths = new Paths(db);
  await paths.finding('run_1').update({ head: 'x' });
  await paths.finding('run_2').update({ lastAt: FieldValue.delete() });
  const named = (found: readonly { readonly runId: string }[]) => found.map(({ runId }) => runId);
  expect(named(await findings.list(2))).toEqual(['run_3', 'run_4']);
  expect(named(await findings.list(2, 'run_4'))).toEqual(['run_5']);
  expect(named(await findings.list(9))).toEqual(['run_3', 'run_4', 'run_5']);
  expect(named(await findings.ofTenant('acme', 1))).toEqual(['run_3']);
  for (const runId of ids) await findings.clear(runId);
});

test('findings that cannot be read cost a query for each page of them', async () => {
  const { findings } = stores;
  const ids = Array.from({ length: 12 }, (_, at) => `run_${String(at).padStart(2, '0')}`);
  for (const runId of ids)
    await findings.note({
      ...{ runId, tenantId: 'acme', type: 'w', head: 1, reason: 'request', message: 'no' },
      ...{ since: T0, lastAt: T0 },
    });
  const paths = new Paths(db);
  for (const runId of ids.slice(1, 11)) await paths.finding(runId).update({ head: 'x' });
  harness.meter().reset();
  expect((await findings.list(2)).map(({ runId }) => runId)).toEqual(['run_00', 'run_11']);
  expect(harness.meter().snapshot().byCall.RunQuery?.calls).toBe(6);
  for (const runId of ids) await findings.clear(runId);
});

test('an ended run whose page of effects is missing does not hide the questions of others', async () => {
  const { execution } = questionOf('send');
  const attempted = bySystem('effect_attempted', {
    stepId: 'send',
    revision: 1,
    attempt: execution.attempt,
    effectId: 'f',
    capabilityId: 'c',
  });
  const failed = bySystem('run_failed', { error: { code: 'X', message: 'x', retryable: false } });
  for (const runId of ['run_8', 'run_9']) {
    const begun = beginning(runId, { identity: { tenantId: 'rival' } });
    await stores.runs.start(begun);
    const drafts = [...claim(begun.state, T0), attempted, failed];
    await stores.runs.commit(move(begun.state, drafts, { snapshot: true }).commit);
  }
  const pages = JSON.stringify({ of: 1, lists: { effects: ['0'.repeat(64)] } });
  await new Paths(db).run('run_8').update({ schemaVersion: 2, pages });
  const { items, unreadable } = await stores.finder.asking('rival', { limit: 10 });
  expect([items.map(({ id }) => id), unreadable]).toEqual([['run_9'], ['run_8']]);
});

test('an erasure that cannot be read does not hide the others, of the open ones and of all', async () => {
  const { erasures } = stores;
  const ids = ['t1', 't2', 't3'].map((tenantId) => erasureId(tenantId)).sort();
  for (const id of ids)
    await erasures.create({
      id,
      scope: 'tenant',
      tenantHash: id,
      roots: [],
      state: 'open',
      gone: NOTHING_GONE,
      requestedAt: T0,
    });
  const [first = '', damaged = '', last = ''] = ids;
  await new Paths(db).erasure(damaged).update({ gone: 'much' });
  const open = await erasures.open(undefined, 10);
  expect(open.map(({ id, unreadable }) => [id, unreadable?.message])).toEqual([
    [first, undefined],
    [damaged, expect.stringContaining(`erasure ${damaged}: member 'gone'`)],
    [last, undefined],
  ]);
  expect(
    await walked(
      (page) => erasures.list(undefined, page),
      ({ id }) => id,
      1,
    ),
  ).toEqual({ ids: [first, last], unreadable: [damaged] });
});

test('a schedule that cannot be read does not hide the others, and is named', async () => {
  const { schedules } = stores;
  for (const [i, id] of ['sch_1', 'sch_2', 'sch_3'].entries())
    await schedules.create({
      id,
      tenantId: 'acme',
      origin: 'stored',
      state: 'active',
      type: 'nightly',
      cron: '0 3 * * *',
      timezone: 'Europe/Berlin',
      input: {},
      catchUp: 'all',
      settledUntil: T0,
      fired: 0,
      skipped: 0,
      refused: 0,
      createdAt: T0 + i,
      updatedAt: T0,
    });
  await new Paths(db).schedule('sch_2').update({ state: 7 });
  expect(
    await walked(
      (page) => schedules.list('acme', page),
      ({ id }) => id,
      1,
    ),
  ).toEqual({ ids: ['sch_1', 'sch_3'], unreadable: ['sch_2'] });
});

test('a client that cannot be read does not hide the others, and is named', async () => {
  const { clients } = stores;
  const client = { tenantId: 'acme', roles: [], secretHash: 'f'.repeat(64), disabled: false, createdAt: T0 };
  for (const id of ['a', 'b', 'c']) await clients.create({ ...client, id });
  await new Paths(db).client('b').update({ roles: 7 });
  const { items, unreadable } = await clients.list('acme', 10);
  expect([items.map(({ id }) => id), unreadable]).toEqual([['a', 'c'], ['b']]);
});

test('a finding that cannot be read does not hide the others, nor its run, and is replaced', async () => {
  const { findings } = stores;
  const rest = { tenantId: 'acme', type: 'sized', head: 7, reason: 'request', message: 'x' } as const;
  const ofRun = (runId: string) => ({ ...rest, runId, since: T0, lastAt: T0 });
  for (const id of ['a', 'b', 'c']) await findings.note(ofRun(id));
  await new Paths(db).finding('b').update({ head: 'x' });
  const listed = await Promise.all([findings.list(2), findings.ofTenant('acme', 10)]);
  expect(listed.map((found) => found.map(({ runId }) => runId))).toEqual([
    ['a', 'c'],
    ['a', 'c'],
  ]);
  expect(await findings.find('b')).toBeUndefined();
  await findings.note(ofRun('b'));
  expect(await findings.find('b')).toEqual(ofRun('b'));
});
