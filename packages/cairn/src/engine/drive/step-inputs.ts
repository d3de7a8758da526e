/** Arguments of a step: its position in the run, and the values its functions see. */

import { inputsHash } from '../../core/encoding/fingerprint.ts';
import { Fatal } from '../../core/errors.ts';
import type { StepExecution } from '../../core/run/events.ts';
import { feedbackFor, type RunState, type StepState, stepKey } from '../../core/run/state.ts';
import { readableThrown } from '../../core/thrown.ts';
import type { BodyStep, ChildStep, Context, MapStep, SetRules, StepDefinition } from '../define/steps.ts';
import { NO_OUTPUT } from '../recording/output.ts';
import { inputHashSeenBy, inputSeenBy } from '../run-input.ts';
import type { StepOutputs } from './outputs.ts';

/** One unit of execution: a step, or one item of a set. */
export interface Unit {
  readonly step: StepDefinition;
  readonly item?: {
    readonly key: string;
    readonly index: number;
    readonly value: unknown;
    /** The flow's request for this operation (core/flow/operation-decision.ts); absent for items of a map step. */
    readonly request?: string;
    /** Source location that asked for it; absent for items of a map step, and if unknown. */
    readonly location?: string;
  };
}

export type BodyUnit = Unit & { readonly step: BodyStep };

export function keyOf({ step, item }: Unit): string {
  return stepKey({ stepId: step.id, ...(item ? { itemKey: item.key } : {}) });
}

/** The next execution of a unit. Attempts and the first start are carried over from the journal. */
export function nextExecution(
  state: RunState,
  unit: Unit,
  { input, outputs, now }: { readonly input: unknown; readonly outputs: StepOutputs; readonly now: number },
): StepExecution {
  const { step, item } = unit;
  const before = state.steps.get(keyOf(unit));
  const begun = before && (before.phase === 'running' || before.phase === 'retrying') ? before : undefined;
  const revision = state.steps.get(step.id)?.revision ?? 1;
  const needs = Object.fromEntries(
    Object.entries(step.needs).map(([name, id]) => [name, (outputs.get(id) ?? NO_OUTPUT).hash]),
  );
  const { type, planVersion, inputHash } = state;
  const feedback = feedbackFor(state, step.id);
  const itemKey = item?.key;
  return {
    stepId: step.id,
    itemKey,
    revision,
    kind: step.kind,
    attempt: attemptOf(unit, begun),
    inputsHash: inputsHash({
      type,
      planVersion,
      stepId: step.id,
      itemKey,
      revision,
      feedback,
      input: inputHashSeenBy(step, input, inputHash),
      needs,
    }),
    request: item?.request,
    location: item?.location,
    startedAt: begun?.startedAt ?? now,
    polls: begun?.polls,
  };
}

function attemptOf({ step, item }: Unit, begun: Begun | undefined): number {
  // A set's record that it began is not an attempt.
  if (!begun || (isSet(step) && !item)) return 1;
  // A flow's code that runs again is not a new attempt.
  if (step.kind === 'flow' && begun.phase === 'running') return begun.attempt;
  // A start that is recorded only because the run is a suspect is not an attempt: after a crash the body begins again under the
  // same number.
  const isSilent = 'body' in step && step.idempotent && step.uses.length === 0;
  return begun.phase === 'running' && isSilent ? begun.attempt : begun.attempt + 1;
}

type Begun = Extract<StepState, { readonly phase: 'running' | 'retrying' }>;

export type SetStep = MapStep | (ChildStep & { readonly set: SetRules });

/** Returns true for a step with several executions. */
export function isSet(step: StepDefinition): step is SetStep {
  return 'set' in step && step.set !== undefined;
}

/** Argument of conditions, questions and keys: the input, and the needed outputs by name. */
export function seenBy(unit: Unit, input: unknown, outputs: StepOutputs): Context {
  const { step, item } = unit;
  return {
    ...Object.fromEntries(Object.entries(step.needs).map(([name, id]) => [name, outputs.value(id)])),
    input: inputSeenBy(step, input),
    ...(item ? { item: item.value, index: item.index } : {}),
  };
}

export type EntryDecision =
  | { readonly kind: 'run' }
  | { readonly kind: 'skip' }
  | { readonly kind: 'failed'; readonly cause: unknown };

/**
 * Evaluates the step's condition. A condition that throws fails the step like its body would.
 *
 * @param seen makes the argument, which is needed only if there is a condition
 */
export function mayEnter(step: StepDefinition, seen: () => Context): EntryDecision {
  if (!step.when) return { kind: 'run' };
  const argument = seen();
  try {
    const condition: unknown = step.when(argument);
    if (condition instanceof Promise) {
      // The promise is not awaited, and an unhandled rejection would end the process.
      condition.catch(() => {});
      throw new Fatal(`'when' of step '${step.id}' must return true or false, not a promise`);
    }
    return condition ? { kind: 'run' } : { kind: 'skip' };
  } catch (thrown) {
    return { kind: 'failed', cause: readableThrown(thrown) };
  }
}
