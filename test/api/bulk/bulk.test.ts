import { beforeEach, describe, expect, test } from '@jest/globals';
import { CairnError } from '../../../packages/cairn/src/core/errors.ts';
import { BulkStage, type Report } from './stage.ts';

const NO_RUN = `run_${'a'.repeat(26)}`;

let stage: BulkStage;
beforeEach(() => {
  stage = new BulkStage();
});

const outcomes = ({ results }: Report) =>
  results.map(({ outcome, problem, would }) => problem?.code ?? would?.would ?? outcome);

describe('each run has its own outcome', () => {
  test('a run that cannot be changed does not stop the others', async () => {
    const foreign = await stage.start('asking', {}, 'others');
    const ended = await stage.start('order');
    const [first = '', second = ''] = await stage.starts('asking', 2);
    await stage.drive();
    const runs = [first, foreign, NO_RUN, ' no id ', ended, second, first];
    const report = await stage.report({ act: 'cancel', runs, reason: 'closed' });
    expect(report.results.map(({ runId }) => runId)).toEqual([
      first,
      foreign,
      NO_RUN,
      ' no id ',
      ended,
      second,
    ]);
    expect(outcomes(report)).toEqual([
      'done',
      'RUN_NOT_FOUND',
      'RUN_NOT_FOUND',
      'RUN_NOT_FOUND',
      'RUN_TERMINAL_STATE',
      'done',
    ]);
    expect(report.counts).toEqual({ done: 2, possible: 0, failed: 4, retry: 0 });
    expect([first, second, foreign].map((id) => stage.statusOf(id))).toEqual([
      'cancelled',
      'cancelled',
      'awaiting_approval',
    ]);
    for (const id of [first, second]) {
      const { events = [] } = stage.installation.world.db.runs.get(id) ?? {};
      const cancelled = events.find(({ type }) => type === 'cancel_requested');
      expect(cancelled).toMatchObject({ actor: 'c.operator-acme', data: { reason: 'closed' } });
    }
  });

  test('a run of another tenant is answered like a missing one', async () => {
    const foreign = await stage.start('order', {}, 'others');
    await stage.drive();
    for (const act of ['cancel', 'resume', 'replay', 'approve'])
      for (const dryRun of [true, false]) {
        const { results } = await stage.report({ act, runs: [foreign, NO_RUN], dryRun });
        const [one, other] = results.map(({ runId: _, ...result }) => result);
        expect(one).toEqual(other);
        expect(one?.problem?.code).toBe('RUN_NOT_FOUND');
      }
    expect(stage.madeFrom(foreign)).toBe(0);
  });

  test('ended runs are resumed and replayed as by single requests', async () => {
    const [failed = ''] = await stage.starts('order', 1);
    const done = await stage.start('order', { fails: false });
    await stage.drive();
    const resumed = await stage.report({ act: 'resume', runs: [failed, done] });
    expect(outcomes(resumed)).toEqual(['done', 'RUN_TERMINAL_STATE']);
    expect(resumed.results[0]?.answer?.runId).toMatch(/^run_/);
    const replayed = await stage.report({ act: 'replay', runs: [failed, done] });
    expect(outcomes(replayed)).toEqual(['done', 'done']);
    expect([stage.madeFrom(failed), stage.madeFrom(done)]).toEqual([2, 1]);
  });
});

describe('a repetition', () => {
  test('with the same key has the same response, and changes nothing again', async () => {
    const runs = await stage.starts('order', 3);
    await stage.drive();
    const key = { 'idempotency-key': 'k1' };
    const first = await stage.send({ act: 'replay', runs: [...runs, NO_RUN] }, key);
    const second = await stage.send({ act: 'replay', runs: [...runs, NO_RUN] }, key);
    expect(await second.text()).toBe(await first.text());
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect(runs.map((id) => stage.madeFrom(id))).toEqual([1, 1, 1]);
    expect((await stage.send({ act: 'resume', runs }, key)).status).toBe(422);
  });

  test('under the same batch changes each run once, whatever the requests', async () => {
    const [a = '', b = '', c = ''] = await stage.starts('order', 3);
    await stage.drive();
    const first = await stage.report({ act: 'replay', batch: 'mend', runs: [a, b] });
    const second = await stage.report({ act: 'replay', batch: 'mend', runs: [c, b, a] });
    expect(second.results.map(({ answer }) => answer?.runId).slice(1)).toEqual(
      first.results.map(({ answer }) => answer?.runId).reverse(),
    );
    expect([a, b, c].map((id) => stage.madeFrom(id))).toEqual([1, 1, 1]);
    const other = await stage.report({ act: 'resume', batch: 'mend', runs: [a] });
    expect(outcomes(other)).toEqual(['IDEMPOTENCY_KEY_REUSED']);
  });

  test('continues with the runs without an outcome, and keeps the response only afterwards', async () => {
    const [a = '', b = ''] = await stage.starts('order', 2);
    await stage.drive();
    const found = stage.lose(b);
    const key = { 'idempotency-key': 'k1' };
    const first = await stage.report({ act: 'replay', runs: [a, b] }, key);
    expect(first.results.map(({ outcome }) => outcome)).toEqual(['done', 'retry']);
    expect(first.results[1]?.problem?.code).toBe('UNAVAILABLE');
    found();
    const second = await stage.report({ act: 'replay', runs: [a, b] }, key);
    expect(second.counts).toEqual({ done: 2, possible: 0, failed: 0, retry: 0 });
    expect(second.results[0]).toEqual(first.results[0]);
    const third = await stage.send({ act: 'replay', runs: [a, b] }, key);
    expect(third.headers.get('idempotency-replayed')).toBe('true');
    expect([a, b].map((id) => stage.madeFrom(id))).toEqual([1, 1]);
  });

  test.each([
    ['named runs', { runs: true }],
    ['a filter', { runs: false }],
  ])('of %s changes no run twice, even if some have no outcome for more than a day', async (_, { runs }) => {
    const [a = '', b = ''] = await stage.starts('order', 2);
    await stage.drive();
    const found = stage.lose(b);
    const { clock } = stage.installation.world;
    const body = { act: 'replay', ...(runs ? { runs: [a, b] } : { filter: { type: 'order' } }) };
    const key = { 'idempotency-key': 'k1' };
    const first = await stage.report(body, key);
    const done = first.results.find(({ runId }) => runId === a);
    expect(done?.outcome).toBe('done');
    for (const hours of [13, 12]) {
      clock.jump(hours * 3_600_000);
      expect((await stage.report(body, key)).results).toEqual(first.results);
    }
    found();
    const last = await stage.report(body, key);
    expect(last.counts).toEqual({ done: 2, possible: 0, failed: 0, retry: 0 });
    expect(last.results).toContainEqual(done);
    expect([a, b].map((id) => stage.madeFrom(id))).toEqual([1, 1]);
  });

  test('of a filter selects the runs of the first request', async () => {
    const [a = '', b = ''] = await stage.starts('order', 2);
    await stage.drive();
    const found = stage.lose(a);
    const bulkRequest = { act: 'replay', filter: { type: 'order' }, limit: 100 };
    const key = { 'idempotency-key': 'k1' };
    expect((await stage.report(bulkRequest, key)).counts).toMatchObject({ done: 1, retry: 1 });
    found();
    await stage.starts('order', 2);
    await stage.drive();
    const { results } = await stage.report(bulkRequest, key);
    expect(results.map(({ runId }) => runId).sort()).toEqual([a, b].sort());
  });

  test('runs beyond the time of a request are left for the next', async () => {
    const runs = await stage.starts('order', 12);
    await stage.drive();
    const { clock, store } = stage.installation.world;
    const { load } = store;
    store.load = (...asked) => {
      clock.jump(10_000);
      return load.call(store, ...asked);
    };
    const key = { 'idempotency-key': 'k1' };
    const first = await stage.report({ act: 'replay', runs }, key);
    expect(first.counts.retry).toBeGreaterThan(0);
    expect(first.counts.done).toBeGreaterThan(0);
    expect(first.counts.done + first.counts.retry).toBe(runs.length);
    store.load = load;
    expect((await stage.report({ act: 'replay', runs }, key)).counts.done).toBe(runs.length);
    expect(runs.map((id) => stage.madeFrom(id))).toEqual(runs.map(() => 1));
  });
});

describe('a filter', () => {
  test('is processed page by page, with the statuses that the act concerns', async () => {
    await stage.starts('order', 5);
    await stage.drive();
    await stage.start('asking');
    await stage.drive();
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await stage.report({
        act: 'resume',
        filter: { since: '1970-01-01T00:00:00Z' },
        limit: 2,
        cursor,
      });
      seen.push(...page.results.map(({ runId }) => runId));
      expect(page.results.length).toBeLessThanOrEqual(2);
      expect(page.counts.failed).toBe(0);
      cursor = page.next;
    } while (cursor !== undefined);
    expect(new Set(seen).size).toBe(5);
    expect(seen.map((id) => stage.madeFrom(id))).toEqual([1, 1, 1, 1, 1]);
  });

  test('by a comparison or a prefix selects the same runs as the list, for every act, and no later runs', async () => {
    const runs: string[] = [];
    for (const amount of [50, 150, 250, 350]) runs.push(await stage.start('asking', { amount }));
    const [small = '', middle = '', large = '', largest = ''] = runs;
    const foreign = await stage.start('asking', { amount: 500 }, 'other');
    await stage.drive();
    const change = (act: string, match: string, more: object = {}) =>
      stage.report(
        { act, filter: { match, type: 'asking' }, limit: 100, ...more },
        { 'idempotency-key': `${act}-${match}` },
      );
    const idsOf = ({ results }: Report) => results.map(({ runId }) => runId).sort();
    expect(idsOf(await change('approve', 'amount>100', { dryRun: true }))).toEqual(
      [middle, large, largest].sort(),
    );
    expect(await change('approve', 'amount>=350')).toMatchObject({ counts: { done: 1, failed: 0 } });
    await stage.drive();
    const cancelled = await change('cancel', 'amount>100');
    expect(idsOf(cancelled)).toEqual([middle, large].sort());
    const later = await stage.start('asking', { amount: 450 });
    expect(idsOf(await change('cancel', 'amount>100'))).toEqual(idsOf(cancelled));
    await stage.drive();
    expect(idsOf(await change('resume', 'AMOUNT:2*'))).toEqual([large]);
    expect(idsOf(await change('replay', 'amount<=150', { dryRun: true }))).toEqual([middle]);
    const statusOf = (id: string) => stage.installation.world.db.runs.get(id)?.snapshot.status;
    expect([small, middle, large, largest, later, foreign].map(statusOf)).toEqual([
      'awaiting_approval',
      'cancelled',
      'cancelled',
      'completed',
      'awaiting_approval',
      'awaiting_approval',
    ]);
  });
});

describe('a dry run', () => {
  test('has the effect of the change on each run, and writes nothing', async () => {
    const failed = await stage.start('order');
    const done = await stage.start('order', { fails: false });
    const asking = await stage.start('asking');
    await stage.drive();
    const fresh = await stage.start('order');
    const runs = [failed, done, asking, fresh, NO_RUN];
    const foreseen = {
      cancel: ['RUN_TERMINAL_STATE', 'RUN_TERMINAL_STATE', 'end_at_once', 'end_at_once', 'RUN_NOT_FOUND'],
      resume: ['start_successor', 'RUN_TERMINAL_STATE', 'RUN_INVALID_TRANSITION', 'nothing', 'RUN_NOT_FOUND'],
      replay: [
        'start_successor',
        'start_successor',
        'RUN_INVALID_TRANSITION',
        'RUN_INVALID_TRANSITION',
        'RUN_NOT_FOUND',
      ],
      approve: [
        'RUN_INVALID_TRANSITION',
        'RUN_INVALID_TRANSITION',
        'approve',
        'RUN_INVALID_TRANSITION',
        'RUN_NOT_FOUND',
      ],
    };
    const before = stage.installation.written();
    for (const [act, expected] of Object.entries(foreseen))
      expect([act, outcomes(await stage.report({ act, runs, dryRun: true }))]).toEqual([act, expected]);
    expect(stage.installation.written()).toBe(before);
    const { results } = await stage.report({ act: 'resume', runs: [failed], dryRun: true });
    expect(results[0]?.would).toEqual({
      would: 'start_successor',
      stepsReused: 1,
      stepsRun: 1,
      effectsRepeated: 0,
      effectsAsked: 0,
    });
    for (const act of ['replay', 'cancel'] as const) {
      const changed = await stage.report({ act, runs });
      const isPossible = foreseen[act].map((would) => !would.startsWith('RUN_'));
      expect([act, changed.results.map(({ outcome }) => outcome === 'done')]).toEqual([act, isPossible]);
    }
  });
});

describe('approvals', () => {
  test('are selected among the open ones by run, by question or by filter', async () => {
    const [a = '', b = '', c = ''] = await stage.starts('asking', 3);
    const both = await stage.start('twice');
    await stage.drive();
    const report = await stage.report({
      act: 'approve',
      note: 'looked at',
      runs: [a, { runId: b, stepId: 'first', waitId: 'first.1' }, both, { runId: both, stepId: 'left' }],
    });
    expect(outcomes(report)).toEqual(['done', 'done', 'RUN_INVALID_TRANSITION', 'done']);
    await stage.drive();
    expect([a, b, both].map((id) => stage.statusOf(id))).toEqual([
      'completed',
      'completed',
      'awaiting_approval',
    ]);
    const { results } = await stage.report({ act: 'approve', filter: { type: 'asking' } });
    expect(results.map(({ runId, stepId }) => [runId, stepId])).toEqual([[c, 'first']]);
    const right = await stage.report({ act: 'approve', filter: { type: 'twice', step: 'left' } });
    expect(right.results).toEqual([]);
  });

  test('a repetition does not answer a question that was asked in the meantime', async () => {
    const run = await stage.start('asking', { second: true });
    await stage.drive();
    const key = { 'idempotency-key': 'k1' };
    const first = await stage.report({ act: 'approve', runs: [run] }, key);
    await stage.drive();
    expect(stage.statusOf(run)).toBe('awaiting_approval');
    expect(await stage.report({ act: 'approve', runs: [run] }, key)).toEqual(first);
    const bulkRequest = {
      act: 'approve',
      batch: 'one',
      runs: [{ runId: run, stepId: 'first', waitId: 'first.1' }],
    };
    expect(outcomes(await stage.report(bulkRequest))).toEqual(['done']);
    await stage.drive();
    expect(stage.statusOf(run)).toBe('awaiting_approval');
  });
});

test('an approval takes a batch with the longest name', async () => {
  const run = await stage.start('asking');
  await stage.drive();
  const runs = [{ runId: run, stepId: 'first' }];
  expect(outcomes(await stage.report({ act: 'approve', batch: 'b'.repeat(200), runs }))).toEqual(['done']);
});

test('an approval whose answer was not recorded answers no question that was asked since', async () => {
  const run = await stage.start('asking', { second: true });
  await stage.drive();
  const { clock, records } = stage.installation.world;
  const { replace } = records;
  records.replace = (record, seen) =>
    record.key.endsWith(run) && record.status === 'completed'
      ? Promise.reject(new CairnError('UNAVAILABLE', 'the store did not respond in time'))
      : replace.call(records, record, seen);
  const key = { 'idempotency-key': 'k1' };
  const body = { act: 'approve', runs: [run] };
  expect(outcomes(await stage.report(body, key))).toEqual(['UNAVAILABLE']);
  await stage.drive();
  expect(stage.statusOf(run)).toBe('awaiting_approval');
  // The question is known for as long as the request: a day from its last attempt.
  clock.jump(23 * 3_600_000);
  expect(outcomes(await stage.report(body, key))).toEqual(['UNAVAILABLE']);
  records.replace = replace;
  clock.jump(2 * 3_600_000);
  const { results } = await stage.report(body, key);
  expect(results).toMatchObject([{ outcome: 'done', answer: { stepId: 'first' } }]);
  await stage.drive();
  expect(stage.statusOf(run)).toBe('awaiting_approval');
});

describe('an invalid request is refused as a whole, before anything is changed', () => {
  test.each<[object, string]>([
    [{ act: 'cancel' }, 'runs'],
    [{ act: 'cancel', runs: [NO_RUN], filter: { type: 'order' } }, 'runs'],
    [{ act: 'cancel', runs: [] }, 'runs'],
    [{ act: 'cancel', runs: Array.from({ length: 101 }, (_, i) => `run_${i}`) }, 'runs'],
    [{ act: 'explode', runs: [NO_RUN] }, 'act'],
    [{ act: 'cancel', filter: {} }, 'filter'],
    [{ act: 'cancel', filter: { status: 'lost' } }, 'status'],
    [{ act: 'cancel', filter: { match: 'amount>' } }, 'match'],
    [{ act: 'cancel', filter: { typ: 'order' } }, 'filter.typ'],
    [{ act: 'cancel', filter: { type: 'order' }, cursor: 'no cursor' }, 'cursor'],
    [{ act: 'cancel', filter: { type: 'order' }, limit: 101 }, 'limit'],
    [{ act: 'cancel', filter: { step: 'first' } }, 'filter.step'],
    [{ act: 'cancel', runs: [NO_RUN], limit: 5 }, 'limit'],
    [{ act: 'cancel', runs: [{ runId: NO_RUN, stepId: 'first' }] }, 'runs'],
    [{ act: 'cancel', runs: [NO_RUN], note: 'x' }, 'note'],
    [{ act: 'resume', runs: [NO_RUN], reason: 'x' }, 'reason'],
    [{ act: 'cancel', runs: [NO_RUN], batch: 'with blanks' }, 'batch'],
  ])('%j: %s', async (body, field) => {
    const before = stage.installation.written();
    const answer = await stage.send(body, { 'idempotency-key': 'k1' });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: 'INVALID_INPUT', field });
    expect(stage.installation.written()).toBe(before);
  });
});
