/**
 * The end of a flow: its recorded output or failure, or another attempt of its code. Waits that are still open are closed
 * first, because nothing needs their answers.
 */
import type { EventDraft, StepExecution, Wait } from '../../../core/run/events.ts';
import type { RunState } from '../../../core/run/state.ts';
import type { Mask } from '../../../core/secrets/mask.ts';
import { readableThrown } from '../../../core/thrown.ts';
import type { FlowStep, StepDefinition } from '../../define/steps.ts';
import * as build from '../../recording/event-builders.ts';
import type { Output } from '../../recording/output.ts';
import { resolvedDraft } from '../../waits/end-of-wait.ts';
import { failure, success } from '../bodies/call-body.ts';
import type { DispatchState } from '../dispatch-state.ts';
import type { CodeEnd, Consequence, EndedFlow, ExecutionEnd } from '../messages.ts';
import { afterFailure } from './after-failure.ts';
import { changeOf, endBy } from './changes.ts';
import { endExecution } from './execution-end.ts';
import { giveUpWait } from './waits.ts';

/** Number of waits closed by one commit. Each takes four of its 300 writes. */
const WAITS_A_COMMIT = 50;
type FinishedCode = Exclude<CodeEnd, { kind: 'diverged' }>;

const WAIT_ABANDONED = 'the flow ended without it';

export function flowEnded(dispatch: DispatchState, { step, execution, end: codeEnd }: EndedFlow): void {
  const { deps, runId } = dispatch;
  const executed = { unit: { step }, execution };
  const ending = dispatch.endingOf(executed);
  if (codeEnd.kind === 'diverged') {
    // The run fails whatever `onFailure` says: recorded results must not be mixed with those of changed code.
    const message = `the flow '${step.id}' has diverged: ${codeEnd.message}`;
    const { mask = String } = deps;
    const error = { code: 'FLOW_DIVERGED', message: mask(message), stepId: step.id, retryable: false };
    endExecution(dispatch, endBy(executed, [build.failed(ending, error)]));
    return;
  }
  const result = resultOf(step, codeEnd, deps.mask);
  if (result.kind === 'succeeded') {
    const { output, degraded } = result;
    const events = (stored: Output) => [build.done(ending, stored, { degraded })];
    closeWaits(dispatch, { ...executed, outcome: { kind: 'done', output }, events });
    return;
  }
  const next = afterFailure(deps, { runId, step, execution, now: ending.now }, result);
  if (next.kind !== 'give_up') {
    const event = build.retryScheduled(execution, { at: next.at, error: result.error });
    dispatch.record(changeOf(executed, [event], { kind: 'rests', at: next.at }));
    return;
  }
  const failed = endBy(executed, [build.failedByPolicy(ending, result.error)]);
  // A failing run keeps its open waits (lastHandoff).
  if (step.onFailure.kind === 'fail') endExecution(dispatch, failed);
  else closeWaits(dispatch, failed);
}

function resultOf({ id, returns }: FlowStep, end: FinishedCode, mask: Mask | undefined) {
  if (end.kind === 'threw') {
    const failed = failure(id, end.cause, mask);
    return end.code === undefined ? failed : { ...failed, error: { ...failed.error, code: end.code } };
  }
  try {
    return success({ id, output: returns }, end.value, mask);
  } catch (thrown) {
    return failure(id, readableThrown(thrown), mask);
  }
}

/** Closes the waits of the flow in batches, and then ends it. */
export function closeWaits(dispatch: DispatchState, ending: ExecutionEnd): void {
  const { unit, execution } = ending;
  const { now } = dispatch;
  const done = { kind: 'waits_closed' as const, waits: [], ending };
  dispatch.record({
    unit,
    execution,
    decide: (state) => {
      const waits = openWaits(state, execution).slice(0, WAITS_A_COMMIT);
      return {
        events: waits.flatMap((wait) => closed(unit.step, wait, now)),
        consequence: { ...done, waits },
      };
    },
    otherwise: done,
  });
}

/** Call when the journal has closed these waits of the flow. @param waits empty if none was open */
export function waitsClosed(
  dispatch: DispatchState,
  { waits, ending }: Extract<Consequence, { kind: 'waits_closed' }>,
): void {
  if (waits.length === 0) {
    endExecution(dispatch, ending);
    return;
  }
  const runIds = waits.map((wait) => giveUpWait(dispatch, wait)).filter((runId) => runId !== undefined);
  if (runIds.length === 0) {
    closeWaits(dispatch, ending);
    return;
  }
  dispatch.do({ kind: 'cancel_children', runIds, message: { kind: 'close_waits', ending } });
}

function openWaits({ waits }: RunState, { stepId, revision }: StepExecution): Wait[] {
  return waits.filter(
    ({ execution: of }) => of.stepId === stepId && of.itemKey !== undefined && of.revision === revision,
  );
}

function closed(step: StepDefinition, wait: Wait, now: number): EventDraft[] {
  // The registration of a child stays until the child has ended.
  const end: EventDraft = wait.child
    ? { type: 'wait_expired', initiator: 'system', data: { waitId: wait.id } }
    : resolvedDraft(wait, { initiator: 'system' });
  return [end, build.skipped({ step, execution: wait.execution, now }, WAIT_ABANDONED)];
}
