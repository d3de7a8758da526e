/** Questions to an operator before an effect is performed (E6). The row that asks is written with the question. */
import type { EffectRecord, EffectWrite, RecordedEffect } from '../../core/effects/effect.ts';
import type { StoredEffect } from '../../ports/runs/effect-store.ts';
import { type ActEnd, type EffectAsk, type PerformCall, rowWithoutCall } from './effect-call.ts';
import type { LedgerPlace } from './place.ts';
import { confirmationRow, repeatingRow } from './rows.ts';

/** The policy requires consent to a repetition. */
export function askFirst(effectCall: PerformCall, place: LedgerPlace, origin: RecordedEffect): ActEnd {
  const { caller } = effectCall;
  const { openQuestion, own } = place;
  if (openQuestion && openQuestion.record.resolution === undefined)
    return asking(effectCall, openQuestion, 'policy');
  const error = `'${caller.capability.id}' was performed before: an operator decides whether to repeat it`;
  const row = rowWithoutCall(effectCall, own.key, own.n);
  return askAnew(repeatingRow(caller, row, { by: 'policy', error, origin }), 'policy');
}

/**
 * The capability or a policy requires consent to the first call.
 *
 * @param reason given by the policy
 */
export function confirmFirst(
  effectCall: PerformCall,
  place: LedgerPlace,
  { n, asked }: Extract<LedgerPlace['decision'], { kind: 'confirm' }>,
  reason?: string,
): ActEnd {
  if (asked) return asking(effectCall, place.stored(asked), 'confirmation');
  const row = rowWithoutCall(effectCall, place.key, n);
  return askAnew(confirmationRow(effectCall.caller, row, reason), 'confirmation');
}

/** Asks with a new row, which blocks the call until there is an answer. */
function askAnew(row: EffectRecord, why: EffectAsk['why']): ActEnd {
  const { effectId, capabilityId } = row;
  const write: EffectWrite = { kind: 'create', record: row };
  return { kind: 'ask', ask: { effectId, capabilityId, why, write, row } };
}

export function asking(
  { caller, deps }: PerformCall,
  { record, version }: StoredEffect,
  why: EffectAsk['why'],
): ActEnd {
  const { effectId, capabilityId, runId } = record;
  const { id } = caller.state;
  const askedBy = runId === id ? record.askedBy : id;
  const change = { status: 'blocked' as const, blockedBy: why, askedBy, updatedAt: deps.clock.now() };
  const write: EffectWrite = { kind: 'change', effectId, seen: version, change };
  return { kind: 'ask', ask: { effectId, capabilityId, why, write, row: record } };
}
