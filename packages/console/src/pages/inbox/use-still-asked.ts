/** Asks the run of a question whether it is still open, where the loaded pages of the inbox do not have it. */
import { useAnswer } from '../../session/use-answer.ts';
import { useEffectRow } from '../run/actions/effect-row.ts';
import { effectFacts, isResolvedByPerson } from '../run/effects/words.ts';
import type { InboxItem } from './item.ts';

/** As often as the inbox: the answer of another person disables the form. */
const EVERY_MS = 10_000;

/**
 * Asks the run of the question, for as long as `isUnknown`; false otherwise. True until an answer says that it is not open: the API
 * refuses what came too late.
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
  // No event of the run says that it was resolved: it is read as often as the run.
  const { data: effect } = useEffectRow(runId, effectId ?? '', {
    version: dataUpdatedAt,
    enabled: isUnknown && isLeft,
  });
  if (!isUnknown) return false;
  if (run === undefined) return true;
  // A run that has ended waits for nothing; what it left in doubt is known by the ledger.
  if (isLeft) return !effect || isResolvedByPerson(effect, effectFacts(run, true));
  const isAsked = run.waits.some((wait) =>
    effectId === undefined ? wait.id === waitId : wait.effectId === effectId,
  );
  return isAsked || run.waitCount > run.waits.length;
}
