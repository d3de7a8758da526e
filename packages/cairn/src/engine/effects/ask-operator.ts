/** Questions to an operator before an effect is performed (E6). The row that asks is written with the question. */
import type { EffectRecord, EffectWrite } from '../../core/effects/effect.ts';
import type { StoredEffect } from '../../ports/runs/effect-store.ts';
import type { LedgerPlace } from './place.ts';
import { blockedRow } from './rows.ts';
import { type ActEnd, type Ask, type PerformCall, rowWithoutCall } from './wish.ts';

/** The policy wants consent to a repetition. */
export function askFirst(effectCall: PerformCall, place: LedgerPlace, origin: EffectRecord): ActEnd {
  const { caller } = effectCall;
  const { asked } = place;
  if (asked && asked.record.resolution === undefined) return asking(effectCall, asked, 'policy');
  const error = `'${caller.capability.id}' was performed before: an operator decides whether to repeat it`;
  const { key, n } = place.own;
  const record = blockedRow(caller, rowWithoutCall(effectCall, key, n), { by: 'policy', error, origin });
  const { effectId, capabilityId } = record;
  return {
    kind: 'ask',
    ask: { effectId, capabilityId, why: 'policy', write: { kind: 'create', record }, row: record },
  };
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
  const row = blockedRow(caller, rowWithoutCall(effectCall, place.key, n), { by: 'confirmation', error });
  const { effectId, capabilityId } = row;
  return {
    kind: 'ask',
    ask: { effectId, capabilityId, why: 'confirmation', write: { kind: 'create', record: row }, row },
  };
}

export function asking(
  { caller, deps }: PerformCall,
  { record, version }: StoredEffect,
  why: Ask['why'],
): ActEnd {
  const { effectId, capabilityId, runId } = record;
  const { id } = caller.state;
  const askedBy = runId === id ? {} : { askedBy: id };
  const change = { status: 'blocked' as const, blockedBy: why, ...askedBy, updatedAt: deps.clock.now() };
  const write: EffectWrite = { kind: 'change', effectId, seen: version, change };
  return { kind: 'ask', ask: { effectId, capabilityId, why, write, row: record } };
}
