/**
 * Records an operator's resolution of an effect that is in doubt, or that needs permission for a repetition. The first resolution
 * in the journal counts: the row, the end of the wait and the outcome of the step are one commit. For an ended run only the
 * row is settled (settle-left.ts).
 */
import { type EffectRecord, isInDoubt } from '../../core/effects/effect.ts';
import { CairnError, invalidInput } from '../../core/errors.ts';
import { isOver, type RunState, stepKey } from '../../core/run/state.ts';
import type { RunDeps } from '../../engine/deps.ts';
import { driveAfter } from '../../engine/drive-after.ts';
import { changeVersioned } from '../../journal/change-versioned.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import type { EffectStore, StoredEffect } from '../../ports/runs/effect-store.ts';
import { appendToRun, loadOwn } from '../append-to-run.ts';
import { assertNote, checkedAnswer, type EffectResolved, type ResolveRequest } from './resolution.ts';
import { type ResolutionContent, resolutionEvents, waitFor } from './resolution-events.ts';
import { settleLeft } from './settle-left.ts';

interface ResolveDeps extends RunDeps {
  readonly effects: EffectStore;
}

/**
 * @throws CairnError INVALID_INPUT, PAYLOAD_TOO_LARGE, RUN_NOT_FOUND, NOT_FOUND, EFFECT_RESOLVED, RUN_INVALID_TRANSITION,
 *   RUN_TERMINAL_STATE, PLAN_VERSION_UNAVAILABLE, UNAVAILABLE (send the same again); nothing is written then
 */
export async function resolveEffect(deps: ResolveDeps, request: ResolveRequest): Promise<EffectResolved> {
  assertNote(request);
  return changeVersioned('writes to the effect', async () =>
    resolve(deps, request, await ownEffect(deps, request)),
  );
}

async function resolve(
  deps: ResolveDeps,
  request: ResolveRequest,
  stored: StoredEffect,
): Promise<EffectResolved> {
  const { runId, tenantId, effectId } = request;
  const { resolution } = stored.record;
  // Another run of the lineage may have asked about the same row, which is resolved only once.
  if (resolution && resolution.outcome !== request.outcome) earlierResolution(stored.record, { request });
  // The row is resolved but the question is open: an earlier request got no response, so this one ends the wait.
  const content = await checkedContent(deps, request, stored.record);
  const before = resolution && earlierResolution(stored.record, { request, content });
  let state: RunState | undefined;
  const appended = await appendToRun(deps, {
    runId,
    tenantId,
    decide: (current, now) => {
      state = current;
      const wait = waitFor(current, effectId);
      if (!wait) return [];
      return resolutionEvents({ ...deps, state: current, wait, stored, request, content, now });
    },
  });
  const [resolved] = appended.events;
  if (resolved) {
    deps.log.info('effect_resolved', { runId, tenantId, effectId, outcome: request.outcome });
    await driveAfter(deps, appended);
    return before ?? { ...viewOf(request), resolvedAt: resolved.at };
  }
  const now = await ownEffect(deps, request);
  if (state && isOver(state) && isInDoubt(now.record)) {
    const resolvedAt = await settleLeft(deps, { state, stored: now, request, content });
    deps.log.info('effect_resolved', { runId, tenantId, effectId, outcome: request.outcome });
    return { ...viewOf(request), resolvedAt };
  }
  const repeated = earlierResolution(now.record, { request, content, state });
  await driveAfter(deps, appended);
  return repeated;
}

/** The row, if the run made the call, asks about it, or asked about it. */
async function ownEffect(deps: ResolveDeps, request: ResolveRequest): Promise<StoredEffect> {
  const { runId, tenantId, effectId } = request;
  const { state } = await loadOwn(deps, { runId, tenantId });
  const found = await sendUntilKnown(deps, () => deps.effects.read(effectId));
  const { runId: madeBy, askedBy } = found?.record ?? {};
  const isOfRun = madeBy === runId || askedBy === runId || waitFor(state, effectId) !== undefined;
  if (found && found.record.tenantId === tenantId && isOfRun) return found;
  throw new CairnError('NOT_FOUND', 'the run has no effect with this id', { field: 'effectId' });
}

/** The recorded result, validated by the capability and stored inline or as a payload. */
async function checkedContent(
  deps: ResolveDeps,
  request: ResolveRequest,
  row: EffectRecord,
): Promise<ResolutionContent> {
  const { outcome, result, runId } = request;
  const fromOrigin = row.blockedBy === 'policy';
  if (outcome !== 'recorded' || fromOrigin) {
    if (result === undefined) return {};
    throw invalidInput('result', 'a result is accepted only while the outcome is unknown', {
      help: fromOrigin ? 'Omit the result: the recorded one is used.' : undefined,
    });
  }
  // A repetition of the same resolution need not contain the result.
  if (row.resolution && result === undefined) return {};
  const { capability } = deps.bindings.byId(row.capabilityId);
  return { answer: await checkedAnswer(deps, capability, { runId, result }) };
}

interface Repeating {
  readonly request: ResolveRequest;
  readonly content?: ResolutionContent;
  readonly state?: RunState | undefined;
}

function earlierResolution(row: EffectRecord, { request, content, state }: Repeating): EffectResolved {
  const { resolution, effectId, status } = row;
  if (resolution) {
    const { outcome, by, at } = resolution;
    const hash = content?.answer?.responseHash;
    const isOther = hash !== undefined && hash !== row.responseHash;
    if (outcome === request.outcome && !isOther)
      return { ...viewOf(request), resolvedBy: by, resolvedAt: at };
    const what = isOther ? 'with a different result ' : '';
    throw new CairnError('EFFECT_RESOLVED', `the effect was resolved as '${outcome}' ${what}by ${by}`, {
      stepId: stepKey(row),
      details: { effectId, outcome, resolvedBy: by, resolvedAt: new Date(at).toISOString() },
    });
  }
  if (status !== 'attempted' && status !== 'blocked') {
    const details = { effectId, status };
    throw new CairnError('EFFECT_RESOLVED', `the effect is ${status} and needs no resolution`, { details });
  }
  if (state?.completedAt !== undefined) {
    throw new CairnError('RUN_TERMINAL_STATE', `the run is ${state.status} and has no open questions`, {
      help: 'Resume, replay or fork the run: its successor asks again if necessary.',
      details: { status: state.status },
    });
  }
  throw new CairnError('RUN_INVALID_TRANSITION', 'the run does not ask about this effect', {
    help: 'A call may still be in progress. Read the run again.',
    details: { effectId, status },
  });
}

function viewOf({ runId, effectId, outcome, actor }: ResolveRequest): Omit<EffectResolved, 'resolvedAt'> {
  return { runId, effectId, outcome, resolvedBy: actor };
}
