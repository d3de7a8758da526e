/** Checks with the run whether a question is still open if the loaded pages of the inbox do not contain it. */
import { useAnswer } from '../../session/use-answer.ts';
import { useEffectRow } from '../run/actions/effect-row.ts';
import { effectFacts, isResolvedByPerson } from '../run/effects/words.ts';
import type { InboxItem } from './item.ts';

/** As often as the inbox: the answer of another person disables the form. */
const EVERY_MS = 10_000;

/**
 * Asks the run of the question while `isUnknown`; returns false otherwise. Returns true until an answer says that the question
 * is closed, because the API refuses a late decision anyway.
 */
export function useStillAsked(item: InboxItem, isUnknown: boolean): boolean {
  const { runId, kind, waitId, effectId } = item;
  const question = { params: { id: runId } };
  const { data: run, dataUpdatedAt } = useAnswer('/v1/runs/{id}', question, {
    enabled: isUnknown,
    refetchInterval: EVERY_MS,
    staleTime: 0,
  });
  const isLeft = kind === 'left_in_doubt';
  // No event reports that an effect was resolved, so it is read as often as the run.
  const { data: effect } = useEffectRow(runId, effectId ?? '', {
    version: dataUpdatedAt,
    enabled: isUnknown && isLeft,
  });
  if (!isUnknown) return false;
  if (run === undefined) return true;
  // An ended run has no waits, so the ledger says whether the effect is still in doubt.
  if (isLeft) return !effect || isResolvedByPerson(effect, effectFacts(run, true));
  const isAsked = run.waits.some((wait) =>
    effectId === undefined ? wait.id === waitId : wait.effectId === effectId,
  );
  return isAsked || run.waitCount > run.waits.length;
}
