import { expect, test } from '@jest/globals';
import { byAge, nowText, type RunSummary, rowOf } from '../../../packages/console/src/pages/runs/row.ts';
import { rowNumber, summary } from './support/summaries.ts';

const EXECUTION = { stepId: 'ask', revision: 1, kind: 'approval', attempt: 1, inputsHash: '', startedAt: '' };

function waiting(wait: object): Partial<RunSummary> {
  return {
    status: 'awaiting_approval',
    waits: [{ id: 'w', execution: EXECUTION, openedAt: '', ...wait }],
  } as never;
}

const body = (step: string) => ({ step, revision: 1, attempt: 1, since: '2026-01-01T00:00:00.000Z' });

test.each([
  [
    'the error of a failed run',
    { status: 'failed', error: { code: 'BROKEN', message: 'no', stepId: 'a', retryable: false } },
    'a: BROKEN: no',
  ],
  [
    'the error of a failed run, without the code STEP_FAILED',
    { status: 'failed', error: { code: 'STEP_FAILED', message: 'no', stepId: 'a', retryable: false } },
    'a: no',
  ],
  [
    'the cause of a failed child, without the code CHILD_FAILED',
    {
      status: 'failed',
      error: {
        code: 'CHILD_FAILED',
        message: 'STEP_FAILED: no, in child run run_b',
        stepId: 'a',
        retryable: false,
      },
    },
    'a: STEP_FAILED: no, in child run run_b',
  ],
  [
    'that its version is not deployed, rather than what it waits for',
    { ...waiting({ kind: 'timer' }), blocked: { code: 'PLAN_VERSION_UNAVAILABLE', since: '' } },
    'the version is not deployed',
  ],
  [
    'why it was stopped, and by whom',
    {
      status: 'cancelled',
      cancellation: { stopKind: 'user', reason: 'not needed', actor: 'u.1', requestedAt: '' },
    },
    'not needed · by u.1',
  ],
  ['the question', waiting({ kind: 'approval', detail: { question: 'Ship it?' } }), 'ask: Ship it?'],
  ['a question in an unknown form as JSON', waiting({ kind: 'approval', detail: [1] }), 'ask: [1]'],
  [
    'that it waits for approval, if there is no question',
    waiting({ kind: 'approval' }),
    'ask waits for approval',
  ],
  [
    'which event it waits for',
    waiting({ kind: 'event', name: 'parcel', key: '7' }),
    'ask waits for event parcel for 7',
  ],
  [
    'which run it waits for',
    waiting({ kind: 'child', child: { runId: 'run_b', onParentEnd: 'cancel' } }),
    'ask waits for child run run_b',
  ],
  [
    'that a step is in doubt',
    waiting({ kind: 'approval', purpose: 'doubt' }),
    'ask was interrupted and may have acted: a person must decide how to continue',
  ],
  [
    'that a side effect is in doubt',
    waiting({ kind: 'approval', purpose: 'effect' }),
    'ask asks about a side effect: a person must answer',
  ],
  [
    'why it is parked',
    { status: 'waiting_external', parked: 'version 3 is not deployed' },
    'version 3 is not deployed',
  ],
  ['that its worker died', { status: 'interrupted' }, 'the worker died; resumes within a minute'],
  [
    'why it backs off after failed dispatches',
    { failures: { times: 2, error: { code: 'INTERNAL', message: 'the rules are down' } }, currentStep: 'a' },
    'the last 2 dispatches failed: the rules are down',
  ],
  [
    'that dispatches fail, rather than that the worker died',
    {
      status: 'interrupted',
      failures: { times: 1, error: { code: 'INTERNAL', message: 'no' } },
      running: [body('a')],
      runningCount: 1,
    },
    'the last dispatch failed: no',
  ],
  [
    'the question about a side effect',
    waiting({ kind: 'approval', purpose: 'effect', detail: { question: "Step 'ask' called it. Repeat?" } }),
    "Step 'ask' called it. Repeat?",
  ],
  [
    'which steps run, although the last dispatch failed',
    {
      failures: { times: 1, error: { code: 'INTERNAL', message: 'no' } },
      running: [body('a')],
      runningCount: 1,
    },
    'a',
  ],
  ['which steps run', { running: [body('a'), body('b[2]')], runningCount: 5 }, 'a, b[2] and 3 more'],
  ['the current step', { currentStep: 'summarise' }, 'summarise'],
  ['nothing once it is complete', { status: 'completed', currentStep: 'last' }, ''],
] as [string, Partial<RunSummary>, string][])('a row says %s', (_, part, now) => {
  expect(rowOf(summary(part)).now).toBe(now);
});

test('several waits are shown as the first and the number of others', () => {
  const { waits } = waiting({ kind: 'approval' }) as { waits: never[] };
  expect(rowOf(summary({ waits: [...waits, ...waits, ...waits] })).now).toBe(
    'ask waits for approval · 2 more',
  );
});

test('of several waits a row shows the question to a person, because the status names it', () => {
  const event = { id: 'e', kind: 'event', name: 'message', key: '1', execution: EXECUTION, openedAt: '' };
  const { waits } = waiting({ kind: 'approval', detail: { question: 'Ship it?' } }) as { waits: never[] };
  expect(rowOf(summary({ waits: [event as never, ...waits] })).now).toBe('ask: Ship it? · 1 more');
});

test('a question of a megabyte is truncated', () => {
  expect(rowOf(summary(waiting({ kind: 'approval', detail: 'x'.repeat(1e6) }))).now.length).toBeLessThan(300);
});

test('the count of done steps excludes running, waiting, skipped and failed ones', () => {
  const steps = { begun: 9, running: 1, retrying: 1, waiting: 2, again: 1, failed: 0 } as RunSummary['steps'];
  expect(rowOf(summary({ steps }))).toMatchObject({ done: 4, begun: 9 });
  const broken = { ...steps, failed: 3 } as RunSummary['steps'];
  expect(rowOf(summary({ steps: broken }))).toMatchObject({ done: 1, failed: 3, begun: 9 });
  const partly = { ...steps, skipped: 3 } as RunSummary['steps'];
  expect(rowOf(summary({ steps: partly }))).toMatchObject({ done: 1, skipped: 3, begun: 9 });
});

test.each([
  ['https://github.com/a/b/pull/1', true],
  ['http://git.example/1', true],
  ['javascript:alert(1)', false],
  ['data:text/html,x', false],
  ['//elsewhere.example', false],
  ['https://', false],
])('a pull request at %s becomes a link: %p', (prUrl, isLink) => {
  expect(rowOf(summary({ prUrl })).prUrl).toBe(isLink ? prUrl : undefined);
});

test.each([
  [{ status: 'cancelled', stopKind: 'halt' }, 'halted'],
  [{ status: 'running', compensating: true }, 'undoing'],
  [{ status: 'running', cancellation: { stopKind: 'user', requestedAt: '' } }, 'being cancelled'],
  [{ status: 'failed', compensating: true }, undefined],
] as [Partial<RunSummary>, string | undefined][])('a run with %j has the mark %s', (part, mark) => {
  expect(rowOf(summary(part)).mark).toBe(mark);
});

test('runs of the same time are ordered by id, as in the API', () => {
  const [a, b] = [rowNumber(1), { ...rowNumber(1), id: 'run_b' }];
  expect([a, b].sort(byAge).map(({ id }) => id)).toEqual(['run_b', a.id]);
  expect(byAge(a, a)).toBe(0);
});

test('a run is backing off if its last dispatch failed and it has not ended', () => {
  const failures = {
    times: 2,
    error: { code: 'POLICY', message: 'no answer', retryable: true },
  } as RunSummary['failures'];
  expect(rowOf(summary({ failures })).isResting).toBe(true);
  expect(rowOf(summary({ failures, status: 'failed' })).isResting).toBeUndefined();
  expect(rowOf(summary()).isResting).toBeUndefined();
});

test('only questions of approvals are kept for a change of many runs', () => {
  const questionsOf = (wait: object) => rowOf(summary(waiting(wait))).questions;
  expect(questionsOf({ kind: 'approval', detail: { question: 'Ship it?' } })).toEqual([
    { waitId: 'w', text: 'Ship it?' },
  ]);
  expect(questionsOf({ kind: 'approval', purpose: 'doubt' })).toEqual([]);
  expect(questionsOf({ kind: 'event', name: 'parcel' })).toEqual([]);
});

test('a queued run says that it waits for operators; the text of others is unchanged', () => {
  const queued = rowOf(summary({ status: 'pending' }));
  expect(nowText(queued, 'paused')).toBe('queued · paused');
  expect(nowText(queued, undefined)).toBe('queued');
  const running = rowOf(summary({ running: [body('queued')] }));
  expect(nowText(running, 'paused')).toBe('queued');
});
