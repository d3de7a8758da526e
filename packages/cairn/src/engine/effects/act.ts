/**
 * Carries out one effect call: reads the ledger, and calls, uses the recorded result, or determines the outcome of an
 * earlier call (rules E1–E8, decided in core/effects/decision.ts). The row and the event of the attempt are one commit,
 * acknowledged before the binding is called: a dispatch that lost its run cannot call.
 *
 * Must not: ask for a decision itself; it reports that one is required.
 */
import { effectsReached } from '../../core/budget/decision.ts';
import {
  byLookup,
  type EffectRecord,
  type EffectWrite,
  effectIdOf,
  type RecordedEffect,
  type StoredResponse,
} from '../../core/effects/effect.ts';
import { CairnError, NotApplied } from '../../core/errors.ts';
import type { EventData, EventDraft } from '../../core/run/events.ts';
import { isOutdated } from '../../core/run/reduce/steps.ts';
import { isOver } from '../../core/run/state.ts';
import { readableThrown, reasonOf } from '../../core/thrown.ts';
import { changeVersioned, OVERTAKEN } from '../../journal/change-versioned.ts';
import { LeaseLost } from '../../journal/run-journal.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import type { StoredEffect } from '../../ports/runs/effect-store.ts';
import { refOf } from '../recording/event-builders.ts';
import { traced } from '../tracing/calls.ts';
import { callSpan, type Performed } from '../tracing/step-spans.ts';
import { recordAnswer, type WrittenEffect } from './answers.ts';
import { stoppedByPolicy } from './call-policy.ts';
import { type ActEnd, laterIf, type PerformCall, rowWithoutCall } from './effect-call.ts';
import { type LedgerLookup, lookUpLedger } from './ledger-lookup.ts';
import { askFirst, asking, confirmFirst } from './questions.ts';
import {
  answerOf,
  attemptedRow,
  type EffectOwner,
  failedChange,
  recordedChange,
  repeatingRow,
  resultTextOf,
  reusedRow,
} from './rows.ts';

const EFFECTS_REACHED = { kind: 'ask', reached: ['effects'] } as const;

/** @throws errors of the store; the effect may then be in doubt */
export async function act(effectCall: PerformCall): Promise<ActEnd> {
  let { mayHaveRows } = effectCall;
  return changeVersioned('writes to the ledger rows of an effect', async () => {
    const ledger = await lookUpLedger({ ...effectCall, mayHaveRows });
    mayHaveRows = true;
    effectCall.note(unreportedEnds(effectCall, ledger));
    const end = await actOn(effectCall, ledger);
    return end === 'try_again' ? OVERTAKEN : end;
  });
}

/** Events for rows whose end the journal lacks because of a crash. */
function unreportedEnds(effectCall: PerformCall, { rows }: LedgerLookup): EventDraft[] {
  const open = new Set(effectCall.caller.state.effects.map(({ effectId }) => effectId));
  return rows.flatMap(({ effectId, status, responseHash }) =>
    open.has(effectId) && (status === 'recorded' || status === 'failed')
      ? [settled(effectCall, effectId, status, { responseHash })]
      : [],
  );
}

async function actOn(effectCall: PerformCall, ledger: LedgerLookup): Promise<ActEnd | 'try_again'> {
  const { decision } = ledger;
  switch (decision.kind) {
    case 'act':
      return (
        (await stoppedByPolicy(effectCall, ledger, decision.n)) ??
        attempt(effectCall, ledger.key, { n: decision.n })
      );
    case 'presume':
      return presume(effectCall, ledger, decision.n);
    case 'confirm':
      return confirmFirst(effectCall, ledger, decision);
    case 'reuse':
      return reuse(effectCall, ledger, decision.origin);
    case 'mismatch':
      return refuse(effectCall, ledger, decision.origin);
    case 'ask':
      return askFirst(effectCall, ledger, decision.origin);
    case 'doubt':
      return resolveDoubt(effectCall, ledger, decision);
  }
}

interface RowOfCall {
  readonly n: number;
  /** The row of an earlier call by this run. */
  readonly again?: StoredEffect;
  /** Effect of an earlier run of the lineage with the same key, whose outcome this call reveals: the receiver acts once per key. */
  readonly after?: StoredEffect;
}

/** The fence (E1): the binding is called only after the holder of the run has appended this. */
async function attempt(
  effectCall: PerformCall,
  key: string,
  { n, again, after }: RowOfCall,
): Promise<ActEnd> {
  const { caller, request, deps, undo } = effectCall;
  const effectId = effectIdOf(key, n);
  const bindingCallId = deps.random.token();
  const refusal = await effectCall.refusedBy?.();
  if (refusal) return { kind: 'ask', ask: { why: 'budget', refusal } };
  let isOverBudget = false;
  const appended = await effectCall.append((state) => {
    // The caller has stopped waiting.
    if (effectCall.signal.aborted || !mayAct(state, effectCall)) return [];
    isOverBudget = effectCall.mayAsk && state.budget !== undefined && effectsReached(state.budget);
    if (isOverBudget) return [];
    const now = deps.clock.now();
    const row = attemptedRow(
      { ...caller, state },
      { key, n, request, call: effectCall.call, bindingCallId, now },
    );
    const { attempt, epoch } = row;
    const mark = { attempt, epoch, bindingCallId, calledAt: now };
    const change = { status: 'attempted' as const, ...mark, updatedAt: now };
    const effect: EffectWrite = again
      ? { kind: 'change', effectId, seen: again.version, change }
      : { kind: 'create', record: row };
    return [...(after ? [passedOn(effectCall, after, now)] : []), attempted(effectCall, row, effect)];
  });
  const { wasWritten, effectsVersion, isStillHeld } = appended;
  if (isOverBudget) return { kind: 'ask', ask: { why: 'budget', refusal: EFFECTS_REACHED } };
  if (!wasWritten) return { kind: 'stopped' };
  if (!(await isStillHeld())) {
    throw new LeaseLost(`run ${caller.state.id} was taken over before '${caller.capability.id}' was called`);
  }
  deps.log.debug('effect_attempted', { runId: caller.state.id, effectId, undo });
  const inDoubtBefore = again !== undefined || after !== undefined;
  const answer = call(effectCall, key, { effectId, bindingCallId, seen: effectsVersion, inDoubtBefore });
  effectCall.alive.set(effectId, answer);
  try {
    return await answer;
  } finally {
    effectCall.alive.delete(effectId);
  }
}

/** E8: the row records that the call may have been made. It is then treated like a call whose answer was lost. */
async function presume(
  effectCall: PerformCall,
  { key }: LedgerLookup,
  n: number,
): Promise<ActEnd | 'try_again'> {
  const { caller, deps, restoredAt: presumedAt } = effectCall;
  const effectId = effectIdOf(key, n);
  const { wasWritten } = await effectCall.append((state) => {
    if (effectCall.signal.aborted || !mayAct(state, effectCall)) return [];
    const row = attemptedRow({ ...caller, state }, rowWithoutCall(effectCall, key, n));
    const effect: EffectWrite = { kind: 'create', record: { ...row, presumedAt } };
    return [attempted(effectCall, row, effect, { presumed: true })];
  });
  deps.log.info('effect_presumed', { runId: caller.state.id, effectId });
  return !wasWritten ? { kind: 'stopped' } : 'try_again';
}

/** Passes the doubt on to the next row, so that this one needs no decision. Conditional on the version that was read. */
function passedOn(effectCall: PerformCall, { record, version: seen }: StoredEffect, at: number): EventDraft {
  const { effectId } = record;
  const resolution = { outcome: 're-execute' as const, by: `run ${effectCall.caller.state.id}`, at };
  const change = { status: 'blocked' as const, blockedBy: 'doubt' as const, resolution, updatedAt: at };
  return { ...settled(effectCall, effectId, 'in_doubt'), effect: { kind: 'change', effectId, seen, change } };
}

/** A run that is cancelled, failing or sent back makes no more calls except compensations. */
function mayAct(state: EffectOwner, { undo, caller }: PerformCall): boolean {
  return undo || (state.cancellation === undefined && !isOutdated(state, caller.execution));
}

interface MadeCall extends WrittenEffect {
  /** True if the call repeats one with the same key whose outcome is unknown. */
  readonly inDoubtBefore: boolean;
}

async function call(effectCall: PerformCall, key: string, written: MadeCall): Promise<ActEnd> {
  const { deps, caller, request, signal } = effectCall;
  const { capability, binding, state } = caller;
  const { effectId } = written;
  let answered: Awaited<ReturnType<typeof answerOf>>;
  try {
    const response = await traced(
      deps.tracer,
      callSpan('call', performedOf(effectCall), { binding, effectId }),
      (more) => binding.call(request.value, { idempotencyKey: key, signal, ...more }),
    );
    answered = await sendUntilKnown(deps, () => answerOf(deps.store, state.id, capability, response));
  } catch (thrown) {
    const cause = readableThrown(thrown);
    if (!(cause instanceof NotApplied)) {
      return { kind: 'doubt', cause, settled: [settled(effectCall, effectId, 'in_doubt')] };
    }
    // The repetition did nothing, but the call before it may have acted.
    if (written.inDoubtBefore) {
      return { kind: 'doubt', cause: laterIf(cause), settled: [settled(effectCall, effectId, 'in_doubt')] };
    }
    const { clock, mask = String } = deps;
    const failed = failedChange(mask(reasonOf(cause)), clock.now());
    const late = await recordAnswer(deps, written, failed);
    if (late === 'late') return { kind: 'stopped' };
    return { kind: 'not_applied', cause, settled: [settled(effectCall, effectId, 'failed')] };
  }
  const change = recordedChange(answered.answer, deps.clock.now());
  if ((await recordAnswer(deps, written, change)) === 'late') return { kind: 'stopped' };
  const { responseHash } = answered.answer;
  const event = settled(effectCall, effectId, 'recorded', { responseHash });
  return { kind: 'answered', how: 'executed', text: answered.text, settled: [event] };
}

/** E3: records once per execution which row gives the answer. */
async function reuse(effectCall: PerformCall, ledger: LedgerLookup, origin: RecordedEffect): Promise<ActEnd> {
  const { caller, deps } = effectCall;
  const text = await resultTextOf(deps.store, origin);
  const isOurs = (row: EffectRecord) =>
    row.status === 'reused' && row.runId === caller.state.id && row.originEffectId === origin.effectId;
  const reused = { kind: 'answered', how: 'reused', text, settled: [] } as const;
  if (ledger.rows.some(isOurs)) return reused;
  const n = nextRow(ledger);
  const { wasWritten } = await effectCall.append((state) => {
    if (!mayAct(state, effectCall)) return [];
    const record = reusedRow({ ...caller, state }, rowWithoutCall(effectCall, ledger.key, n), origin);
    const event = settled(effectCall, record.effectId, 'reused', { originEffectId: origin.effectId });
    return [{ ...event, effect: { kind: 'create', record } }];
  });
  return !wasWritten ? { kind: 'stopped' } : reused;
}

/** E4: the call fails because the recorded request differs. */
async function refuse(
  effectCall: PerformCall,
  ledger: LedgerLookup,
  origin: RecordedEffect,
): Promise<ActEnd> {
  const { caller, request } = effectCall;
  const { capability, execution } = caller;
  const error = `'${capability.id}' is recorded with a different request in ${origin.effectId}`;
  const n = nextRow(ledger);
  const { wasWritten } = await effectCall.append((state) => {
    const row = rowWithoutCall(effectCall, ledger.key, n);
    const record = repeatingRow({ ...caller, state }, row, { by: 'mismatch', error, origin });
    const event = settled(effectCall, record.effectId, 'blocked', { originEffectId: origin.effectId });
    return [{ ...event, effect: { kind: 'create', record } }];
  });
  if (!wasWritten) return { kind: 'stopped' };
  const details = { effectId: origin.effectId, requestHash: request.hash, recordedHash: origin.requestHash };
  const cause = new CairnError('EFFECT_REQUEST_MISMATCH', error, { stepId: execution.stepId, details });
  return { kind: 'mismatch', cause };
}

type DoubtDecision = Extract<LedgerLookup['decision'], { kind: 'doubt' }>;

/** E5: resolves a doubt by a lookup, a repetition or a question. */
async function resolveDoubt(
  effectCall: PerformCall,
  ledger: LedgerLookup,
  { row, remedy }: DoubtDecision,
): Promise<ActEnd | 'try_again'> {
  const { caller } = effectCall;
  const stored = ledger.stored(row);
  const alive = effectCall.alive.get(row.effectId);
  // The earlier call may still take effect, so a lookup must wait for its answer.
  if (alive) {
    await Promise.race([alive, abortOf(effectCall.signal)]);
    return effectCall.signal.aborted
      ? { kind: 'doubt', cause: effectCall.signal.reason, settled: [] }
      : 'try_again';
  }
  if (row.runId !== caller.state.id && !(await isDead(effectCall, row.runId))) {
    const message = `run ${row.runId} of the same lineage is making this call`;
    throw new CairnError('UNAVAILABLE', message, { details: { runId: row.runId } });
  }
  switch (remedy) {
    case 'ask':
      return asking(effectCall, stored, 'doubt');
    case 'call_again':
      return callAgain(effectCall, ledger, stored);
    case 'lookup':
      return lookUp(effectCall, ledger, stored);
  }
}

/** Repeats the call with its key. The earlier row stays in doubt until the outcome is known. */
function callAgain(effectCall: PerformCall, ledger: LedgerLookup, stored: StoredEffect) {
  const { runId, n } = stored.record;
  return runId === effectCall.caller.state.id
    ? attempt(effectCall, ledger.key, { n, again: stored })
    : attempt(effectCall, ledger.key, { n: nextRow(ledger), after: stored });
}

export function abortOf(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

async function isDead({ deps }: PerformCall, runId: string): Promise<boolean> {
  const other = await deps.store.load(runId);
  return !other || isOver(other.state);
}

async function lookUp(
  effectCall: PerformCall,
  ledger: LedgerLookup,
  stored: StoredEffect,
): Promise<ActEnd | 'try_again'> {
  const { deps, caller, request, signal } = effectCall;
  const { binding, capability, state } = caller;
  const { record, version } = stored;
  let answer: StoredResponse | undefined;
  try {
    // The call may have been made at any time since the run began.
    const attemptedAt = record.presumedAt === undefined ? record.updatedAt : state.createdAt;
    const options = { idempotencyKey: ledger.key, signal, attemptedAt };
    const span = callSpan('lookup', performedOf(effectCall), { binding, effectId: record.effectId });
    const found = await traced(deps.tracer, span, async (more) =>
      binding.lookup?.(request.value, { ...options, ...more }),
    );
    if (found?.found) {
      const { response } = found;
      ({ answer } = await sendUntilKnown(deps, () => answerOf(deps.store, state.id, capability, response)));
    }
  } catch (thrown) {
    return { kind: 'doubt', cause: readableThrown(thrown), settled: [] };
  }
  // The earlier call may still be running. Its receiver acts once per key, so the call may be repeated while the outcome is in doubt.
  if (!answer && capability.idempotency === 'required') return callAgain(effectCall, ledger, stored);
  const now = deps.clock.now();
  const outcome = answer ? ('recorded' as const) : ('failed' as const);
  const what = answer ? recordedChange(answer, now) : failedChange('the call did not take effect', now);
  const change = { ...what, resolution: { outcome, by: byLookup(binding.id), at: now } };
  const { wasWritten } = await effectCall.append(() => {
    const { responseHash } = answer ?? {};
    const more = { by: 'lookup' as const, responseHash };
    const event = settled(effectCall, record.effectId, outcome, more);
    return [{ ...event, effect: { kind: 'change', effectId: record.effectId, seen: version, change } }];
  });
  deps.log.info('effect_looked_up', { runId: state.id, effectId: record.effectId, outcome });
  return !wasWritten ? { kind: 'stopped' } : 'try_again';
}

function performedOf({ caller, trace }: PerformCall): Performed {
  const { state, execution, capability } = caller;
  return { runId: state.id, execution, capability, parent: trace };
}

function nextRow({ rows }: LedgerLookup): number {
  return (rows[0]?.n ?? 0) + 1;
}

function attempted(
  { caller, request }: PerformCall,
  { effectId, attempt }: Pick<EffectRecord, 'effectId' | 'attempt'>,
  effect: EffectWrite,
  more: { readonly presumed?: true } = {},
): EventDraft {
  const ref = { ...refOf(caller.execution), effectId, capabilityId: caller.capability.id };
  const data = { ...ref, attempt, requestHash: request.hash, ...more };
  return { type: 'effect_attempted', initiator: 'system', data, effect };
}

type SettledData = EventData['effect_settled'];

function settled(
  { caller }: PerformCall,
  effectId: string,
  outcome: SettledData['outcome'],
  more: Pick<SettledData, 'originEffectId' | 'responseHash'> & { readonly by?: 'lookup' } = {},
): Extract<EventDraft, { type: 'effect_settled' }> {
  const { execution, capability } = caller;
  const data = { ...refOf(execution), effectId, capabilityId: capability.id, outcome, ...more };
  return { type: 'effect_settled', initiator: 'system', data };
}
