/** Questions to an operator before an effect is performed (E6). The row that asks is written with the question. */
import type { EffectRecord, EffectWrite } from '../../core/effects/effect.ts';
import type { StoredEffect } from '../../ports/runs/effect-store.ts';
import { type ActEnd, type EffectAsk, type PerformCall, rowWithoutCall } from './effect-call.ts';
import type { LedgerPlace } from './place.ts';
import { type BlockedEffect, blockedRow, type NewRow } from './rows.ts';

/** The policy wants consent to a repetition. */
export function askFirst(effectCall: PerformCall, place: LedgerPlace, origin: EffectRecord): ActEnd {
  const { caller } = effectCall;
  const { asked } = place;
  if (asked && asked.record.resolution === undefined) return asking(effectCall, asked, 'policy');
  const error = `'${caller.capability.id}' was performed before: an operator decides whether to repeat it`;
  return askAnew(effectCall, place.own, { by: 'policy', error, origin });
}

/** The capability wants consent to the first call. */
export function confirmFirst(
  effectCall: PerformCall,
  place: LedgerPlace,
  { n, asked }: Extract<LedgerPlace['verdict'], { kind: 'confirm' }>,
): ActEnd {
  if (asked) return asking(effectCall, place.stored(asked), 'confirmation');
  const { caller } = effectCall;
  const error = `'${caller.capability.id}' requires confirmation by an operator`;
  return askAnew(effectCall, { key: place.key, n }, { by: 'confirmation', error });
}

/** Asks with a new row, which blocks the call until there is an answer. */
function askAnew(
  effectCall: PerformCall,
  { key, n }: Pick<NewRow, 'key' | 'n'>,
  blocked: BlockedEffect & { readonly by: EffectAsk['why'] },
): ActEnd {
  const row = blockedRow(effectCall.caller, rowWithoutCall(effectCall, key, n), blocked);
  const { effectId, capabilityId } = row;
  return {
    kind: 'ask',
    ask: { effectId, capabilityId, why: blocked.by, write: { kind: 'create', record: row }, row },
  };
}

export function asking(
  { caller, deps }: PerformCall,
  { record, version }: StoredEffect,
  why: EffectAsk['why'],
): ActEnd {
  const { effectId, capabilityId, runId } = record;
  const { id } = caller.state;
  const askedBy = runId === id ? {} : { askedBy: id };
  const change = { status: 'blocked' as const, blockedBy: why, ...askedBy, updatedAt: deps.clock.now() };
  const write: EffectWrite = { kind: 'change', effectId, seen: version, change };
  return { kind: 'ask', ask: { effectId, capabilityId, why, write, row: record } };
}
