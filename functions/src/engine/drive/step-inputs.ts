/** What a step is called with: its place in the run, and the values its body sees. */

import { inputsHash } from '../../core/encoding/fingerprint.ts';
import type { StepExecution, StepRef } from '../../core/run/events.ts';
import type { RunState } from '../../core/run/state.ts';
import type { LogFields } from '../../ports/log.ts';
import type { SleepStep, StepDefinition } from '../define/steps.ts';
import type { EngineDeps } from '../deps.ts';
import { NO_OUTPUT } from './drafts.ts';
import type { Outputs } from './outputs.ts';

/** The next execution of a step: attempts and first start are carried over from what the journal holds. */
export function nextExecution(
  state: RunState,
  step: StepDefinition,
  outputs: Outputs,
  now: number,
): StepExecution {
  const before = state.steps.get(step.id);
  const begun = before && (before.phase === 'running' || before.phase === 'retrying') ? before : undefined;
  const revision = before?.revision ?? 1;
  const needs = Object.fromEntries(
    Object.entries(step.needs).map(([name, id]) => [name, (outputs.get(id) ?? NO_OUTPUT).hash]),
  );
  const { type, planVersion, inputHash } = state;
  return {
    stepId: step.id,
    revision,
    kind: step.kind,
    attempt: (begun?.attempt ?? 0) + 1,
    inputsHash: inputsHash({ type, planVersion, stepId: step.id, revision, input: inputHash, needs }),
    startedAt: begun?.startedAt ?? now,
  };
}

export interface ContextParams {
  readonly deps: EngineDeps;
  readonly runId: string;
  readonly step: StepDefinition;
  readonly execution: StepExecution;
  readonly input: unknown;
  readonly outputs: Outputs;
  readonly signal: AbortSignal;
}

/** The one argument of a body (`StepContext` and the outputs it needs). */
export function bodyContext(params: ContextParams): Readonly<Record<string, unknown>> {
  const { deps, runId, step, execution, input, outputs, signal } = params;
  const { attempt, revision } = execution;
  return {
    ...Object.fromEntries(Object.entries(step.needs).map(([name, id]) => [name, outputs.value(id)])),
    input,
    runId,
    stepId: step.id,
    attempt,
    revision,
    signal,
    log: (message: string, fields?: LogFields) =>
      deps.log.info('step_log', { ...fields, message, runId, stepId: step.id, attempt }),
  };
}

export type Entry =
  | { readonly kind: 'run' }
  | { readonly kind: 'skip' }
  | { readonly kind: 'failed'; readonly cause: unknown };

/** Whether the step's own condition lets it run. A condition that throws fails the step like its body would. */
export function mayEnter(step: StepDefinition, context: Readonly<Record<string, unknown>>): Entry {
  if (!step.when) return { kind: 'run' };
  try {
    return step.when(context) ? { kind: 'run' } : { kind: 'skip' };
  } catch (cause) {
    return { kind: 'failed', cause };
  }
}

export function refOf({ stepId, itemKey, revision }: StepRef): StepRef {
  return itemKey === undefined ? { stepId, revision } : { stepId, itemKey, revision };
}

/** When a sleep ends. A function of the author's that throws fails the step. */
export function dueTime(
  step: SleepStep,
  context: Readonly<Record<string, unknown>>,
  now: number,
): { readonly kind: 'due'; readonly at: number } | { readonly kind: 'failed'; readonly cause: unknown } {
  try {
    return { kind: 'due', at: step.dueAt(context, now) };
  } catch (cause) {
    return { kind: 'failed', cause };
  }
}
