/**
 * Predicts how a successor handles effects that earlier runs recorded in the steps that it runs again. The ledger decides
 * (effects/decision.ts). The requests are not known yet, so each is assumed to be unchanged.
 *
 * Must not: read rows, or say which steps run (successor.ts).
 */

import {
  type DoubtRemedy,
  type EffectRequest,
  effectDecision,
  inheritedEffectDecision,
  type Rows,
} from '../effects/decision.ts';
import { type EffectRecord, isWithoutCall } from '../effects/effect.ts';
import { type EffectPlace, effectKey } from '../effects/keys.ts';
import type { EffectScope, StepRef } from '../run/events.ts';
import { stepKey } from '../run/state.ts';

/** Facts about a capability and its binding from the deployed definition. */
export type CapabilityFacts = Pick<
  EffectRequest,
  'idempotency' | 'replayPolicy' | 'requiresConfirmation' | 'hasLookup'
>;

interface EffectsOf {
  readonly rootRunId: string;
  /** Scopes of the source: its replays and forks, newest first. */
  readonly scopes: readonly EffectScope[];
  readonly mode: 'resume' | 'replay' | 'fork';
  /** Rows of all runs of the lineage, in any order. */
  readonly rows: readonly EffectRecord[];
  /** The revision at which the execution with this key runs; undefined: it does not run. */
  readonly revisionOf: (stepKey: string) => number | undefined;
  /** Undefined if the capability is no longer deployed. */
  readonly capabilityOf: (stepId: string, capabilityId: string) => CapabilityFacts | undefined;
}

export interface ForecastEffect extends StepRef, Pick<EffectRecord, 'effectId' | 'runId' | 'capabilityId'> {
  /** `asked`: a person decides first. */
  readonly action: 'reused' | 're-executed' | 'asked' | 'looked_up';
  readonly why: 'recorded' | 'policy' | 'not_applied' | 'in_doubt';
}

export function forecastEffects(of: EffectsOf): ForecastEffect[] {
  return callsOf(of).flatMap((call) => forecastOf(of, call) ?? []);
}

/** One call of a body: its rows by the scope in which they were made, the newest first, in the order of the ledger lookup. */
interface CallRows {
  /** Rows of the resumed replay or fork, for calls that it made again. */
  readonly own: Rows;
  readonly before: readonly Rows[];
}

function forecastOf({ scopes, mode, capabilityOf }: EffectsOf, call: CallRows): ForecastEffect | undefined {
  const scope = mode === 'resume' ? scopes[0] : { runId: '', mode };
  const rows = hasActed(call.own) ? call.own : call.before.find(hasActed);
  const acted = rows?.find(isAction);
  if (!rows || !acted) return undefined;
  const { effectId, runId, stepId, itemKey, revision, capabilityId, requestHash } = acted;
  const facts = capabilityOf(stepId, capabilityId) ?? {
    idempotency: 'not_supported' as const,
    replayPolicy: acted.replayPolicy,
    hasLookup: false,
  };
  const request = { ...facts, requestHash };
  const isOwn = rows === call.own || scope === undefined;
  const refusedByPolicy = call.own.find(({ blockedBy }) => blockedBy === 'policy');
  const decision = isOwn
    ? effectDecision(rows, request)
    : inheritedEffectDecision(rows, request, scope, refusedByPolicy);
  // A new action under its own key has not been confirmed yet.
  const isUnconfirmed = decision.kind === 'own' && facts.requiresConfirmation;
  const { action, why } = expectedAction(isUnconfirmed ? { kind: 'confirm' } : decision, acted);
  return { effectId, runId, stepId, itemKey, revision, capabilityId, action, why };
}

function expectedAction(
  decision: { readonly kind: string; readonly remedy?: DoubtRemedy },
  acted: EffectRecord,
): Pick<ForecastEffect, 'action' | 'why'> {
  switch (decision.kind) {
    case 'reuse':
      return { action: 'reused', why: 'recorded' };
    case 'ask':
    case 'confirm':
      return { action: 'asked', why: 'policy' };
    case 'doubt':
      if (decision.remedy === 'ask') return { action: 'asked', why: 'in_doubt' };
      return { action: decision.remedy === 'lookup' ? 'looked_up' : 're-executed', why: 'in_doubt' };
    default:
      return { action: 're-executed', why: acted.status === 'failed' ? 'not_applied' : 'policy' };
  }
}

/** Groups the rows of the steps that run again by the call that made them. */
function callsOf({ rows, rootRunId, scopes, mode, revisionOf }: EffectsOf): CallRows[] {
  const byKey = Map.groupBy(rows, ({ idempotencyKey }) => idempotencyKey);
  const calls = new Map<string, EffectPlace>();
  for (const row of rows) {
    const { stepId, itemKey, revision, capabilityId, call } = row;
    if (call === undefined || revisionOf(stepKey(row)) !== revision) continue;
    const place = { rootRunId, stepId, itemKey, revision, capabilityId, call };
    calls.set(JSON.stringify([stepId, itemKey, capabilityId, call]), place);
  }
  const own = mode === 'resume' ? scopes.slice(0, 1) : [];
  const older = mode === 'resume' ? scopes.slice(1) : scopes;
  return [...calls.values()].map((place) => {
    const at = (scope?: EffectScope) => {
      const key = effectKey({ ...place, scope: scope?.runId });
      return [...(byKey.get(key) ?? [])].sort((a, b) => b.n - a.n);
    };
    return { own: own.flatMap(at), before: [...older.map(at), at()] };
  });
}

function hasActed(rows: Rows): boolean {
  return rows.some(isAction);
}

/** False for rows without a call of their own: questions, refusals, and results reused from another row. */
function isAction(row: EffectRecord): boolean {
  return row.status !== 'reused' && !isWithoutCall(row);
}
