/**
 * Effects without a run as operators see them: rows with an open question, and the answer of a person. An answer changes only the row,
 * on the condition that its version is unchanged; the next call with its key finds the answer.
 *
 * Must not: call anything.
 */

import type { EffectChange, EffectRecord, StoredResponse } from '../../core/effects/effect.ts';
import { asksPerson, isExternal, isUnderWay, ownersOf } from '../../core/effects/external.ts';
import { CairnError, invalidInput } from '../../core/errors.ts';
import type { Bindings } from '../../engine/define/bindings.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Randomness } from '../../ports/randomness.ts';
import type { RunStore } from '../../ports/run-store.ts';
import type { AskingRows, ExternalEffectStore, StoredEffect } from '../../ports/runs/effect-store.ts';
import {
  assertNote,
  checkedAnswer,
  type EffectResolved,
  type ResolveRequest,
  storedAnswer,
} from './resolution.ts';
import { resolutionOf } from './resolution-events.ts';

/** Largest number of rows in the inbox. The others appear once some are resolved. */
export const EXTERNAL_READ = 100;

/** Returns true if the id is an owner of rows of the tenant. */
export function isOwnExternal(owner: string, tenantId: string): boolean {
  return isExternal(owner) && owner.startsWith(ownersOf(tenantId));
}

/** Rows with an open question, the longest-waiting first. */
export async function externalQuestions(
  { effects, clock }: { readonly effects: Pick<ExternalEffectStore, 'asking'>; readonly clock: Clock },
  tenantId: string,
): Promise<AskingRows> {
  const { items, unreadable } = await effects.asking(tenantId, clock.now(), EXTERNAL_READ);
  return { items: items.filter(asksPerson), unreadable };
}

interface ExternalDeps {
  readonly effects: ExternalEffectStore;
  readonly store: Pick<RunStore, 'writePayload'>;
  /** Bindings of the installation; they may lack a capability that only another function has. */
  readonly bindings: Bindings;
  readonly clock: Clock;
  readonly random: Randomness;
  readonly log: Log;
}

/** @param request `runId` is the owner. @throws CairnError INVALID_INPUT, NOT_FOUND, EFFECT_RESOLVED, RUN_INVALID_TRANSITION, UNAVAILABLE */
export async function resolveExternal(deps: ExternalDeps, request: ResolveRequest): Promise<EffectResolved> {
  assertNote(request);
  const { effectId, outcome, runId, tenantId, actor } = request;
  const { stored, readAt } = await ownRow(deps, request);
  const { record } = stored;
  const { resolution } = record;
  if (resolution) {
    const { by, at } = resolution;
    if (resolution.outcome === outcome) return { runId, effectId, outcome, resolvedBy: by, resolvedAt: at };
    throw resolvedBefore(record, `was resolved as '${resolution.outcome}' by ${by}`);
  }
  if (!asksPerson(record)) throw resolvedBefore(record, `is ${record.status} and needs no resolution`);
  if (isUnderWay(record, readAt))
    throw new CairnError('RUN_INVALID_TRANSITION', 'the call may still be in progress', {
      help: 'It is a question from the time on at which it must have ended. Read the inbox then.',
    });
  const answer = await answerIn(deps, request, record);
  const change = changeFor({ deps, stored, request, answer });
  const { kind } = await sendUntilKnown(deps, () => deps.effects.change(effectId, stored.version, change));
  const now = await ownRow(deps, request);
  const { resolution: made } = now.stored.record;
  // An earlier attempt of the same request may have been applied, and its response lost.
  if (kind === 'stale' && (made?.by !== actor || made.outcome !== outcome))
    throw new CairnError('UNAVAILABLE', 'the effect was written at the same time');
  deps.log.info('effect_resolved', { runId, tenantId, effectId, outcome });
  return { runId, effectId, outcome, resolvedBy: actor, resolvedAt: made?.at ?? change.updatedAt };
}

async function ownRow(deps: ExternalDeps, { effectId, runId, tenantId }: ResolveRequest) {
  const [key = ''] = effectId.split('.');
  const { rows, readAt } = await sendUntilKnown(deps, () => deps.effects.rowsNow(key));
  const stored = rows.find(({ record }) => record.effectId === effectId);
  if (stored?.record.tenantId === tenantId && stored.record.runId === runId) return { stored, readAt };
  throw new CairnError('NOT_FOUND', 'there is no effect with this id', { field: 'effectId' });
}

function resolvedBefore({ effectId, status }: EffectRecord, what: string): CairnError {
  return new CairnError('EFFECT_RESOLVED', `the effect ${what}`, { details: { effectId, status } });
}

async function answerIn(
  deps: ExternalDeps,
  { outcome, result, runId }: ResolveRequest,
  { capabilityId }: EffectRecord,
): Promise<StoredResponse | undefined> {
  if (outcome !== 'recorded') {
    if (result === undefined) return undefined;
    throw invalidInput('result', "a result goes with the outcome 'recorded' only");
  }
  const known = deps.bindings.has(capabilityId) ? deps.bindings.byId(capabilityId).capability : undefined;
  if (known) return checkedAnswer(deps, known, { runId, result });
  const unknown = { id: capabilityId, secrets: { request: [], response: [] } };
  const { answer } = await storedAnswer(deps, unknown, { runId, result });
  return answer;
}

interface Resolved {
  readonly deps: ExternalDeps;
  readonly stored: StoredEffect;
  readonly request: ResolveRequest;
  readonly answer: StoredResponse | undefined;
}

/** Changes only the row, because no run asks. Only a row with an open question can get permission for another call. */
function changeFor({ deps, stored, request, answer }: Resolved): EffectChange {
  const { record } = stored;
  const now = deps.clock.now();
  const change = resolutionOf({ stored, request, content: answer ? { answer } : {}, now });
  // A resolved row is no longer open, whatever its status.
  const stamps = { askingSince: undefined, expiresAt: record.keepMs && now + record.keepMs };
  return change.status === undefined && record.status === 'attempted'
    ? { ...change, ...stamps, status: 'blocked', blockedBy: 'doubt' }
    : { ...change, ...stamps };
}
