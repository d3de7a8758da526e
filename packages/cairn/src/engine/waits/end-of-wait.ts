/**
 * Events that end a wait and settle its step, in one commit. Pure: every process that delivers the answer (an operator,
 * a sender, a child, a dispatch at the deadline) records it in the same form.
 *
 * Must not: decide whether the answer is acceptable.
 */

import type { BudgetLimits } from '../../core/budget/budget.ts';
import type { Decision, EventDraft, RecordedError, Wait } from '../../core/run/events.ts';
import type { RunState } from '../../core/run/state.ts';
import type { Initiator } from '../../core/run/status.ts';
import type { StepDefinition } from '../define/steps.ts';
import * as build from '../recording/event-builders.ts';
import type { Output } from '../recording/output.ts';

/** Source of an answer, and the data to record. */
export interface WaitResolution {
  readonly initiator: Initiator;
  readonly actor?: string | undefined;
  readonly decision?: Decision | undefined;
  /** The operator's answer, as canonical JSON. */
  readonly payloadText?: string | undefined;
  readonly signalId?: string | undefined;
  /** Amounts by which the limits of the budget are raised. */
  readonly raise?: BudgetLimits | undefined;
}

export interface EndOfWait {
  readonly step: StepDefinition;
  readonly wait: Wait;
  /** Epoch ms. */
  readonly now: number;
}

export function answerDrafts(
  { step, wait, now }: EndOfWait,
  answer: WaitResolution,
  output: Output,
): EventDraft[] {
  return [resolvedDraft(wait, answer), build.succeeded({ step, execution: wait.execution, now }, output)];
}

/** Lets the attempt begin, because the run, or its tenant on this day, may spend more. */
export function budgetAnswerDrafts(
  { wait, now }: Omit<EndOfWait, 'step'>,
  answer: WaitResolution,
): EventDraft[] {
  return [resolvedDraft(wait, answer), build.retryWithinBudget(wait.execution, { at: now })];
}

/** The answer of the wait fails the step; `onFailure` of the step decides the consequence. */
export function refusalDrafts(end: EndOfWait, answer: WaitResolution, error: RecordedError): EventDraft[] {
  const { step, wait, now } = end;
  return [resolvedDraft(wait, answer), build.failedByPolicy({ step, execution: wait.execution, now }, error)];
}

export function expiryDrafts({ step, wait, now }: EndOfWait, outcome: RecordedError | Output): EventDraft[] {
  const ending = { step, execution: wait.execution, now };
  return [
    { type: 'wait_expired', initiator: 'timeout', data: { waitId: wait.id } },
    'code' in outcome ? build.failedByPolicy(ending, outcome) : build.succeeded(ending, outcome),
  ];
}

/** Events that resume a suspended run; none if it is not suspended. The caller enqueues a task after the commit. */
export function resumptionDrafts(
  state: RunState,
  reason: string,
  { initiator, actor }: Pick<WaitResolution, 'initiator' | 'actor'> = { initiator: 'system' },
): EventDraft[] {
  if (state.status !== 'awaiting_approval' && state.status !== 'waiting_external') return [];
  const by = actor === undefined ? { initiator } : { initiator, actor };
  return [{ type: 'run_resumed', ...by, data: { reason } }];
}

export function resolvedDraft({ id: waitId }: Wait, answer: WaitResolution): EventDraft {
  const { initiator, actor, decision, payloadText, signalId, raise } = answer;
  return {
    type: 'wait_resolved',
    initiator,
    actor,
    data: { waitId, decision, payloadText, signalId, raise },
  };
}
