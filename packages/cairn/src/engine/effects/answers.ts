/**
 * Records the outcome of a call as soon as it is known (E2), conditional on the version that the caller wrote, so that
 * a response that arrives after a different resolution changes nothing and is kept as evidence.
 *
 * Must not: call anything, or know the journal.
 */
import type { EffectRecord, FailedChange, RecordedChange } from '../../core/effects/effect.ts';
import { OVERTAKEN, tryToChange } from '../../journal/change-versioned.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import type { Version } from '../../ports/run-store.ts';
import type { LedgerDeps } from './effect-call.ts';

type AnswerChange = RecordedChange | FailedChange;

export interface WrittenEffect {
  readonly effectId: string;
  readonly bindingCallId: string;
  /** Version of the row after this call's write; undefined if the store did not report it. */
  readonly seen: Version | undefined;
}

/** `late`: the effect was resolved differently before the answer arrived. */
export async function recordAnswer(
  deps: LedgerDeps,
  written: WrittenEffect,
  change: AnswerChange,
): Promise<'kept' | 'late'> {
  const { effectId, bindingCallId } = written;
  const seen = written.seen ?? (await versionOfOwn(deps, written));
  if (seen !== undefined) {
    const version = seen;
    const { kind } = await sendUntilKnown(deps, () => deps.effects.change(effectId, version, change));
    // An earlier sending of the same write may have been applied although its answer was lost.
    if (kind === 'changed' || isSame((await current(deps, effectId)).record, bindingCallId, change))
      return 'kept';
  }
  await keepEvidence(deps, effectId, change);
  return 'late';
}

/** The version of the row if it still bears this call's mark. */
async function versionOfOwn(
  deps: LedgerDeps,
  { effectId, bindingCallId }: WrittenEffect,
): Promise<Version | undefined> {
  const { record, version } = await current(deps, effectId);
  return record.status === 'attempted' && record.bindingCallId === bindingCallId ? version : undefined;
}

function isSame(row: EffectRecord, bindingCallId: string, { status, responseHash }: AnswerChange): boolean {
  return row.bindingCallId === bindingCallId && row.status === status && row.responseHash === responseHash;
}

async function keepEvidence(
  deps: LedgerDeps,
  effectId: string,
  { responseHash, error, updatedAt }: AnswerChange,
): Promise<void> {
  const lateAnswer = { at: updatedAt, responseHash, error };
  let seen = {};
  await tryToChange(async () => {
    const { record, version } = await current(deps, effectId);
    const { runId, status } = record;
    const change = { lateAnswer, updatedAt };
    const { kind } = await sendUntilKnown(deps, () => deps.effects.change(effectId, version, change));
    seen = { runId, status, kind };
    return kind === 'changed' ? undefined : OVERTAKEN;
  });
  deps.log.warn('effect_answered_late', { effectId, ...seen });
}

async function current(deps: LedgerDeps, effectId: string) {
  const found = await sendUntilKnown(deps, () => deps.effects.read(effectId));
  if (!found) throw new Error(`effect ${effectId} no longer exists`);
  return found;
}
