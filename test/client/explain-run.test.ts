import { describe, expect, test } from '@jest/globals';
import { BLOCKED_CODES } from '../../packages/cairn/src/core/decisions/blocked.ts';
import { ERROR_CODES } from '../../packages/cairn/src/core/errors.ts';
import { RUN_STATUSES } from '../../packages/cairn/src/core/run/status.ts';
import {
  type Activity,
  type ExplainedRun,
  explainRun,
} from '../../packages/client/src/explain/explain-run.ts';
import { helpFor } from '../../packages/client/src/explain/help-for.ts';

const AT = '2026-01-01T00:00:00.000Z';
const LATER = '2026-01-01T00:00:05.000Z';
const run = (facts: object): ExplainedRun =>
  ({
    id: 'run_1',
    waits: [],
    running: [],
    steps: { begun: 0, retrying: 0, failed: 0, skipped: 0, degraded: 0 },
    resumeCount: 0,
    compensating: false,
    ...facts,
  }) as unknown as ExplainedRun;
const wait = (kind: string, step = 'ask', more: object = {}) => ({
  id: `${step}.1`,
  kind,
  execution: { stepId: step },
  openedAt: AT,
  dueAt: LATER,
  ...more,
});
const undone = (stepId: string, outcome = 'compensated') => ({ stepId, revision: 1, outcome, at: AT });
const lease = { epoch: 3 };
const retrying = { begun: 2, retrying: 1, skipped: 0, degraded: 0 };

test.each([
  [{ by: 'kill_switch' }, /^The kill switch is on/, 'unpause --everything'],
  [{ by: 'restored' }, /^The database was restored: no run/, 'restore release'],
  [
    { by: 'paused', type: 'order', since: AT, reason: 'stocktaking' },
    /^Workflow order is paused: stocktaking\./,
    'unpause order',
  ],
  [{ by: 'paused', type: 'order', since: AT }, /^Workflow order is paused\. Its runs wait/, 'unpause order'],
] as const)(
  'a run that operators stopped is explained as stopped, not as queued: %j',
  (stopped, text, move) => {
    const of = (facts: object) => explainRun(run({ stopped, ...facts }));
    for (const status of ['pending', 'running', 'replaying', 'interrupted']) {
      expect(of({ status }).text).toMatch(text);
      expect(of({ status }).moves.map(({ words }) => words.join(' '))).toEqual([move]);
    }
    expect(of({ status: 'running', lease }).text).not.toMatch(text);
    expect(of({ status: 'waiting_external', waits: [wait('event')] }).text).not.toMatch(text);
    expect(of({ status: 'running', cancellation: { requestedAt: AT } }).text).not.toMatch(text);
  },
);

describe('a run that the budget of the day defers', () => {
  const reason = 'other runs hold the rest of what the tenant may spend on this day';
  const of = (facts: object, ...retrying: Activity['retrying']) =>
    explainRun(run({ status: 'running', dueAt: LATER, ...facts }), { working: [], retrying });
  const ask = { key: 'ask', isPolling: false, deferral: { reason, isOver: false } };

  test('shows the reason, the time limit, and commands to continue', () => {
    const { text, until, help, moves } = of({ steps: retrying }, ask);
    expect(text).toBe(`Step ask waits: ${reason}.`);
    expect(until).toBe(LATER);
    expect(help).toContain('once other runs of the tenant have released');
    expect(moves.map(({ words }) => words.join(' '))).toEqual(['runs watch run_1', 'budgets']);
    expect(of({ steps: { ...retrying, retrying: 40 }, lease }, ask, { ...ask, key: 'b' }).text).toBe(
      `40 steps wait: ${reason}.`,
    );
  });

  test('continues once the question was answered or the day has ended', () => {
    const over = { ...ask, deferral: { reason, isOver: true } };
    const { text, help } = of({ steps: retrying }, over);
    expect([text, help]).toEqual(['The budget allows more: Step ask begins next.', undefined]);
  });

  test('is explained as deferred only if it has no other work and no open question', () => {
    const failed = { key: 'pay', isPolling: false };
    expect(of({ steps: { ...retrying, retrying: 2 } }, ask, failed).text).toBe(
      '2 steps failed and will be retried.',
    );
    const asking = wait('approval', 'ask', { purpose: 'budget', detail: { question: 'Raise it?' } });
    expect(of({ steps: retrying, waits: [asking] }, ask).text).toMatch(/reached its budget/);
    expect(of({ steps: retrying, cancellation: {} }, ask).text).toBe(
      'Cancelling. The run ends at its next step.',
    );
  });
});

test('a queued run shows no due time, because its `wakeAt` is only for the scan', () => {
  const queued = explainRun(run({ status: 'pending', createdAt: AT, wakeAt: LATER }));
  expect([queued.since, queued.until]).toEqual([AT, undefined]);
});

describe('the sentence that explains a run', () => {
  test.each<[facts: object, text: string]>([
    [{ status: 'pending' }, 'Queued. A worker will pick it up.'],
    [{ status: 'running', lease }, 'Running.'],
    [{ status: 'running', lease, running: [{ step: 'pay' }] }, 'Running pay.'],
    [{ status: 'running', lease, running: [{ step: 'pay' }, { step: 'mail' }] }, 'Running pay and mail.'],
    [
      { status: 'running', lease, running: ['a', 'b', 'c', 'd'].map((step) => ({ step })) },
      'Running a, b and 2 more.',
    ],
    [
      {
        status: 'running',
        lease,
        running: [{ step: 'pay' }],
        leaseWait: { until: LATER, steps: ['pay'], why: "step 'pay' must not run twice" },
      },
      "Running pay. If the worker died, the run continues when the lease expires, because step 'pay' must not run twice:",
    ],
    [
      { status: 'running', lease, running: [{ step: 'pay' }], silentSince: AT },
      'No heartbeat from the worker that runs pay. If it died, the run continues when the lease expires or its task is delivered again.',
    ],
    [
      {
        status: 'running',
        lease,
        silentSince: AT,
        leaseWait: { until: LATER, steps: ['pay'], why: "step 'pay' must not run twice" },
      },
      "No heartbeat from the worker. If it died, the run continues when the lease expires, because step 'pay' must not run twice.",
    ],
    [
      { status: 'running', lease, silentSince: AT, resumeCount: 1, cancellation: { requestedAt: AT } },
      'Cancelling. The run ends at its next step. No heartbeat from the worker. Resumed after an interruption. If it died, the run continues when the lease expires or its task is delivered again.',
    ],
    [
      {
        status: 'running',
        lease,
        silentSince: AT,
        compensating: true,
        running: [{ step: 'pay', undoes: true }],
      },
      'Undoing completed steps, now pay. No heartbeat from the worker. If it died, the run continues when the lease expires or its task is delivered again.',
    ],
    [{ status: 'running', lease, resumeCount: 1 }, 'Running. Resumed after an interruption.'],
    [{ status: 'running', lease, resumeCount: 2 }, 'Running. Resumed after 2 interruptions.'],
    [{ status: 'running', lease, cancellation: {} }, 'Cancelling. The run ends at its next step.'],
    [{ status: 'running', lease, compensating: true }, 'Undoing completed steps.'],
    [
      { status: 'running', lease, compensating: true, running: [{ step: 'pay', undoes: true }] },
      'Undoing completed steps, now pay.',
    ],
    [{ status: 'running', steps: retrying, currentStep: 'pay' }, 'Step pay failed and will be retried.'],
    [{ status: 'running', steps: { ...retrying, retrying: 3 } }, '3 steps failed and will be retried.'],
    [{ status: 'running' }, 'Between steps. The next worker will pick it up.'],
    [{ status: 'awaiting_approval', waits: [wait('approval')] }, 'Step ask waits for approval.'],
    [
      { status: 'awaiting_approval', waits: [wait('event', 'parcel'), wait('approval')] },
      'Step ask waits for approval. 1 other wait is open.',
    ],
    [
      { status: 'awaiting_approval', waits: [wait('approval'), wait('approval', 'sign')] },
      'Waiting for 2 approvals.',
    ],
    [
      { status: 'awaiting_approval', waits: [wait('approval', 'pay', { purpose: 'doubt' })] },
      'Step pay was interrupted and may have acted: a person must decide how to continue.',
    ],
    [
      { status: 'awaiting_approval', waits: [wait('approval', 'pay', { purpose: 'effect', effectId: 'e' })] },
      'Step pay asks about a side effect: a person must answer.',
    ],
    [
      { status: 'waiting_external', waits: [wait('event', 'parcel', { name: 'arrived', key: '7' })] },
      'Step parcel waits for event arrived for 7.',
    ],
    [{ status: 'waiting_external', waits: [wait('timer', 'night')] }, 'Step night sleeps.'],
    [
      { status: 'waiting_external', waits: [wait('child', 'ship', { child: { runId: 'run_2' } })] },
      'Step ship waits for child run run_2.',
    ],
    [{ status: 'waiting_external', parked: 'PLAN_CHANGED' }, 'Blocked: PLAN_CHANGED.'],
    [
      {
        status: 'waiting_external',
        waits: [wait('timer')],
        blocked: { code: 'PLAN_CHANGED', message: 'The run cannot go on: …', help: 'Deploy it.', since: AT },
      },
      'The run cannot go on: …',
    ],
    [
      { status: 'running', suspension: { actor: 'ada', reason: 'the bank is down', requestedAt: AT } },
      'Suspended by ada: the bank is down. No step starts until the run is continued.',
    ],
    [{ status: 'replaying', source: { runId: 'run_0' } }, 'Reusing the completed steps of run_0.'],
    [{ status: 'interrupted' }, 'The worker stopped in the middle of a step. The run resumes by itself.'],
    [
      { status: 'completed', steps: { begun: 3, retrying: 0, failed: 0, skipped: 1, degraded: 0 } },
      '2 steps done, 1 skipped.',
    ],
    [
      { status: 'completed', steps: { begun: 1_502, retrying: 0, failed: 10, skipped: 0, degraded: 1 } },
      '1,492 steps done, 10 failed, 1 degraded.',
    ],
    [{ status: 'failed', error: { code: 'X', stepId: 'pay' } }, 'Failed in step pay.'],
    [
      {
        status: 'failed',
        error: { code: 'X', stepId: 'pay' },
        compensationLog: [undone('book'), undone('hold', 'failed'), undone('hold'), undone('reserve')],
      },
      'Failed in step pay. 2 steps were undone. The undo of hold failed.',
    ],
    [
      { status: 'cancelled', stopKind: 'user', cancellation: {}, compensationLog: [undone('reserve')] },
      'Cancelled. 1 step was undone.',
    ],
    [{ status: 'cancelled', stopKind: 'halt', cancellation: { actor: 'ada' } }, 'Halted by ada.'],
    [
      { status: 'cancelled', stopKind: 'user', cancellation: { reason: 'not needed' } },
      'Cancelled: not needed.',
    ],
    [{ status: 'cancelled', stopKind: 'policy', cancellation: {} }, 'Stopped by a policy.'],
  ])('%j', (facts, text) => {
    expect(explainRun(run(facts)).text).toBe(text);
  });

  test('exists for every status, and ends with a full stop', () => {
    for (const status of RUN_STATUSES) expect(explainRun(run({ status })).text).toMatch(/^[A-Z].*\.$/);
  });

  test('has advice for each known and unknown error', () => {
    for (const code of [...Object.keys(ERROR_CODES), 'OUT_OF_PAPER', 'constructor'])
      expect(helpFor(code)).toMatch(/\.$/);
    expect(explainRun(run({ status: 'waiting_external', parked: 'PLAN_CHANGED' })).help).toContain('Deploy');
  });

  test('requires no answer about a side effect that a person has marked as failed', () => {
    const error = { code: 'EFFECT_IN_DOUBT', stepId: 'pay' };
    const { help } = explainRun(run({ status: 'failed', error }));
    expect(help).toMatch(/Resume/);
    expect(help).not.toMatch(/record|resolve/i);
  });
});

describe('what would let a run continue', () => {
  const commands = (facts: object) => explainRun(run(facts)).moves.map(({ words }) => words.join(' '));
  test.each<[facts: object, commands: readonly string[]]>([
    [{ status: 'awaiting_approval', waits: [wait('approval')] }, ['runs approve run_1 ask']],
    [
      {
        status: 'awaiting_approval',
        waits: [wait('approval', 'pay', { purpose: 'effect', effectId: 'e.1' })],
      },
      ['effects resolve run_1 e.1 recorded'],
    ],
    [
      { status: 'waiting_external', waits: [wait('event', 'parcel', { name: 'arrived', key: '7' })] },
      ['events send arrived 7 --data JSON'],
    ],
    [
      { status: 'waiting_external', waits: [wait('child', 'ship', { child: { runId: 'run_2' } })] },
      ['explain run_2'],
    ],
    [{ status: 'waiting_external', waits: [wait('timer')] }, []],
    [{ status: 'waiting_external', parked: 'PLAN_CHANGED' }, ['runs resume run_1']],
    [{ status: 'running', suspension: { reason: 'x', requestedAt: AT } }, ['runs continue run_1']],
    [{ status: 'failed' }, ['runs preview run_1 resume', 'runs resume run_1']],
    [{ status: 'failed', supersededBy: 'run_9' }, ['explain run_9']],
    [{ status: 'completed' }, ['runs replay run_1']],
  ])('%j', (facts, words) => {
    expect(commands(facts)).toEqual(words);
  });

  test('does not suggest to resume a run that was already resumed', () => {
    const error = { code: 'STEP_FAILED', message: 'out of ink', retryable: false };
    const { help } = explainRun(run({ status: 'failed', error }));
    expect(help).toContain('resume the run');
    const { help: helpAfter } = explainRun(run({ status: 'failed', error, supersededBy: 'run_9' }));
    expect(helpAfter).toBe('It was resumed: another run continues it.');
  });

  test.each(['waiting_external', 'awaiting_approval', 'replaying'] as const)(
    'of a blocked run (%s) does not promise that it continues at the next check',
    (status) => {
      for (const code of BLOCKED_CODES) {
        const blocked = { code, message: 'The run is blocked.', help: 'Deploy it.', since: AT };
        const { since, until } = explainRun(run({ status, blocked, waits: [wait('timer')], wakeAt: LATER }));
        expect([since, until]).toEqual([AT, undefined]);
      }
      if (status === 'replaying') return;
      expect(explainRun(run({ status, parked: 'PLAN_CHANGED', wakeAt: LATER })).until).toBeUndefined();
    },
  );

  test('has no command for a decision while the version of the run is not deployed', () => {
    const undecidable = { working: [], retrying: [], isUndecidable: true };
    const effect = wait('approval', 'pay', { purpose: 'effect', effectId: 'e' });
    const waits = [wait('approval'), wait('approval', 'ask', { purpose: 'doubt' }), effect];
    const waiting = run({ status: 'awaiting_approval', waits });
    const { text, help, moves } = explainRun(waiting, undecidable);
    expect(text).toMatch(
      /^Step ask waits for approval\. 2 other waits are open\. The version of the run is not/,
    );
    expect(help).toMatch(/^Deploy that version/);
    expect(moves.map(({ words }) => words[0])).toEqual(['effects']);
    expect(explainRun(waiting, { ...undecidable, isUndecidable: false })).toEqual(explainRun(waiting));
    const other = run({ status: 'awaiting_approval', waits: [effect] });
    expect(explainRun(other, undecidable)).toEqual(explainRun(other));
  });

  test('of a wait includes since when and until when', () => {
    const { since, until } = explainRun(run({ status: 'awaiting_approval', waits: [wait('approval')] }));
    expect([since, until]).toEqual([AT, LATER]);
  });
});

describe('a run whose dispatches fail', () => {
  const failures = {
    times: 6,
    error: { code: 'INTERNAL', message: 'Lone surrogate is not allowed', retryable: true },
  };

  test('has its error in the explanation', () => {
    const { text, help, until } = explainRun(run({ status: 'running', dueAt: LATER, failures }));
    expect([text, until]).toEqual(['The last 6 dispatches failed: Lone surrogate is not allowed.', LATER]);
    expect(help).toContain('by itself');
    const once = explainRun(run({ status: 'interrupted', failures: { ...failures, times: 1 } }));
    expect(once.text).toBe('The last dispatch failed: Lone surrogate is not allowed.');
  });

  test('is explained by the error whatever its remaining work, with commands to continue', () => {
    const sentence = 'The last 6 dispatches failed: Lone surrogate is not allowed.';
    const cancellation = { stopKind: 'user', requestedAt: AT };
    for (const facts of [{}, { steps: retrying }, { cancellation }, { compensating: true }] as const) {
      const { text, until, help, moves } = explainRun(
        run({ status: 'running', dueAt: LATER, failures, ...facts }),
      );
      expect(text).toContain(sentence);
      expect([text.split(sentence).length, until]).toEqual([2, LATER]);
      expect(help).toContain('cause is fixed');
      expect(moves.some(({ words }) => words[1] === 'cancel')).toBe(!('cancellation' in facts));
    }
  });

  test('is explained by its running part first', () => {
    expect(explainRun(run({ status: 'running', failures, lease })).text).toMatch(/^Running/);
    expect(explainRun(run({ status: 'running', failures, steps: retrying })).text).toContain(
      'will be retried',
    );
  });
});
