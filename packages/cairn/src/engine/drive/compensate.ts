/**
 * Undoes what a run did, once it is clear that it ends badly: compensations of completed steps in reverse order of
 * completion, each recorded; one that fails does not keep the others from running.
 *
 * Must not: decide that a run ends badly, or end it.
 */

import { compensationsDue, failedAttempts } from '../../core/decisions/compensation.ts';
import { RetryAt } from '../../core/errors.ts';
import { listChange, markOf } from '../../core/plan/item-marks.ts';
import type { RecordedError, ReleaseError, StepExecution } from '../../core/run/events.ts';
import { type Completed, isSuspended, type RunState, stepIdOf, stepRefOf } from '../../core/run/state.ts';
import { messageOf } from '../../core/thrown.ts';
import type { Decide } from '../../journal/batch.ts';
import { pause } from '../../ports/clock.ts';
import { undoStep } from '../define/flow/flow-step.ts';
import type { BodyStep, Context, MapStep, StepDefinition } from '../define/steps.ts';
import { deployedFor } from '../definition-of-run.ts';
import { compensationStarted, refOf } from '../recording/event-builders.ts';
import type { Output } from '../recording/output.ts';
import { endSpanWith } from '../tracing/ends.ts';
import { BodyAttempt, type BodyAttemptParams } from './bodies/body-attempt.ts';
import { StepAborted } from './bodies/call-body.ts';
import type { LeasedRun } from './dispatch-state.ts';
import { afterFailure } from './next/after-failure.ts';
import { loadOutputs, StepOutputs } from './outputs.ts';
import { type BodyUnit, keyOf, seenBy } from './step-inputs.ts';

interface CompensationOptions {
  /** The reason why the run ends, if no step of it failed. */
  readonly error: RecordedError | undefined;
  /** Aborts when the dispatch must release the run. */
  readonly stop: AbortSignal;
}

/**
 * `stopped`: the next dispatch continues with the rest; `error` is of the last attempt of this dispatch at the compensation under way.
 * `later`: it must not begin before `at` (epoch ms), the time that the receiver of a compensation has named with `error`. Both errors
 * have the number of failed attempts, over all dispatches.
 */
export type UndoEnd =
  | { readonly kind: 'done' }
  | { readonly kind: 'stopped'; readonly error?: ReleaseError | undefined }
  | { readonly kind: 'later'; readonly at: number; readonly error: ReleaseError };

export async function compensate(run: LeasedRun, { error, stop }: CompensationOptions): Promise<UndoEnd> {
  const { deps, journal } = run;
  const { isCompensable } = deployedFor(deps.registry, journal.state);
  const due = (state: RunState) => compensationsDue(state, isCompensable);
  const { state } = await journal.append((current) => {
    const steps = due(current).map(({ step }) => step);
    if (steps.length === 0 || current.compensating) return [];
    return [compensationStarted(steps, error)];
  });
  for (const completed of due(state)) {
    if (mustStop(journal.state, stop)) return { kind: 'stopped' };
    const end = await undo(run, completed, stop);
    if (end.kind !== 'done') return end;
  }
  return { kind: 'done' };
}

/** The journal of the dispatch learns of these requests while it works. */
function mustStop(state: RunState, stop: AbortSignal): boolean {
  return stop.aborted || isSuspended(state) || state.cancellation?.withoutUndo === true;
}

async function undo(run: LeasedRun, completed: Completed, stop: AbortSignal): Promise<UndoEnd> {
  const { deps, journal } = run;
  const { shortRetryMs } = deps.settings;
  const { unit, seen, execution: first } = await undoable(run, completed);
  const { id: runId, lease } = journal.state;
  const ref = refOf(first);
  // Events of work that outlasts the dispatch or the run are dropped.
  const append = (decide: Decide) =>
    journal.append((state) => (state.lease?.owner === lease?.owner ? decide(state) : []));
  const undoing = { unit, seen, append, alive: new Map() };
  const counted = (error: RecordedError, attempts: number): ReleaseError => ({
    ...error,
    undo: { step: completed.step, revision: completed.revision, attempts },
  });
  const before = failedAttempts(journal.state, completed);
  let failure: ReleaseError | undefined;
  for (let attempt = before + 1; ; attempt += 1) {
    const execution = { ...first, attempt };
    const { result, settled } = await undoOnce(run, { ...undoing, execution }, stop);
    if (result.kind === 'succeeded') {
      await journal.append(() => [...settled, { type: 'step_compensated', initiator: 'system', data: ref }]);
      return { kind: 'done' };
    }
    // No question can be asked any more: a compensation that needs one has failed.
    if (result.kind !== 'failed') return { kind: 'stopped', error: failure };
    const now = deps.clock.now();
    // This attempt is not counted, even if it is the last, because the receiver named a time for another.
    if (result.cause instanceof RetryAt && result.cause.at - now > shortRetryMs) {
      deps.log.warn('compensation_rests', { runId, step: unit.step.id, until: result.cause.at });
      if (settled.length > 0) await journal.append(() => settled);
      return { kind: 'later', at: result.cause.at, error: counted(result.error, attempt - 1) };
    }
    const next = afterFailure(deps, { runId, step: unit.step, execution, now, undoes: true }, result);
    if (next.kind === 'give_up') {
      const data = { ...ref, error: result.error };
      await journal.append(() => [...settled, { type: 'compensation_failed', initiator: 'system', data }]);
      return { kind: 'done' };
    }
    if (settled.length > 0) await journal.append(() => settled);
    failure = counted(result.error, attempt);
    // The other compensations wait for this one, so pauses are short.
    await pause(deps.clock, Math.min(shortRetryMs, Math.max(0, next.at - now)), stop);
    if (mustStop(journal.state, stop)) return { kind: 'stopped', error: failure };
  }
}

type UndoAttempt = Pick<BodyAttemptParams, 'unit' | 'seen' | 'execution' | 'alive' | 'append'>;

/** `settled` is written to the journal with the result. */
async function undoOnce(
  { deps, journal, report, restoredAt }: LeasedRun,
  undoing: UndoAttempt,
  stop: AbortSignal,
) {
  const attempt = new BodyAttempt({ ...undoing, deps, journal, report, restoredAt, undoes: true });
  const { abort, span } = attempt;
  const onStop = () => abort.abort(stop.reason ?? new StepAborted('shutdown'));
  stop.addEventListener('abort', onStop, { once: true });
  const { id, timeoutMs, idempotent, compensate } = undoing.unit.step;
  const body = async (seen: Context) => {
    await compensate?.(seen);
    // The return value is ignored.
    return null;
  };
  const result = await endSpanWith(span, attempt.run({ id, timeoutMs, idempotent, body }), abort.signal);
  const settled = await attempt.end(result);
  report.ended(keyOf(undoing.unit));
  stop.removeEventListener('abort', onStop);
  abort.abort(new StepAborted('timeout'));
  return { result, settled };
}

/** Arguments of a compensation: the inputs of the step, as far as they still exist, and its output. */
async function undoable(
  { deps, journal, workflow, input }: LeasedRun,
  { step: key, revision, seq }: Completed,
) {
  const { state } = journal;
  const step = undoing(workflow.steps.get(stepIdOf(key)), stepRefOf(key, revision).itemKey);
  const outputs = new StepOutputs(workflow, [step.id], []);
  await outputs.load(deps.store, state);
  const [output] = await loadOutputs(deps.store, state.id, [seq]);
  const unit: BodyUnit = key === step.id ? { step } : { step, item: itemOf() };
  const seen = { ...seenBy(unit, input, outputs), output: returned(output) };
  const execution: StepExecution = {
    stepId: step.id,
    ...(unit.item ? { itemKey: unit.item.key } : {}),
    revision,
    kind: step.kind,
    attempt: 1,
    inputsHash: '',
    startedAt: deps.clock.now(),
  };
  return { unit, seen, execution };

  function itemOf() {
    const itemKey = key.slice(step.id.length + 1, -1);
    const index = Number(itemKey);
    return { key: itemKey, index, value: step.kind === 'map' ? itemAt(step, index) : undefined };
  }

  /** Undefined if the list has changed: a step that was sent back may have removed its source. */
  function itemAt({ set }: MapStep, index: number): unknown {
    try {
      const items = set.over(seenBy({ step }, input, outputs));
      const change = listChange(state, { stepId: step.id, revision, items: markOf(items) });
      if (change !== undefined) throw new Error(change);
      return items[index];
    } catch (error) {
      deps.log.warn('compensation_without_item', { runId: state.id, step: key, error: messageOf(error) });
      return undefined;
    }
  }
}

/** The step, or for an operation of a flow a step that undoes it. */
function undoing(step: StepDefinition | undefined, itemKey = ''): BodyStep {
  return (step?.kind === 'flow' ? undoStep(step, itemKey) : step) as BodyStep;
}

function returned(output: Output | undefined): unknown {
  return output === undefined ? undefined : JSON.parse(output.text);
}
