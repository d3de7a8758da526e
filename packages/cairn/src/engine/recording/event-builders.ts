/** Builds the events by which executions and runs begin and end. Pure: all data comes from the arguments. */

import type { Spend } from '../../core/budget/budget.ts';
import { MAX_SHOWN } from '../../core/run/bounded.ts';
import type {
  EventData,
  EventDraft,
  RecordedError,
  StepExecution,
  StepRef,
  StepSettled,
} from '../../core/run/events.ts';
import { waitingStatus } from '../../core/run/now/waits-for.ts';
import { cut, SUMMARY_CHARS, TRACE_CHARS } from '../../core/run/records.ts';
import type { RunState } from '../../core/run/state.ts';
import type { StepDefinition } from '../define/steps.ts';
import { NO_OUTPUT, type Outcome, type Output, outputFrom, type Used } from './output.ts';

export interface EndedExecution {
  readonly step: StepDefinition;
  readonly execution: StepExecution;
  /** Epoch ms. */
  readonly now: number;
}

/** The identity of an execution, without its state. */
export function refOf({ stepId, itemKey, revision }: StepRef): StepRef {
  return itemKey === undefined ? { stepId, revision } : { stepId, itemKey, revision };
}

/** @param more `items`: of a set, the mark of its list. `reserved`: of the run's budget */
export function started(
  execution: StepExecution,
  more: { readonly items?: string | undefined; readonly reserved?: Spend | undefined } = {},
): EventDraft {
  return { type: 'step_started', initiator: 'system', data: { ...execution, ...more } };
}

/** The accounting of an attempt in the journal. `spent`: of the run's budget, if there is one. */
type Accounted = Used & { readonly spent?: Spend | undefined };

export function succeeded(ending: EndedExecution, output: Output, used: Accounted = {}): EventDraft {
  return {
    type: 'step_succeeded',
    initiator: 'system',
    data: { ...settled(ending, output), ...used, outputsSummary: cut(output.text, SUMMARY_CHARS) },
    ...carried(output),
  };
}

/** A body returned, with a full or a degraded output. */
export function done(
  ending: EndedExecution,
  output: Output,
  { degraded: reason, ...used }: Accounted & { degraded?: string | undefined },
): EventDraft {
  return reason === undefined ? succeeded(ending, output, used) : degraded(ending, output, reason, used);
}

export function skipped(ending: EndedExecution, reason: string, used: Accounted = {}): EventDraft {
  return {
    type: 'step_skipped',
    initiator: 'system',
    data: { ...settled(ending, NO_OUTPUT), ...used, outputsSummary: cut(reason, SUMMARY_CHARS), reason },
    outputText: NO_OUTPUT.text,
  };
}

export function failed(ending: EndedExecution, error: RecordedError, used: Accounted = {}): EventDraft {
  return {
    type: 'step_failed',
    initiator: 'system',
    data: { ...settled(ending, NO_OUTPUT), ...used, outputsSummary: '', error },
  };
}

export function degraded(
  ending: EndedExecution,
  output: Output,
  reason: string,
  used: Accounted = {},
): EventDraft {
  return {
    type: 'step_degraded',
    initiator: 'system',
    data: {
      ...settled(ending, output),
      ...used,
      outputsSummary: cut(output.text, SUMMARY_CHARS),
      reason: cut(reason, TRACE_CHARS),
    },
    ...carried(output),
  };
}

/** Event for a final failure, as the step declares it. */
export function failedByPolicy(
  ending: EndedExecution,
  error: RecordedError,
  used: Accounted = {},
): EventDraft {
  const { onFailure } = ending.step;
  // The failure of an item counts for its step once all items are known.
  if (ending.execution.itemKey !== undefined || onFailure.kind === 'fail') return failed(ending, error, used);
  const reason = `${error.code}: ${error.message}`;
  if (onFailure.kind === 'skip') return skipped(ending, reason, used);
  return degraded(ending, outputFrom(onFailure.text), reason, used);
}

/** @param steps keys of those that are to be undone, the next one first */
export function compensationStarted(steps: readonly string[], error: RecordedError | undefined): EventDraft {
  const count = steps.length > MAX_SHOWN ? steps.length : undefined;
  const data = { steps: steps.slice(0, MAX_SHOWN), count, error };
  return { type: 'compensation_started', initiator: 'system', data };
}

/** The run ends once its children have ended; nothing else wakes it before. `error`: the reason of its failure, if it fails. */
export function suspendedForChildren(error: RecordedError | undefined): EventDraft {
  const data = { status: 'waiting_external' as const, announced: true as const, error };
  return { type: 'run_suspended', initiator: 'system', data };
}

/** The run waits for an answer or a time. All waits are announced. */
export function suspended(state: RunState, until: number | undefined): EventDraft {
  return {
    type: 'run_suspended',
    initiator: 'system',
    data: { status: waitingStatus(state.waits), announced: true, until },
  };
}

interface Retry {
  /** Epoch ms. */
  readonly at: number;
  readonly error: RecordedError;
  /** Amounts of the run's budget that the attempt before spent. */
  readonly spent?: Spend | undefined;
}

export function retryScheduled(
  execution: StepExecution,
  { at, error, spent }: Retry,
  how: Pick<EventData['step_retry_scheduled'], 'polled' | 'whenRoom' | 'budget'> = {},
): EventDraft {
  const data = { ...execution, retryAt: at, ...how, error, spent };
  return { type: 'step_retry_scheduled', initiator: 'system', data };
}

/** The retry of a poll whose condition does not hold yet. */
export function pollScheduled(execution: StepExecution, retry: Retry): EventDraft {
  return retryScheduled(polledAgain(execution), retry, { polled: true });
}

/** The execution is retried when its question fits among the open waits. */
export function retryWhenRoom(execution: StepExecution, retry: Retry): EventDraft {
  return retryScheduled(execution, retry, { whenRoom: true });
}

/** The execution begins, or begins again, when the question about the budget fits among the open waits. */
export function retryBudgetWhenRoom(execution: StepExecution, at: number, spent?: Spend): EventDraft {
  return retryWhenRoom(polledAgain(execution), { at, error: budgetReached(execution), spent });
}

/** The execution begins, or begins again, when the run may spend more. */
export function retryWithinBudget(
  execution: StepExecution,
  { at, spent, error = budgetReached(execution) }: Omit<Retry, 'error'> & Partial<Retry>,
): EventDraft {
  return retryScheduled(polledAgain(execution), { at, error, spent }, { budget: true });
}

/** A poll without a failure uses no attempt of `retry`. */
function polledAgain(execution: StepExecution): StepExecution {
  return { ...execution, polls: (execution.polls ?? 0) + 1 };
}

/** The error of an execution that waits because other runs of the tenant may leave enough of the budget. */
export function budgetOfOthers(execution: StepExecution): RecordedError {
  return budgetReached(execution, 'other runs hold the rest of what the tenant may spend on this day');
}

function budgetReached({ stepId }: StepRef, message = 'the run has reached its budget'): RecordedError {
  return { code: 'BUDGET_REACHED', message, stepId, retryable: true };
}

/** The output as its checkpoint carries it: in full, or as a reference to where it was put. */
export function carried({ text, ref }: Output): Pick<EventDraft, 'outputText' | 'outputRef'> {
  return ref === undefined ? { outputText: text } : { outputRef: ref };
}

/** Outcome of the execution that these events end; undefined if they end none. Only for outputs stored inline. */
export function outcomeOf(events: readonly EventDraft[]): Outcome | undefined {
  for (const event of events) {
    switch (event.type) {
      case 'step_succeeded':
      case 'step_degraded':
        return { kind: 'done', output: { text: event.outputText ?? 'null', hash: event.data.outputHash } };
      case 'step_skipped':
        return { kind: 'skipped' };
      case 'step_failed':
        return { kind: 'failed', error: event.data.error };
      default:
    }
  }
  return undefined;
}

function settled(
  { step, execution, now }: EndedExecution,
  output: Output,
): Omit<StepSettled, 'outputsSummary'> {
  return {
    ...execution,
    outputHash: output.hash,
    resumable: step.resumable,
    idempotent: step.idempotent,
    durationMs: Math.max(0, now - execution.startedAt),
  };
}
