import type { BulkResult } from '@cairn/client';
import { expect, test } from '@jest/globals';
import {
  doneText,
  filtersFor,
  meantText,
  questionIn,
  restingFilter,
  targetDecision,
} from '../../../packages/console/src/pages/runs/bulk/plan.ts';
import { STATUSES } from '../../../packages/console/src/pages/runs/filter/filter.ts';

const POSSIBLE: BulkResult = { runId: 'run_a', outcome: 'possible' };

test.each([
  [{ would: { would: 'end_at_once' } }, { isIncluded: true, what: 'ends at once' }],
  [
    { would: { would: 'ask_to_end' } },
    { isIncluded: true, what: 'ends once its steps have stopped and completed ones are undone' },
  ],
  [{ would: { would: 'continue' } }, { isIncluded: true, what: 'is dispatched again' }],
  [{ would: { would: 'nothing' } }, { isIncluded: false, why: 'nothing to do' }],
  [
    { stepId: 'agree', waitId: 'agree.1', would: { would: 'approve' } },
    { isIncluded: true, what: 'step agree is approved', question: { stepId: 'agree', waitId: 'agree.1' } },
  ],
  [
    { outcome: 'failed', problem: { title: 'No', detail: 'the version is not deployed' } },
    { isIncluded: false, why: 'the version is not deployed' },
  ],
  [
    { would: { would: 'start_successor', stepsReused: 1, stepsRun: 2 } },
    { isIncluded: true, what: 'starts a new run: 1 step reused, 2 steps to run' },
  ],
  [
    { would: { would: 'start_successor', stepsReused: 0, stepsRun: 1, effectsRepeated: 2, effectsAsked: 1 } },
    {
      isIncluded: true,
      what: 'starts a new run: 0 steps reused, 1 step to run; 2 side effects repeated; a person is asked about 1 side effect',
    },
  ],
] as [Partial<BulkResult>, object][])('what a dry run like %j says is said', (part, decision) => {
  expect(targetDecision({ ...POSSIBLE, ...part } as BulkResult)).toEqual(decision);
});

test.each([
  ['cancel', { status: 'cancelled' }, 'cancelled'],
  ['cancel', { status: 'cancelling' }, 'cancel requested'],
  ['resume', { outcome: 'resumed' }, 'resumed'],
  ['resume', { outcome: 'moving' }, 'was not blocked'],
  ['resume', { runId: 'run_b', status: 'pending' }, 'started a new run'],
  ['replay', { runId: 'run_b', status: 'pending' }, 'started a new run'],
  ['approve', { decision: 'approve' }, 'approved'],
] as const)('to %s is reported by its answer %j: %s', (mode, answer, text) => {
  expect(doneText(mode, { ...POSSIBLE, outcome: 'done', answer } as unknown as BulkResult)).toBe(text);
});

test('a bulk change searches only statuses that it applies to, unless the filter names one', () => {
  const looked = (mode: 'cancel' | 'resume' | 'approve') =>
    filtersFor(mode, { type: 'review' }).map(({ status }) => status);
  expect(new Set([...looked('cancel'), 'completed', 'failed', 'cancelled'])).toEqual(new Set(STATUSES));
  expect(looked('resume')).toContain('failed');
  expect(looked('resume')).not.toContain('completed');
  expect(looked('approve')).toEqual(['awaiting_approval']);
  expect(filtersFor('approve', { match: 'amount>100', sort: 'oldest' })).toEqual([
    { match: 'amount>100', status: 'awaiting_approval' },
  ]);
  expect(meantText('approve', {})).toBe('those that are awaiting approval');
  expect(filtersFor('cancel', { status: 'completed' })).toEqual([{ status: 'completed' }]);
  expect(meantText('resume', {})).toBe(
    'those that are interrupted, waiting external, failed or cancelled, and those backing off after a failed dispatch',
  );
  expect(restingFilter('resume', { type: 'review' })).toEqual({
    type: 'review',
    status: 'pending,running,replaying',
  });
  expect([restingFilter('resume', { status: 'failed' }), restingFilter('cancel', {})]).toEqual([
    undefined,
    undefined,
  ]);
  expect(meantText('resume', { status: 'failed' })).toBeUndefined();
});

test.each([
  ['the question of the row', { stepId: 'agree', waitId: 'agree.1' }, 'Refund O-1?'],
  ['that of an item', { stepId: 'agree[2]', waitId: 'agree[2].1' }, 'Refund O-2?'],
  ['no earlier question of the step', { stepId: 'agree', waitId: 'agree.2' }, undefined],
  ['no question for a change without one', {}, undefined],
  ['no question for another change', undefined, undefined],
])('a change shows %s', (_, question, text) => {
  const questions = [
    { waitId: 'agree.1', text: 'Refund O-1?' },
    { waitId: 'agree[2].1', text: 'Refund O-2?' },
  ];
  expect(questionIn({ questions }, question)).toBe(text);
});
