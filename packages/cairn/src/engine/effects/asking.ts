/**
 * Question about an effect: its text, and when it is required. The answer arrives through operations/effects.
 *
 * Must not: keep the request or the result in the run: the ledger has them.
 */
import type { Cost } from '../../core/budget/budget.ts';
import type { EffectRecord } from '../../core/effects/effect.ts';
import { toJsonText } from '../../core/encoding/json.ts';
import type { EffectQuestion, EventDraft, StepExecution } from '../../core/run/events.ts';
import { type OpenEffect, stepKey } from '../../core/run/state.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import type { EngineDeps } from '../deps.ts';
import { refOf } from '../facts/drafts.ts';
import { opened } from '../waits/open.ts';
import type { EffectAsk } from './effect-call.ts';
import { confirmationReason } from './rows.ts';

/** Returns true if another attempt can resolve these effects automatically (E5). */
export function canFindOut({ bindings }: EngineDeps, doubts: readonly OpenEffect[]): boolean {
  return doubts.every(({ capabilityId }) => bindings.canFindOut(capabilityId));
}

/** The question about an effect in doubt; undefined if its answer has arrived meanwhile. */
export async function askAbout(
  deps: EngineDeps,
  open: OpenEffect | undefined,
): Promise<EffectAsk | undefined> {
  if (!open) return undefined;
  const found = await sendUntilKnown(deps, () => deps.effects.read(open.effectId));
  if (!found) throw new Error(`effect ${open.effectId} no longer exists`);
  const { record: row, version: seen } = found;
  if (row.status !== 'attempted' && row.blockedBy !== 'doubt') return undefined;
  const { effectId, capabilityId } = row;
  const change = { status: 'blocked' as const, blockedBy: 'doubt' as const, updatedAt: deps.clock.now() };
  const write = { kind: 'change' as const, effectId, seen, change };
  return { effectId, capabilityId, why: 'doubt', write, row };
}

export function effectWait(execution: StepExecution, ask: EffectAsk, now: number): EffectQuestion {
  const key = stepKey(execution);
  const { effectId } = ask;
  return {
    // With the attempt: an answer about one that is sent again must not be taken for one about the next.
    id: `${key}.${execution.revision}.${execution.attempt}.effect`,
    kind: 'approval',
    purpose: 'effect',
    effectId,
    execution,
    openedAt: now,
    detailText: toJsonText({ question: questionOf(key, ask), effectId }, 'question'),
  };
}

/**
 * The row with the question and the wait for the answer are one commit.
 *
 * @param spent of the run's budget, by the attempt that ends
 */
export function questionDrafts(
  wait: EffectQuestion,
  { effectId, capabilityId, write, row }: EffectAsk,
  spent?: Cost,
): EventDraft[] {
  const data = {
    ...refOf(wait.execution),
    effectId,
    capabilityId,
    outcome: 'blocked' as const,
    originEffectId: row.originEffectId,
  };
  return [{ type: 'effect_settled', initiator: 'system', data, effect: write }, opened(wait, spent)];
}

function questionOf(key: string, { why, capabilityId, row }: EffectAsk): string {
  if (why === 'policy') {
    return `Step '${key}' is about to call '${capabilityId}' again; ${row.originEffectId} records the call as done. Repeat the call (re-execute), use the recorded result (recorded), or fail the step (failed)?`;
  }
  if (why === 'confirmation') {
    const reason = confirmationReason(row);
    const why = reason === undefined ? '' : ` (${reason})`;
    return `Step '${key}' is about to call '${capabilityId}', which requires confirmation${why}. Allow the call (re-execute), record the result of a manual action (recorded), or fail the step (failed)?`;
  }
  if (row.presumedAt !== undefined) {
    return `Step '${key}' is about to call '${capabilityId}' and may have called it before the database was restored at ${new Date(row.presumedAt).toISOString()}. Allow the call (re-execute), record its earlier result (recorded), or fail the step (failed)?`;
  }
  return `Step '${key}' called '${capabilityId}' and the outcome is unknown${at(row)}. Record its result (recorded), allow one more call (re-execute), or fail the step (failed)?`;
}

function at({ updatedAt }: EffectRecord): string {
  return ` (${new Date(updatedAt).toISOString()})`;
}
