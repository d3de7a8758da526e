/**
 * Ends of executions: records them, passes their outcomes on, and ends the sets that they decide. After the last execution the
 * end of the run is queued in the same commit.
 */
import { needsPayload } from '../../../core/run/values.ts';
import * as build from '../../recording/event-builders.ts';
import type { Outcome, Output } from '../../recording/output.ts';
import type { DispatchState } from '../dispatch-state.ts';
import type { ItemSet } from '../item-set.ts';
import type { ExecutionEnd } from '../messages.ts';
import { keyOf, type Unit } from '../step-inputs.ts';
import { changeToEnd, endBy } from './changes.ts';

/**
 * Stores a large output first. The execution counts as running until its record is queued, so a dispatch that must release the
 * run waits for it.
 */
export function endExecution(dispatch: DispatchState, ending: ExecutionEnd): void {
  const { outcome, events } = ending;
  if (outcome.kind === 'done' && typeof events === 'function' && needsPayload(outcome.output.text)) {
    dispatch.unqueuedEnds += 1;
    dispatch.do({ kind: 'keep', ending });
  } else recordEnd(dispatch, ending, outcome);
}

export function recordStored(dispatch: DispatchState, ending: ExecutionEnd, output: Output): void {
  dispatch.unqueuedEnds -= 1;
  recordEnd(dispatch, ending, { kind: 'done', output });
}

function recordEnd(dispatch: DispatchState, ending: ExecutionEnd, outcome: Outcome): void {
  dispatch.record(changeToEnd(ending, outcome));
  outcomeKnown(dispatch, ending.unit, outcome);
}

/** Handles an execution whose end is already in the journal. */
export function endedInJournal(dispatch: DispatchState, unit: Unit, outcome: Outcome): void {
  outcomeKnown(dispatch, unit, outcome);
  outcomeRecorded(dispatch, unit, outcome);
}

/**
 * Passes an outcome on before its record is in the journal. The end of a set is queued directly after that of its last item, in
 * the same commit.
 */
export function outcomeKnown(dispatch: DispatchState, { step, item }: Unit, outcome: Outcome): void {
  if (item) {
    const set = dispatch.sets.get(step.id);
    set?.settle(item.index, outcome);
    if (set) endSetIfDecided(dispatch, set);
    return;
  }
  if (outcome.kind === 'failed') dispatch.failure ??= outcome.error;
  if (outcome.kind === 'done') dispatch.outputs.put(step.id, outcome.output);
  dispatch.outputs.release(step);
  dispatch.sets.delete(step.id);
  dispatch.flows.get(step.id)?.drop();
  dispatch.flows.delete(step.id);
  dispatch.unsettled -= 1;
}

/** Call when the record of the outcome is in the journal, so that dependents may begin. */
export function outcomeRecorded(dispatch: DispatchState, unit: Unit, outcome: Outcome): void {
  const { step, item } = unit;
  const key = keyOf(unit);
  dispatch.budget.settled(key);
  if (!item) {
    dispatch.tracker.settle(step.id, outcome.kind);
    return;
  }
  dispatch.operations.delete(key);
  dispatch.flows.get(step.id)?.ended(item.key, outcome);
}

/** A set ends when its outcome is decided and none of its items is running. */
export function endSetIfDecided(dispatch: DispatchState, set: ItemSet): void {
  if (set.closed || set.loading || set.status === 'open') return;
  stopWaitingItems(dispatch, set);
  if (!set.finished) return;
  set.closed = true;
  const { step, execution } = set;
  const executed = { unit: { step }, execution };
  const ending = dispatch.endingOf(executed);
  const outcome = set.outcome();
  if (outcome.kind === 'failed')
    endExecution(dispatch, endBy(executed, [build.failedByPolicy(ending, outcome.error)]));
  else
    endExecution(dispatch, { ...executed, outcome, events: (output) => [build.succeeded(ending, output)] });
}

/** Drops items that rest between two attempts, because they are no longer needed. */
function stopWaitingItems(dispatch: DispatchState, set: ItemSet): void {
  for (let index = 0; index < set.size; index += 1) {
    if (set.stateOf(index) === 'open' && dispatch.wake(keyOf(set.unit(index)))) set.mark(index, 'idle');
  }
}
