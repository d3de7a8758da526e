/**
 * Decides about an effect call, given its ledger rows: call, use the recorded result, look up the outcome first, or ask for a
 * decision (rules E1–E8 of ARCHITECTURE.md). Pure and total; `engine/effects` carries it out.
 */
import type { EffectScope } from '../run/events.ts';
import {
  type EffectRecord,
  type Idempotency,
  isWithoutCall,
  type RecordedEffect,
  type ReplayPolicy,
} from './effect.ts';

/** The rows of one key, the newest first. */
export type Rows = readonly EffectRecord[];

export interface EffectRequest {
  readonly requestHash: string;
  readonly idempotency: Idempotency;
  readonly replayPolicy: ReplayPolicy;
  /** True if a person must allow the action before the receiver is called. */
  readonly requiresConfirmation?: boolean;
  /** True if the binding can look up the outcome. */
  readonly hasLookup: boolean;
  /** Time of a restore, epoch ms: the run may have acted before it without a row in the ledger. */
  readonly restoredAt?: number | undefined;
}

export type DoubtRemedy = 'lookup' | 'call_again' | 'ask';

type PermissionDecision =
  /** `n`: number of the new row. */
  | { readonly kind: 'act'; readonly n: number }
  /** A person must allow it first. `n`: number of the row that asks; `openQuestion`: that row, if it exists without an answer. */
  | { readonly kind: 'confirm'; readonly n: number; readonly openQuestion?: EffectRecord | undefined };

export type EffectDecision =
  | PermissionDecision
  /** The call may have been made before the database was restored: a row records that, and is then in doubt. `n`: number of that row. */
  | { readonly kind: 'presume'; readonly n: number }
  | { readonly kind: 'reuse'; readonly origin: RecordedEffect }
  /** Another request was recorded under this key. */
  | { readonly kind: 'mismatch'; readonly origin: RecordedEffect }
  | { readonly kind: 'doubt'; readonly row: EffectRecord; readonly remedy: DoubtRemedy };

/**
 * Decision over the rows of a key that belong to this run: made by it, or by a run it resumes (E1–E5).
 *
 * A row whose call had no response is in doubt until it is resolved; a permission for another call applies once, to the
 * next row.
 */
export function effectDecision(rows: Rows, request: EffectRequest): EffectDecision {
  const decision = decisionOfRows(rows, request);
  const isNew = decision.kind === 'act' || decision.kind === 'confirm';
  return isNew && !isKnownSince(rows, request) ? { kind: 'presume', n: decision.n } : decision;
}

/** E8: true if the outcome was reported or a question was recorded after the restore. */
function isKnownSince(rows: Rows, { restoredAt }: EffectRequest): boolean {
  if (restoredAt === undefined) return true;
  return rows.some(
    ({ presumedAt, resolution }) =>
      presumedAt === restoredAt || (resolution !== undefined && resolution.at >= restoredAt),
  );
}

function decisionOfRows(rows: Rows, request: EffectRequest): EffectDecision {
  const n = (rows[0]?.n ?? 0) + 1;
  for (const row of rows) {
    if (isWithoutCall(row)) continue;
    switch (row.status) {
      case 'recorded':
        return row.requestHash === request.requestHash
          ? { kind: 'reuse', origin: row }
          : { kind: 'mismatch', origin: row };
      case 'attempted':
        return { kind: 'doubt', row, remedy: remedyFor(row, request) };
      case 'failed':
        return confirmedFirst(rows, request, n);
      case 'blocked':
        return row.resolution?.outcome === 're-execute'
          ? confirmedFirst(rows, request, n)
          : { kind: 'doubt', row, remedy: 'ask' };
      case 'reused':
    }
  }
  return confirmedFirst(rows, request, n);
}

function confirmedFirst(
  rows: Rows,
  { requiresConfirmation, requestHash }: EffectRequest,
  n: number,
): PermissionDecision {
  return requiresConfirmation ? permissionDecision(rows, requestHash, n) : { kind: 'act', n };
}

/** A person's permission holds for this request until a call succeeds, however many fail before. */
export function permissionDecision(rows: Rows, requestHash: string, n: number): PermissionDecision {
  const same = rows.filter((row) => row.requestHash === requestHash);
  if (same.some(({ resolution }) => resolution?.outcome === 're-execute')) return { kind: 'act', n };
  const confirmation = same.find(({ blockedBy, resolution }) => blockedBy === 'confirmation' && !resolution);
  return { kind: 'confirm', n, openQuestion: confirmation };
}

/** E5: a lookup or a repetition with another request would not concern the attempted call. */
function remedyFor(row: EffectRecord, { requestHash, hasLookup, idempotency }: EffectRequest): DoubtRemedy {
  if (row.requestHash !== requestHash) return 'ask';
  if (hasLookup) return 'lookup';
  return idempotency === 'required' ? 'call_again' : 'ask';
}

export type InheritedEffectDecision =
  /** The run's own rows decide: no row of earlier runs applies, or the run has already called again. */
  | { readonly kind: 'own' }
  | { readonly kind: 'reuse'; readonly origin: RecordedEffect }
  | { readonly kind: 'mismatch'; readonly origin: RecordedEffect }
  /** A person must decide whether the action is repeated. */
  | { readonly kind: 'ask'; readonly origin: RecordedEffect }
  /** The outcome was never known in the source run. */
  | { readonly kind: 'doubt'; readonly row: EffectRecord; readonly remedy: DoubtRemedy };

/**
 * Decision over the rows of earlier runs in a replay or fork (E4, E6).
 *
 * @param continuedIn resumes of the replay or fork
 * @param confirmation the row with which this run asked for a decision, if any
 */
export function inheritedEffectDecision(
  rows: Rows,
  request: EffectRequest,
  { mode, runId, continuedIn = [] }: EffectScope & { readonly continuedIn?: readonly string[] },
  confirmation?: EffectRecord,
): InheritedEffectDecision {
  const before = effectDecision(rows, request);
  if (before.kind === 'act' || before.kind === 'confirm' || before.kind === 'presume') return { kind: 'own' };
  if (before.kind === 'doubt') return before;
  // The run's own call, made to resolve a doubt, is not repeated.
  if (before.origin.runId === runId || continuedIn.includes(before.origin.runId)) return before;
  // In a fork another request is another action.
  if (before.kind === 'mismatch' && mode === 'fork') return { kind: 'own' };
  switch (request.replayPolicy) {
    case 'use_recorded_result':
      return before;
    case 'reexecute':
      return { kind: 'own' };
    case 'require_human':
      if (confirmation?.resolution?.outcome === 're-execute') return { kind: 'own' };
      return confirmation?.resolution?.outcome === 'recorded' && before.kind === 'reuse'
        ? before
        : { kind: 'ask', origin: before.origin };
  }
}
