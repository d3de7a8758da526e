/**
 * Questions to a person about an effect: when one is required (E5, E6), its text, and the row that is written with it. The answer
 * arrives through operations/effects.
 *
 * Must not: keep the request or the result in the run: the ledger has them.
 */
import type { Spend } from '../../core/budget/budget.ts';
import type { EffectRecord, RecordedEffect } from '../../core/effects/effect.ts';
import type { EffectQuestion, EventDraft, StepExecution } from '../../core/run/events.ts';
import { type OpenEffect, stepKey } from '../../core/run/state.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import type { StoredEffect } from '../../ports/runs/effect-store.ts';
import type { EngineDeps } from '../deps.ts';
import { refOf } from '../recording/event-builders.ts';
import { openedDraft } from '../waits/new-wait.ts';
import { questionAbout } from '../waits/question.ts';
import { type ActEnd, type EffectAsk, type PerformCall, rowWithoutCall } from './effect-call.ts';
import type { LedgerLookup } from './ledger-lookup.ts';
import { confirmationRow, repeatingRow } from './rows.ts';

/** The policy requires consent to a repetition. */
export function askFirst(effectCall: PerformCall, ledger: LedgerLookup, origin: RecordedEffect): ActEnd {
  const { caller } = effectCall;
  const { policyQuestion, own } = ledger;
  if (policyQuestion && policyQuestion.record.resolution === undefined)
    return asking(effectCall, policyQuestion, 'policy');
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
  ledger: LedgerLookup,
  { n, openQuestion }: Extract<LedgerLookup['decision'], { kind: 'confirm' }>,
  reason?: string,
): ActEnd {
  if (openQuestion) return asking(effectCall, ledger.stored(openQuestion), 'confirmation');
  const row = rowWithoutCall(effectCall, ledger.key, n);
  return askAnew(confirmationRow(effectCall.caller, row, reason), 'confirmation');
}

/** Asks with a new row, which blocks the call until there is an answer. */
function askAnew(row: EffectRecord, why: EffectAsk['why']): ActEnd {
  const { effectId, capabilityId } = row;
  return { kind: 'ask', ask: { effectId, capabilityId, why, write: { kind: 'create', record: row }, row } };
}

/** Asks with a row of the lineage, which blocks the call until there is an answer. */
export function asking({ caller, deps }: PerformCall, stored: StoredEffect, why: EffectAsk['why']): ActEnd {
  const { runId, askedBy } = stored.record;
  const { id } = caller.state;
  const change = { askedBy: runId === id ? askedBy : id, updatedAt: deps.clock.now() };
  return { kind: 'ask', ask: askWith(stored, why, change) };
}

function askWith(
  { record: row, version: seen }: StoredEffect,
  why: EffectAsk['why'],
  more: Pick<EffectRecord, 'askedBy' | 'updatedAt'> & { readonly error?: string },
): EffectAsk {
  const { effectId, capabilityId } = row;
  const change = { status: 'blocked' as const, blockedBy: why, ...more };
  return { effectId, capabilityId, why, write: { kind: 'change', effectId, seen, change }, row };
}

/** Returns true if another attempt can resolve these effects automatically (E5). */
export function canFindOut({ bindings }: EngineDeps, doubts: readonly OpenEffect[]): boolean {
  return doubts.every(({ capabilityId }) => bindings.canFindOut(capabilityId));
}

/**
 * The question about an effect in doubt; undefined if its answer has arrived meanwhile.
 *
 * @param error of the attempt; the row keeps it for the person who is asked
 */
export async function askAbout(
  deps: EngineDeps,
  open: OpenEffect | undefined,
  error: string,
): Promise<EffectAsk | undefined> {
  if (!open) return undefined;
  const found = await sendUntilKnown(deps, () => deps.effects.read(open.effectId));
  if (!found) throw new Error(`effect ${open.effectId} no longer exists`);
  const { status, blockedBy } = found.record;
  if (status !== 'attempted' && blockedBy !== 'doubt') return undefined;
  return askWith(found, 'doubt', { error, updatedAt: deps.clock.now() });
}

export function effectWait(execution: StepExecution, ask: EffectAsk, now: number): EffectQuestion {
  const { effectId } = ask;
  const question = questionText(stepKey(execution), ask);
  return { ...questionAbout(execution, 'effect', { question, effectId }, now), purpose: 'effect', effectId };
}

/**
 * Commits the row with the question together with the wait for the answer.
 *
 * @param spent of the run's budget, by the attempt that ends
 */
export function questionDrafts(
  wait: EffectQuestion,
  { effectId, capabilityId, write, row }: EffectAsk,
  spent?: Spend,
): EventDraft[] {
  const data = {
    ...refOf(wait.execution),
    effectId,
    capabilityId,
    outcome: 'blocked' as const,
    originEffectId: row.originEffectId,
  };
  return [{ type: 'effect_settled', initiator: 'system', data, effect: write }, openedDraft(wait, spent)];
}

function questionText(key: string, { why, capabilityId, row }: EffectAsk): string {
  if (why === 'policy') {
    return `Step '${key}' is about to call '${capabilityId}' again: an earlier call was recorded as done. Use the recorded result, repeat the call, or fail the step?`;
  }
  if (why === 'confirmation') {
    const why = row.policyReason === undefined ? '' : ` (${row.policyReason})`;
    return `Step '${key}' is about to call '${capabilityId}', which requires confirmation${why}. Allow the call, record the result of a manual action, or fail the step?`;
  }
  if (row.presumedAt !== undefined) {
    return `Step '${key}' is about to call '${capabilityId}' and may have called it before the database was restored. Allow the call, record its earlier result, or fail the step?`;
  }
  return `Step '${key}' called '${capabilityId}', and the outcome is unknown. Check with the receiver, then record the result, allow one more call, or fail the step.`;
}
