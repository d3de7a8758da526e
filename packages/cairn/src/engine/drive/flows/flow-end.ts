/**
 * The end of a flow: its output or failure as the journal keeps it, or another attempt of its code. Waits that are still
 * open are closed first, since nothing needs their answers.
 */
import { CairnError, Fatal } from '../../../core/errors.ts';
import type { EventDraft, RecordedError, StepExecution, Wait } from '../../../core/run/events.ts';
import type { RunState } from '../../../core/run/state.ts';
import type { Mask } from '../../../core/secrets/mask.ts';
import { readable } from '../../../core/thrown.ts';
import { isDegraded } from '../../define/body-result.ts';
import type { FlowStep, StepDefinition } from '../../define/steps.ts';
import * as drafts from '../../facts/drafts.ts';
import { checked, type Output, outputOf, recorded } from '../../facts/output.ts';
import { resolved } from '../../waits/settle.ts';
import { afterFailure } from '../bodies/after-failure.ts';
import { changeOf, endBy } from '../changes.ts';
import type { CodeEnd, Consequence, EndedFlow, ExecutionEnd } from '../messages.ts';
import { end } from '../next/settle.ts';
import { giveUp } from '../waiting/waits.ts';
import type { Working } from '../working.ts';

type CodeResult =
  | { readonly kind: 'done'; readonly output: Output; readonly degraded?: string }
  | { readonly kind: 'failed'; readonly cause: unknown; readonly error: RecordedError };

/** Waits that one commit closes: each takes four writes of its 300. */
const CLOSED_AT_ONCE = 50;
const GIVEN_UP = 'the flow ended without it';

export function flowEnded(working: Working, { step, execution, end: codeEnd }: EndedFlow): void {
  const { deps, runId, now } = working;
  const executed = { unit: { step }, execution };
  const ending = { step, execution, now };
  if (codeEnd.kind === 'diverged') {
    // The run fails whatever `onFailure` says: recorded results must not be mixed with those of changed code.
    const message = `the flow '${step.id}' has diverged: ${codeEnd.message}`;
    const { mask = String } = deps;
    const error = { code: 'FLOW_DIVERGED', message: mask(message), stepId: step.id, retryable: false };
    end(working, endBy(executed, [drafts.failed(ending, error)]));
    return;
  }
  const result = resultOf(step, codeEnd, deps.mask);
  if (result.kind === 'done') {
    const { output, degraded } = result;
    const facts = (stored: Output) => [drafts.done(ending, stored, { degraded })];
    closeWaits(working, { ...executed, outcome: { kind: 'done', output }, facts });
    return;
  }
  const next = afterFailure(deps, { runId, ...ending }, result);
  if (next.kind !== 'give_up') {
    const fact = drafts.retryScheduled(execution, next.at, result.error);
    const change = changeOf(executed, [fact], { kind: 'rests', at: next.at });
    working.do({ kind: 'record', change });
    return;
  }
  const failed = endBy(executed, [drafts.failedByPolicy(ending, result.error)]);
  // A failing run keeps the waits that are open (lastHandoff).
  if (step.onFailure.kind === 'fail') end(working, failed);
  else closeWaits(working, failed);
}

function resultOf(
  { id, returns }: FlowStep,
  end: Exclude<CodeEnd, { kind: 'diverged' }>,
  mask: Mask | undefined = String,
): CodeResult {
  if (end.kind === 'threw') return failure(recorded(id, end.cause, mask), end.cause, end.code);
  try {
    const { value } = end;
    const returned = isDegraded(value) ? value.value : value;
    const output = outputOf(
      checked({ id, ...(returns && { output: returns }) }, returned),
      `output of step '${id}'`,
    );
    return { kind: 'done', output, ...(isDegraded(value) && { degraded: mask(value.reason) }) };
  } catch (thrown) {
    const cause = readable(thrown);
    return failure(recorded(id, cause, mask), cause);
  }
}

function failure(error: RecordedError, thrown: unknown, code?: string): CodeResult {
  // Errors of ours about a value are final: the code would do the same again.
  const isFinal = thrown instanceof CairnError && thrown.httpStatus < 500;
  const cause = isFinal ? new Fatal(thrown.message, { cause: thrown }) : thrown;
  return { kind: 'failed', cause, error: code === undefined ? error : { ...error, code } };
}

/** Closes the waits of the flow, some at a time, and then ends it. */
export function closeWaits(working: Working, ending: ExecutionEnd): void {
  const { unit, execution } = ending;
  const { now } = working;
  const done = { kind: 'waits_closed' as const, waits: [], ending };
  working.do({
    kind: 'record',
    change: {
      unit,
      execution,
      decide: (state) => {
        const waits = openWaits(state, execution).slice(0, CLOSED_AT_ONCE);
        return {
          facts: waits.flatMap((wait) => closed(unit.step, wait, now)),
          consequence: { ...done, waits },
        };
      },
      otherwise: done,
    },
  });
}

/** The journal has closed these waits of the flow; empty: none was open. */
export function waitsClosed(
  working: Working,
  { waits, ending }: Extract<Consequence, { kind: 'waits_closed' }>,
): void {
  if (waits.length === 0) {
    end(working, ending);
    return;
  }
  const runIds = waits.map((wait) => giveUp(working, wait)).filter((runId) => runId !== undefined);
  if (runIds.length === 0) {
    closeWaits(working, ending);
    return;
  }
  working.do({ kind: 'cancel_children', runIds, message: { kind: 'close_waits', ending } });
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
    : resolved(wait, { initiator: 'system' });
  return [end, drafts.skipped({ step, execution: wait.execution, now }, GIVEN_UP)];
}
