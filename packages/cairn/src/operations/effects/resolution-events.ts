/**
 * Writes of each resolution: the row, the end of the wait, and the consequences for the step, in one commit. Pure.
 *
 * Must not: decide whether the effect is still open.
 */

import type { EffectChange, StoredResponse } from '../../core/effects/effect.ts';
import { canonicalJson } from '../../core/encoding/json.ts';
import { CairnError } from '../../core/errors.ts';
import type { EventDraft, RecordedError, Wait } from '../../core/run/events.ts';
import { type RunState, stepKey } from '../../core/run/state.ts';
import type { WorkflowRegistry } from '../../engine/define/registry.ts';
import { planMissing, workflowOf } from '../../engine/definition-of-run.ts';
import * as build from '../../engine/recording/event-builders.ts';
import * as endOfWait from '../../engine/waits/end-of-wait.ts';
import type { StoredEffect } from '../../ports/runs/effect-store.ts';
import type { ResolveRequest } from './resolution.ts';

/** The operator's additions, as stored. */
export interface ResolutionContent {
  readonly answer?: StoredResponse;
}

export interface Resolving {
  readonly registry: WorkflowRegistry;
  readonly state: RunState;
  readonly wait: Wait;
  readonly stored: StoredEffect;
  readonly request: ResolveRequest;
  readonly content: ResolutionContent;
  /** Epoch ms. */
  readonly now: number;
}

/** The open question about the effect. */
export function waitFor({ waits }: RunState, effectId: string): Wait | undefined {
  return waits.find((wait) => wait.purpose === 'effect' && wait.effectId === effectId);
}

/** @throws CairnError RUN_INVALID_TRANSITION, PLAN_VERSION_UNAVAILABLE */
export function resolutionEvents(resolving: Resolving): EventDraft[] {
  const { state, wait, request } = resolving;
  if (state.cancellation || state.compensating) {
    const why = state.cancellation ? 'is being cancelled' : 'has failed and is running compensations';
    throw new CairnError('RUN_INVALID_TRANSITION', `the run ${why}: its effects can no longer be resolved`);
  }
  const key = stepKey(wait.execution);
  return [
    settledBy(resolving),
    ...outcomeFor(resolving),
    ...endOfWait.resumptionDrafts(state, `effect of '${key}': ${request.outcome}`, {
      initiator: 'approval',
      actor: request.actor,
    }),
  ];
}

/** Event with the outcome of the effect, and the row that records it. */
function settledBy({ wait, stored, request, content, now }: Resolving): EventDraft {
  const { effectId, outcome, actor } = request;
  const { record, version: seen } = stored;
  const { capabilityId } = record;
  const responseHash = record.resolution ? record.responseHash : content.answer?.responseHash;
  const isKnown = record.blockedBy !== 'policy' && outcome !== 're-execute';
  return {
    type: 'effect_settled',
    initiator: 'user',
    actor,
    data: {
      ...build.refOf(wait.execution),
      effectId,
      capabilityId,
      outcome: isKnown ? outcome : 'blocked',
      by: 'person',
      responseHash,
    },
    // The row was resolved for another run that also asked, so only this run's wait ends.
    effect: record.resolution
      ? undefined
      : { kind: 'change', effectId, seen, change: resolutionOf({ stored, request, content, now }) },
  };
}

/**
 * Change of the row: author, time, kind and reason of the resolution. For a question about a repetition, and for a doubt that another
 * call may resolve, the status is unchanged and the answer is added.
 */
export function resolutionOf({
  stored,
  request,
  content,
  now,
}: Pick<Resolving, 'stored' | 'request' | 'content' | 'now'>): EffectChange {
  const { outcome, actor, note } = request;
  const noted = { resolution: { outcome, by: actor, at: now, note }, updatedAt: now };
  if (stored.record.blockedBy === 'policy' || outcome === 're-execute') return noted;
  if (outcome === 'failed') return { ...noted, status: outcome, blockedBy: undefined };
  if (!content.answer) throw new Error(`effect ${request.effectId} cannot be recorded without a result`);
  return { ...noted, ...content.answer, status: outcome, blockedBy: undefined, error: undefined };
}

/** The step either starts again and finds the resolution in the ledger, or fails. */
function outcomeFor({ registry, state, wait, request, now }: Resolving): EventDraft[] {
  const { outcome, actor, note } = request;
  const answer = {
    initiator: 'approval' as const,
    actor,
    payloadText: canonicalJson({ effectId: request.effectId, outcome, note }),
  };
  const stepId = stepKey(wait.execution);
  const why = note === undefined ? '' : `: ${note}`;
  const message = `'${stepId}': ${actor} resolved the effect as '${outcome}'${why}`;
  const error: RecordedError = { code: 'EFFECT_IN_DOUBT', message, stepId, retryable: outcome !== 'failed' };
  if (outcome !== 'failed') {
    return [endOfWait.resolvedDraft(wait, answer), build.retryScheduled(wait.execution, { at: now, error })];
  }
  const step = workflowOf(registry, state)?.steps.get(wait.execution.stepId);
  if (!step) throw planMissing(registry, state, stepId);
  return endOfWait.refusalDrafts({ step, wait, now }, answer, error);
}
