/** Plan of a bulk change: for each run whether and how it changes, or why not. Pure. */

import type { BulkResult } from '@cairn/client';
import { countOf } from '../../../parts/visible-text.ts';
import type { RunListFilter, RunStatusName } from '../filter/filter.ts';
import type { RunRow } from '../row.ts';

/** The modes in the order of their buttons. */
export const BULK_MODES = ['cancel', 'resume', 'replay', 'approve'] as const;
export type BulkMode = (typeof BULK_MODES)[number];

export const VERBS: Readonly<Record<BulkMode, string>> = {
  cancel: 'Cancel',
  resume: 'Resume',
  replay: 'Replay',
  approve: 'Approve',
};

export type TargetDecision =
  | { readonly isIncluded: true; readonly what: string; readonly question?: AnsweredQuestion }
  | { readonly isIncluded: false; readonly why: string };

/** The approval that is given: later questions are not answered. */
export type AnsweredQuestion = Pick<BulkResult, 'stepId' | 'waitId'>;

/** Statuses that the change applies to. Matching runs of other statuses are not checked. */
const MEANT: Readonly<Record<BulkMode, readonly RunStatusName[]>> = {
  cancel: ['running', 'replaying', 'pending', 'awaiting_approval', 'waiting_external', 'interrupted'],
  resume: ['interrupted', 'waiting_external', 'failed', 'cancelled'],
  replay: ['completed', 'failed', 'cancelled'],
  approve: ['awaiting_approval'],
};

/**
 * Filters to read in turn: a filter without a status becomes one per status that the change applies to. The sort order is
 * dropped, because it does not affect which runs match, and costs reads.
 */
export function filtersFor(mode: BulkMode, { sort: _, ...filter }: RunListFilter): readonly RunListFilter[] {
  if (filter.status !== undefined) return [filter];
  return MEANT[mode].map((status) => ({ ...filter, status }));
}

/** The filter for running runs, some of which can be resumed because they back off after a failed dispatch. */
export function restingFilter(mode: BulkMode, filter: RunListFilter): RunListFilter | undefined {
  if (mode !== 'resume' || filter.status !== undefined) return undefined;
  return { ...filter, status: 'pending,running,replaying' };
}

/** `those that are interrupted, …`; undefined if the filter names a status. */
export function meantText(mode: BulkMode, filter: RunListFilter): string | undefined {
  if (filter.status !== undefined) return undefined;
  const words = MEANT[mode].map((status) => status.replaceAll('_', ' '));
  const [last] = words.slice(-1);
  if (words.length === 1) return `those that are ${last}`;
  const resting = mode === 'resume' ? ', and those backing off after a failed dispatch' : '';
  return `those that are ${words.slice(0, -1).join(', ')} or ${last}${resting}`;
}

/** @param result of a dry run */
export function targetDecision({ would, problem, stepId, waitId }: BulkResult): TargetDecision {
  if (!would) return { isIncluded: false, why: problem?.detail ?? 'the API gave no reason' };
  switch (would.would) {
    case 'nothing':
      return { isIncluded: false, why: 'nothing to do' };
    case 'end_at_once':
      return { isIncluded: true, what: 'ends at once' };
    case 'ask_to_end':
      return { isIncluded: true, what: 'ends once its steps have stopped and completed ones are undone' };
    case 'continue':
      return { isIncluded: true, what: 'is dispatched again' };
    case 'approve':
      return { isIncluded: true, what: `step ${stepId} is approved`, question: { stepId, waitId } };
    case 'start_successor':
      return { isIncluded: true, what: successorText(would) };
  }
}

/** Text of the question that is approved; undefined if the row, which may be older, has another one. */
export function questionIn(
  { questions }: Pick<RunRow, 'questions'>,
  question: AnsweredQuestion | undefined,
): string | undefined {
  return questions.find(({ waitId }) => waitId === question?.waitId)?.text;
}

type Would = NonNullable<BulkResult['would']>;

function successorText({
  stepsReused = 0,
  stepsRun = 0,
  effectsRepeated = 0,
  effectsAsked = 0,
}: Would): string {
  const parts = [
    `starts a new run: ${countOf(stepsReused, 'step')} reused, ${countOf(stepsRun, 'step')} to run`,
    effectsRepeated > 0 && `${countOf(effectsRepeated, 'side effect')} repeated`,
    effectsAsked > 0 && `a person is asked about ${countOf(effectsAsked, 'side effect')}`,
  ];
  return parts.filter(Boolean).join('; ');
}

/** The outcome for the run, in words. */
export function doneText(mode: BulkMode, { answer }: BulkResult): string {
  if (mode === 'approve') return 'approved';
  if (!answer) return 'done';
  if ('outcome' in answer) return answer.outcome === 'resumed' ? 'resumed' : 'was not blocked';
  if (mode === 'cancel')
    return 'status' in answer && answer.status === 'cancelled' ? 'cancelled' : 'cancel requested';
  return 'started a new run';
}
