/**
 * Ledger lookup of an effect call: its keys, and the rows under them. A run that is not a replay or fork has one key
 * per call. A replay or fork reads its own key first (repeated calls), then those of the replays and forks it was made
 * from, then that of the lineage (E4, E6).
 */

import {
  type EffectDecision,
  type EffectRequest,
  effectDecision,
  type InheritedEffectDecision,
  inheritedEffectDecision,
} from '../../core/effects/decision.ts';
import { type EffectRecord, isWithoutCall } from '../../core/effects/effect.ts';
import { effectKey } from '../../core/effects/keys.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import type { StoredEffect } from '../../ports/runs/effect-store.ts';
import type { PerformCall } from './effect-call.ts';

export interface LedgerLookup {
  readonly key: string;
  /** The newest first. */
  readonly rows: readonly EffectRecord[];
  readonly decision: EffectDecision | Extract<InheritedEffectDecision, { kind: 'ask' }>;
  /** Key and row number under which the run makes the call again, or asks for permission. */
  readonly own: { readonly key: string; readonly n: number };
  /** The row with which a replay or fork asked whether to repeat the call, answered or not. */
  readonly policyQuestion: StoredEffect | undefined;
  /** The row with the version it was read in. */
  stored(row: EffectRecord): StoredEffect;
}

/** @throws Error if a key has more rows than a lineage may have */
export async function lookUpLedger(effectCall: PerformCall): Promise<LedgerLookup> {
  const { caller } = effectCall;
  const request = requestOf(effectCall);
  const [scope, ...older] = caller.state.effectScopes ?? [];
  const base = keyIn(effectCall, undefined);
  if (!scope) return lookupOf(base, await read(effectCall, base), request);

  const own = keyIn(effectCall, scope.runId);
  const ownRows = await read(effectCall, own);
  if (hasActed(ownRows)) return lookupOf(own, ownRows, request);
  const policyQuestion = ownRows.find(({ record }) => record.blockedBy === 'policy');
  const acting = { key: own, n: (ownRows[0]?.record.n ?? 0) + 1 };
  const { id, resumedFrom } = caller.state;
  const continuedIn = resumedFrom === undefined ? [id] : [id, resumedFrom];
  let rowsOfBase: readonly StoredEffect[] | undefined;
  for (const key of [...older.map(({ runId }) => keyIn(effectCall, runId)), base]) {
    const rows = await read(effectCall, key);
    if (key === base) rowsOfBase = rows;
    if (!hasActed(rows)) continue;
    const decision = inheritedEffectDecision(
      records(rows),
      request,
      { ...scope, continuedIn },
      policyQuestion?.record,
    );
    if (decision.kind === 'own') break;
    return {
      key,
      rows: records(rows),
      decision,
      own: acting,
      policyQuestion,
      stored: storedIn(rows),
    };
  }
  // A first call in the lineage is made for the whole lineage, unless each run calls by itself.
  const shared = scope.mode === 'replay' && request.replayPolicy === 'use_recorded_result';
  if (shared) {
    const rows = rowsOfBase ?? (await read(effectCall, base));
    if (!hasActed(rows)) return lookupOf(base, rows, request);
  }
  return lookupOf(own, ownRows, request);
}

function lookupOf(key: string, rows: readonly StoredEffect[], request: EffectRequest): LedgerLookup {
  const own = { key, n: (rows[0]?.record.n ?? 0) + 1 };
  const found = records(rows);
  return {
    key,
    rows: found,
    decision: effectDecision(found, request),
    own,
    policyQuestion: undefined,
    stored: storedIn(rows),
  };
}

function requestOf({ caller, request, restoredAt }: PerformCall): EffectRequest {
  const { capability, binding } = caller;
  const { idempotency, replayPolicy, requiresConfirmation = false } = capability;
  const hasLookup = binding.lookup !== undefined;
  return {
    requestHash: request.hash,
    idempotency,
    replayPolicy,
    requiresConfirmation,
    hasLookup,
    restoredAt,
  };
}

function keyIn({ caller, call, undo }: PerformCall, scope: string | undefined): string {
  const { state, execution, capability } = caller;
  const { stepId, itemKey, revision } = execution;
  const position = {
    rootRunId: state.rootRunId,
    stepId,
    itemKey,
    revision,
    capabilityId: capability.id,
    call,
  };
  return effectKey({ ...position, undo, scope });
}

async function read({ deps, mayHaveRows }: PerformCall, key: string): Promise<readonly StoredEffect[]> {
  return mayHaveRows ? sendUntilKnown(deps, () => deps.effects.rowsOf(key)) : [];
}

function hasActed(rows: readonly StoredEffect[]): boolean {
  return rows.some(({ record }) => !isWithoutCall(record));
}

function records(rows: readonly StoredEffect[]): readonly EffectRecord[] {
  return rows.map(({ record }) => record);
}

function storedIn(rows: readonly StoredEffect[]): LedgerLookup['stored'] {
  return (row) => {
    const found = rows.find(({ record }) => record.effectId === row.effectId);
    if (!found) throw new Error(`effect ${row.effectId} was not read`);
    return found;
  };
}
