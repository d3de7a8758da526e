/** The events a drive writes. Pure: everything they say is handed in. */

import { sha256Hex } from '../../core/encoding/hash.ts';
import { CairnError } from '../../core/errors.ts';
import type { EventDraft, RecordedError, StepExecution, StepSettled, Wait } from '../../core/run/events.ts';
import { cut, SUMMARY_CHARS, TRACE_CHARS } from '../../core/run/records.ts';
import type { RunState } from '../../core/run/state.ts';
import { assertFits, storedValue } from '../../core/run/values.ts';
import type { StepDefinition } from '../define/steps.ts';
import type { Output } from './outputs.ts';

/** A skipped step's output, for those who run nevertheless and for the fingerprint of their inputs. */
export const NO_OUTPUT: Output = { text: 'null', hash: sha256Hex('null') };

/** A run, or one that is about to be asked to end. */
export interface Cancelled {
  readonly cancellation?: Omit<NonNullable<RunState['cancellation']>, 'requestedAt'>;
}

export interface Ending {
  readonly step: StepDefinition;
  readonly execution: StepExecution;
  /** Epoch ms. */
  readonly now: number;
}

export function started(execution: StepExecution): EventDraft {
  return { type: 'step_started', initiator: 'system', data: execution };
}

export function succeeded(ending: Ending, output: Output): EventDraft {
  return {
    type: 'step_succeeded',
    initiator: 'system',
    data: { ...settled(ending, output), outputsSummary: cut(output.text, SUMMARY_CHARS) },
    ...carried(output),
  };
}

export function skipped(ending: Ending, reason: string): EventDraft {
  return {
    type: 'step_skipped',
    initiator: 'system',
    data: { ...settled(ending, NO_OUTPUT), outputsSummary: cut(reason, SUMMARY_CHARS), reason },
    outputText: NO_OUTPUT.text,
  };
}

export function failed(ending: Ending, error: RecordedError): EventDraft {
  return {
    type: 'step_failed',
    initiator: 'system',
    data: { ...settled(ending, NO_OUTPUT), outputsSummary: '', error },
  };
}

export function degraded(ending: Ending, output: Output, reason: string): EventDraft {
  return {
    type: 'step_degraded',
    initiator: 'system',
    data: {
      ...settled(ending, output),
      outputsSummary: cut(output.text, SUMMARY_CHARS),
      reason: cut(reason, TRACE_CHARS),
    },
    ...carried(output),
  };
}

/** What the step declared its final failure to mean. */
export function failedByPolicy(ending: Ending, error: RecordedError): EventDraft {
  const { onFailure } = ending.step;
  // Of an item, its step decides once all are seen.
  if (ending.execution.itemKey !== undefined || onFailure.kind === 'fail') return failed(ending, error);
  const reason = `${error.code}: ${error.message}`;
  if (onFailure.kind === 'skip') return skipped(ending, reason);
  return degraded(ending, { text: onFailure.text, hash: sha256Hex(onFailure.text) }, reason);
}

/** The wait of a sleep that begins at `now` and is due at `dueAt`, epoch ms. */
export function sleepOpened(execution: StepExecution, dueAt: number, now: number): EventDraft {
  const { stepId, revision } = execution;
  const wait: Wait = { id: `${stepId}.${revision}`, kind: 'timer', execution, openedAt: now, dueAt };
  return { type: 'wait_opened', initiator: 'system', data: { wait } };
}

/** A sleep is over: its wait is resolved and the step has succeeded, in one commit. */
export function sleepEnded(ending: Ending, waitId: string): EventDraft[] {
  return [{ type: 'wait_resolved', initiator: 'timeout', data: { waitId } }, succeeded(ending, NO_OUTPUT)];
}

/** The run has nothing to do before `until`, epoch ms. */
export function suspended(until: number): EventDraft {
  return { type: 'run_suspended', initiator: 'system', data: { status: 'waiting_external', until } };
}

export function retryScheduled(execution: StepExecution, retryAt: number, error: RecordedError): EventDraft {
  return { type: 'step_retry_scheduled', initiator: 'system', data: { ...execution, retryAt, error } };
}

/**
 * The end of a run that did all it had to: its result, from the outputs of the steps the workflow returned. Outputs
 * that each fit but are too large together fail the run.
 */
export function completed(
  state: RunState,
  result: Readonly<Record<string, string>>,
  outputOf: (id: string) => Output | undefined,
): EventDraft {
  const names = Object.keys(result).sort();
  const members = names.map(
    (name) => `${JSON.stringify(name)}:${(outputOf(result[name] ?? '') ?? NO_OUTPUT).text}`,
  );
  const text = `{${members.join(',')}}`;
  try {
    assertFits(text, 'the result of the run');
  } catch (error) {
    if (!(error instanceof CairnError)) throw error;
    return runFailed({ code: error.code, message: error.message, retryable: false });
  }
  return {
    type: 'run_completed',
    initiator: 'system',
    data: { result: storedValue(text, state.head + 1) },
    outputText: text,
  };
}

export function runFailed(error: RecordedError): EventDraft {
  return { type: 'run_failed', initiator: 'system', data: { error } };
}

/** @param cancellation who wants it and why; `requestedAt` is not said again */
export function runCancelled({ cancellation }: Cancelled): EventDraft<'run_cancelled'> {
  return {
    type: 'run_cancelled',
    initiator: cancellation?.stopKind === 'policy' ? 'policy' : cancellation?.actor ? 'user' : 'system',
    ...(cancellation?.actor === undefined ? {} : { actor: cancellation.actor }),
    data: {
      stopKind: cancellation?.stopKind ?? 'system',
      ...(cancellation?.reason === undefined ? {} : { reason: cancellation.reason }),
    },
  };
}

/** The output as its checkpoint carries it: in full, or as a reference to where it was put. */
function carried({ text, ref }: Output): Pick<EventDraft, 'outputText' | 'outputRef'> {
  return ref === undefined ? { outputText: text } : { outputRef: ref };
}

function settled({ step, execution, now }: Ending, output: Output): Omit<StepSettled, 'outputsSummary'> {
  return {
    ...execution,
    outputHash: output.hash,
    resumable: step.resumable,
    idempotent: step.idempotent,
    durationMs: Math.max(0, now - execution.startedAt),
  };
}
