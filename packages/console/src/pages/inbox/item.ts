/** One open question as the API lists it, and its text. Pure. */
import type { Answer } from '../../api/client.ts';
import type { AskedKind } from '../run/actions/decisions.ts';

export type InboxItem = Answer<'InboxPage'>['items'][number];

export const KINDS: Readonly<Record<InboxItem['kind'], string>> = {
  approval: 'Approval',
  step_in_doubt: 'Step in doubt',
  budget_reached: 'Budget reached',
  effect_in_doubt: 'Side effect in doubt',
  left_in_doubt: 'Left in doubt',
};

/** A stable key of a question, for every read of the list. */
export function itemKeyOf({ runId, waitId, effectId, step }: InboxItem): string {
  return [runId, waitId ?? '', effectId ?? '', step].join(' ');
}

/** True only for an approval: a rejection of another question has another meaning, which the form states. */
export function canReject({ kind, answers }: InboxItem): boolean {
  return kind === 'approval' && answers.includes('reject');
}

/**
 * True only for an approval without data. For a step in doubt, the same decision would run it again, which one click must
 * not do.
 */
export function canApprove({ kind, answers, dataSchema }: InboxItem): boolean {
  return kind === 'approval' && answers.includes('approve') && dataSchema === undefined;
}

export function askedIn(kind: InboxItem['kind']): AskedKind {
  if (kind === 'budget_reached') return 'budget';
  return kind === 'step_in_doubt' ? 'doubt' : 'approval';
}
