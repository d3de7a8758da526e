/** Builds the last event of a dispatch from its decision. Pure. */

import type { SessionEnd } from '../../core/decisions/after-end.ts';
import { leftUndone, releaseError } from '../../core/decisions/compensation.ts';
import type { DispatchDecision } from '../../core/decisions/dispatch.ts';
import type { EventData, EventDraft, RecordedError, ReleaseError, StepRef } from '../../core/run/events.ts';
import { cut, SUMMARY_CHARS } from '../../core/run/records.ts';
import { type RunState, stepIdOf, stepKey, UNDOING } from '../../core/run/state.ts';
import type { Workflow } from '../define/steps.ts';
import { hasCompensation, isCompensable } from '../definition-of-run.ts';
import * as build from '../recording/event-builders.ts';
import { composedOutput, NO_OUTPUT, type Output } from '../recording/output.ts';
import * as terminal from '../recording/terminal.ts';
import type { StepOutputs } from './outputs.ts';

/** Compensations run before the last event. */
export type ClosingDecision = Exclude<DispatchDecision, { kind: 'wait' | 'undo_first' }>;

type Release = Extract<ClosingDecision, { readonly kind: 'release' }>;

interface ClosingFacts {
  readonly workflow: Workflow;
  /** Result of a completed run. */
  readonly result: Output;
  /** Executions that have not ended. */
  readonly inFlight: readonly StepRef[];
}

/** @throws Error if the run would complete although the journal lacks the end of a step */
export function closingDraft(closing: ClosingDecision, state: RunState, facts: ClosingFacts): EventDraft {
  switch (closing.kind) {
    case 'cancelled':
      return terminal.runCancelled(
        state,
        closing.cancellation,
        leftUndone(state, (key) => isCompensable(facts.workflow.steps.get(stepIdOf(key)), key)),
      );
    case 'failed':
      return terminal.runFailed(state.error ?? closing.error);
    case 'completed':
      assertAllEnded(state, facts.workflow);
      return terminal.completed(state, facts.result);
    case 'end_children':
      return build.suspendedForChildren(
        closing.end.kind === 'failed' && state.error === undefined ? closing.end.error : undefined,
      );
    case 'suspend':
      return build.suspended(state, closing.until);
    case 'release': {
      const { reason, dueAt } = closing;
      const { inFlight } = facts;
      const error = releaseError(state, closing.error);
      const interrupted = reason === 'shutdown' ? interruptedKeys(state, inFlight) : undefined;
      const data = { reason: recordedReason(reason), inFlight, dueAt, error, interrupted };
      return { type: 'run_released', initiator: 'system', data };
    }
  }
}

/** A pause has another name in the journal. */
function recordedReason(reason: Release['reason']): EventData['run_released']['reason'] {
  return reason === 'paused' ? 'held' : reason;
}

function interruptedKeys({ compensating }: RunState, inFlight: readonly StepRef[]): readonly string[] {
  return compensating ? [UNDOING] : inFlight.map(stepKey);
}

/**
 * Checks the ends that the dispatch counted against the journal, which is authoritative. After a wrong count the dispatch
 * fails, and the next one continues.
 */
function assertAllEnded({ id, steps }: RunState, { graph }: Workflow): void {
  const left = graph.order.find((stepId) => steps.get(stepId)?.phase !== 'done');
  if (left !== undefined) throw new Error(`run ${id} is not complete: step '${left}' has not ended`);
}

/**
 * The result of a completed run: the outputs of the steps that its workflow returned, by name. If the outputs are too large
 * together, the run fails.
 */
export function resultOf({ result }: Workflow, outputs: StepOutputs): Output | RecordedError {
  const members = Object.keys(result)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${(outputs.get(result[name] ?? '') ?? NO_OUTPUT).text}`);
  const text = `{${members.join(',')}}`;
  return composedOutput(text, 'the result of the run');
}

export function canCompensate({ steps }: Workflow): boolean {
  return [...steps.values()].some(hasCompensation);
}

export function canWaitOut({ steps }: Workflow): boolean {
  return [...steps.values()].some(
    (step) => (step.kind === 'child' && step.onParentEnd === 'wait') || step.kind === 'flow',
  );
}

export function sessionEndOf(closing: ClosingDecision): SessionEnd {
  switch (closing.kind) {
    case 'end_children':
      return { kind: 'suspended' };
    case 'suspend':
      return { kind: 'suspended', dueAt: closing.until };
    case 'release':
      return { kind: 'released', dueAt: closing.dueAt };
    default:
      return { kind: 'closed' };
  }
}

/** The snapshot stores the error, so it is cut. */
export function releaseDecision(reason: Release['reason'], error: ReleaseError | undefined): Release {
  const failure = error && { ...error, message: cut(error.message, SUMMARY_CHARS), trace: undefined };
  return { kind: 'release', reason, error: failure };
}

/** The end of a run whose steps are undone first. */
export type EndAfterUndo = Extract<DispatchDecision, { kind: 'undo_first' }>['end'];

/** False if a cancellation, or one without compensation, was requested after the decision. */
export function isAsDecided({ cancellation }: RunState, end: EndAfterUndo): boolean {
  const known = end.kind === 'cancelled' ? end.cancellation : undefined;
  return (
    (cancellation === undefined) === (known === undefined) && cancellation?.withoutUndo === known?.withoutUndo
  );
}
