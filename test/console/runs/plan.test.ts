import { expect, test } from '@jest/globals';
import type { Answer } from '../../../packages/console/src/api/client.ts';
import {
  cancelVerdict,
  filtersFor,
  meantText,
  resumeVerdict,
} from '../../../packages/console/src/pages/runs/bulk/plan.ts';
import { STATUSES } from '../../../packages/console/src/pages/runs/filter/filter.ts';

test.each([
  [{ status: 'pending', isOver: false }, true, 'ends at once'],
  [{ status: 'running', isOver: false }, true, 'ends at its next step'],
  [{ status: 'awaiting_approval', isOver: false }, true, 'ends at once'],
  [{ status: 'running', isOver: false, mark: 'being cancelled' }, false, 'is being cancelled already'],
  [{ status: 'completed', isOver: true }, false, 'has ended'],
])('to cancel %j hits it: %p, %s', (row, isHit, text) => {
  const verdict = cancelVerdict(row);
  expect(verdict).toEqual(isHit ? { isHit, what: text } : { isHit, why: text });
});

type Preview = Answer<'SuccessorPreview'>;
const PREVIEW = { would: 'start_successor', blockers: [], steps: [], effects: [] } as unknown as Preview;
const step = (action: string) => ({ action }) as Preview['steps'][number];
const effect = (action: string) => ({ action }) as Preview['effects'][number];

test.each([
  [{ would: 'unpark' }, { isHit: true, what: 'continues' }],
  [{ would: 'nothing' }, { isHit: false, why: 'is running already' }],
  [
    { blockers: [{ title: 'No', detail: 'the version is not deployed' }] },
    { isHit: false, why: 'the version is not deployed' },
  ],
  [
    { steps: [step('reused'), step('runs'), step('runs')], effects: [effect('reused')] },
    { isHit: true, what: 'a new run: 1 step reused, 2 steps to run' },
  ],
  [
    { steps: [step('runs')], effects: [effect('asked'), effect('re-executed'), effect('re-executed')] },
    {
      isHit: true,
      what: 'a new run: 0 steps reused, 1 step to run; 2 effects repeated; 1 question to a person',
    },
  ],
] as [Partial<Preview>, object][])('what a preview like %j says is said', (part, verdict) => {
  expect(resumeVerdict({ ...PREVIEW, ...part })).toEqual(verdict);
});

test('of all runs only those are looked for that the change is for; a status that was asked for is', () => {
  const looked = (mode: 'cancel' | 'resume') =>
    filtersFor(mode, { type: 'review' }).map(({ status }) => status);
  expect(new Set([...looked('cancel'), 'completed', 'failed', 'cancelled'])).toEqual(new Set(STATUSES));
  expect(looked('resume')).toContain('failed');
  expect(looked('resume')).not.toContain('completed');
  expect(filtersFor('cancel', { status: 'completed' })).toEqual([{ status: 'completed' }]);
  expect(meantText('resume', {})).toBe('those that are interrupted, waiting external, failed or cancelled');
  expect(meantText('resume', { status: 'failed' })).toBeUndefined();
});
