/**
 * Ends of executions: records them, passes their outcomes on, and ends the sets that they decide. After the last execution, the end
 * of the run is queued behind it and shares its commit.
 */
import { needsPayload } from '../../../core/run/values.ts';
import * as drafts from '../../facts/drafts.ts';
import type { Outcome, Output } from '../../facts/output.ts';
import type { FanOutSet } from '../fan-out-set.ts';
import type { ExecutionEnd } from '../messages.ts';
import { keyOf, type Unit } from '../step-inputs.ts';
import type { Working } from '../working.ts';
import { changeToEnd, endBy } from './changes.ts';

/** A large output is kept first; it counts as running until its record is queued: a dispatch that must release the run waits for it. */
export function end(working: Working, ending: ExecutionEnd): void {
  const { outcome, facts } = ending;
  if (outcome.kind === 'done' && typeof facts === 'function' && needsPayload(outcome.output.text)) {
    working.unqueuedEnds += 1;
    working.do({ kind: 'keep', ending });
  } else recordEnd(working, ending, outcome);
}

export function recordStored(working: Working, ending: ExecutionEnd, output: Output): void {
  working.unqueuedEnds -= 1;
  recordEnd(working, ending, { kind: 'done', output });
}

function recordEnd(working: Working, ending: ExecutionEnd, outcome: Outcome): void {
  working.record(changeToEnd(ending, outcome));
  known(working, ending.unit, outcome);
}

/** An execution whose end the journal has already. */
export function settled(working: Working, unit: Unit, outcome: Outcome): void {
  known(working, unit, outcome);
  durable(working, unit, outcome);
}

/** Before its record is in the journal. The set's end is queued directly after that of its last item, and shares its commit. */
export function known(working: Working, { step, item }: Unit, outcome: Outcome): void {
  if (item) {
    const set = working.sets.get(step.id);
    set?.settle(item.index, outcome);
    if (set) endIfDecided(working, set);
    return;
  }
  if (outcome.kind === 'failed') working.failure ??= outcome.error;
  if (outcome.kind === 'done') working.outputs.put(step.id, outcome.output);
  working.outputs.release(step);
  working.sets.delete(step.id);
  working.flows.get(step.id)?.drop();
  working.flows.delete(step.id);
  working.unsettled -= 1;
}

/** Its record is in the journal: dependents may begin. */
export function durable(working: Working, unit: Unit, outcome: Outcome): void {
  const { step, item } = unit;
  const key = keyOf(unit);
  working.budget.settled(key);
  if (!item) {
    working.tracker.settle(step.id, outcome.kind);
    return;
  }
  working.operations.delete(key);
  working.flows.get(step.id)?.ended(item.key, outcome);
}

/** A set ends when its outcome is decided and none of its items is running. */
export function endIfDecided(working: Working, set: FanOutSet): void {
  if (set.closed || set.loading || set.status === 'open') return;
  stopWaitingItems(working, set);
  if (!set.finished) return;
  set.closed = true;
  const { step, execution } = set;
  const executed = { unit: { step }, execution };
  const ending = working.endingOf(executed);
  const outcome = set.outcome();
  if (outcome.kind === 'failed')
    end(working, endBy(executed, [drafts.failedByPolicy(ending, outcome.error)]));
  else end(working, { ...executed, outcome, facts: (output) => [drafts.succeeded(ending, output)] });
}

/** Items that rest between two attempts are no longer needed. */
function stopWaitingItems(working: Working, set: FanOutSet): void {
  for (let index = 0; index < set.size; index += 1) {
    if (set.stateOf(index) === 'open' && working.wake(keyOf(set.unit(index)))) set.mark(index, 'idle');
  }
}
