/**
 * Consequence of the end of a body: its outcome is recorded, another attempt is scheduled, or an approval asks for the
 * outcome of an effect.
 *
 * Must not: know what else runs, or start anything.
 */
import { durationText } from '../../../core/duration.ts';
import { optional } from '../../../core/optional.ts';
import type { EventDraft, RecordedError, StepExecution } from '../../../core/run/events.ts';
import { cut, TRACE_CHARS } from '../../../core/run/records.ts';
import type { Ask, EffectAsk } from '../../effects/effect-call.ts';
import { canFindOut, effectWait, questionDrafts } from '../../effects/questions.ts';
import * as build from '../../recording/event-builders.ts';
import { openedDraft } from '../../waits/new-wait.ts';
import { doubtOf } from '../../waits/question.ts';
import type { DispatchState } from '../dispatch-state.ts';
import type { EffectDoubt, ExecutionChange, ExecutionEnd, SpentBody } from '../messages.ts';
import { afterFailure } from './after-failure.ts';
import { changeOf, endBy, questionOf } from './changes.ts';

type BodyEndDecision =
  | { readonly kind: 'end'; readonly ending: ExecutionEnd }
  | { readonly kind: 'record'; readonly change: ExecutionChange }
  /** The ledger decides whether a person has to be asked. */
  | { readonly kind: 'find_question'; readonly doubt: EffectDoubt };

/** The effect in question has just changed: the next attempt determines its outcome. */
const ASK_AGAIN_MS = 1_000;

export function bodyEndDecision(dispatch: DispatchState, ended: SpentBody): BodyEndDecision {
  const { unit, execution, result, used, settled, spent } = ended;
  switch (result.kind) {
    case 'failed':
      return failureDecision(dispatch, ended, result);
    case 'asks':
      return { kind: 'record', change: questionOfAttempt(dispatch, ended, result.ask) };
    case 'presumed':
      return { kind: 'record', change: restoreQuestion(dispatch, ended) };
    case 'succeeded': {
      const { output, degraded } = result;
      const account = { ...used, spent, degraded };
      const ending = dispatch.endingOf(ended);
      const events = (stored: typeof output) => [...settled, build.done(ending, stored, account)];
      return { kind: 'end', ending: { unit, execution, outcome: { kind: 'done', output }, events } };
    }
  }
}

/** Another attempt, or the end of the step. */
function failureDecision(
  dispatch: DispatchState,
  ended: SpentBody,
  result: Extract<SpentBody['result'], { kind: 'failed' }>,
): BodyEndDecision {
  const { deps, runId, now } = dispatch;
  const { unit, execution, settled, spent } = ended;
  const { doubts, error } = result;
  const next = afterFailure(deps, { runId, step: unit.step, execution, now }, result);
  // A step with an effect in doubt does not fail: a lookup or a person resolves the effect first.
  if (doubts && (next.kind === 'give_up' || !canFindOut(deps, doubts))) {
    const open = doubts.find((doubt) => !canFindOut(deps, [doubt])) ?? doubts[0];
    return { kind: 'find_question', doubt: { open, error } };
  }
  switch (next.kind) {
    case 'give_up': {
      const cause = next.reason === 'poll_over' ? pollOver(execution, now, error) : error;
      const event = build.failedByPolicy(dispatch.endingOf(ended), cause, optional('spent', spent));
      return { kind: 'end', ending: endBy(ended, [...settled, event]) };
    }
    case 'poll_again':
      return rest(ended, next.at, build.pollScheduled(execution, { at: next.at, error, spent }));
    default:
      return rest(ended, next.at, build.retryScheduled(execution, { at: next.at, error, spent }));
  }
}

function rest(ended: SpentBody, at: number, event: EventDraft): BodyEndDecision {
  return { kind: 'record', change: changeOf(ended, [...ended.settled, event], { kind: 'rests', at }) };
}

function questionOfAttempt(dispatch: DispatchState, ended: SpentBody, ask: Ask): ExecutionChange {
  return ask.why === 'budget'
    ? dispatch.budget.stop({ ...ended, refusal: ask.refusal })
    : effectQuestion(dispatch, ended, ask);
}

/** @param ask undefined if the answer has arrived meanwhile: another attempt then receives it */
export function effectQuestion(
  { now, waits }: DispatchState,
  ended: SpentBody,
  ask: EffectAsk | undefined,
  error?: RecordedError,
): ExecutionChange {
  const { execution, settled, spent, unit } = ended;
  const message = 'an effect is in doubt';
  const why = error ?? { code: 'EFFECT_IN_DOUBT', message, stepId: unit.step.id, retryable: true };
  const tryAgain = () => {
    const retryAt = now + ASK_AGAIN_MS;
    const event = build.retryScheduled(execution, { at: retryAt, error: why, spent });
    return changeOf(ended, [...settled, event], { kind: 'rests', at: retryAt });
  };
  if (!ask) return tryAgain();
  const wait = effectWait(execution, ask, now);
  const events = [...settled, ...questionDrafts(wait, ask, spent)];
  const withoutRoom = [...settled, build.retryWhenRoom(execution, { at: now, error: why, spent })];
  const change = questionOf(ended, { wait, events, withoutRoom }, waits.freeBytes);
  return { ...change, ifEffectMoved: tryAgain };
}

/** The question about a step that must not run twice and may have run before the database was restored. */
function restoreQuestion({ now, waits }: DispatchState, ended: SpentBody): ExecutionChange {
  const { execution, settled, unit } = ended;
  const wait = doubtOf(execution, now, 'restored');
  const message = 'it may have run before the restore, and the run cannot hold another question';
  const why = { code: 'EFFECT_IN_DOUBT', message, stepId: unit.step.id, retryable: true };
  const events = [...settled, openedDraft(wait)];
  const withoutRoom = [...settled, build.retryWhenRoom(execution, { at: now, error: why })];
  return questionOf(ended, { wait, events, withoutRoom }, waits.freeBytes);
}

/** The error of a step whose time for polling, or number of polls, is used up. */
function pollOver({ startedAt, polls = 0 }: StepExecution, now: number, last: RecordedError): RecordedError {
  const message = `the condition did not hold within ${durationText(now - startedAt)} and ${polls + 1} polls; last result: ${last.message}`;
  return { ...last, code: 'STEP_TIMEOUT', message: cut(message, TRACE_CHARS), retryable: false };
}
