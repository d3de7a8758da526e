/** Begins executions that are ready, have room and fit the budgets. Sets make their items, flows run their code, waits open. */
import { optional } from '../../../core/optional.ts';
import { listChange } from '../../../core/plan/item-marks.ts';
import type { EventDraft, StepExecution, Wait } from '../../../core/run/events.ts';
import { type RunState, stepKey } from '../../../core/run/state.ts';
import { readableThrown } from '../../../core/thrown.ts';
import type { FlowStep, StepDefinition, WaitStep } from '../../define/steps.ts';
import * as drafts from '../../facts/drafts.ts';
import { recordedError } from '../../facts/output.ts';
import { opened, waitOf } from '../../waits/open.ts';
import { answered } from '../../waits/settle.ts';
import { FanOutSet, itemsOf } from '../fan-out-set.ts';
import { FlowRun } from '../flows/flow-run.ts';
import type { Consequence, DoneItem, Executed } from '../messages.ts';
import {
  type BodyUnit,
  type EntryDecision,
  isSet,
  keyOf,
  mayEnter,
  type SetStep,
  type Unit,
} from '../step-inputs.ts';
import type { Working } from '../working.ts';
import { changeOf, endBy } from './changes.ts';
import { end, endIfDecided } from './settle.ts';
import { hold, signalFor } from './waits.ts';

/**
 * Resumes the waits that an earlier dispatch left, from the state at the begin of this dispatch. Waits that have ended since
 * then are adopted later, like all changes of others. Items are resumed with their map step.
 */
export function resume(working: Working): void {
  const { before, workflow } = working;
  for (const id of workflow.graph.order) {
    const step = before.steps.get(id);
    if (step?.phase === 'retrying') working.restAs(id, step);
  }
  for (const wait of before.waits) if (wait.execution.itemKey === undefined) hold(working, wait);
}

export function startReady(working: Working): void {
  if (working.isStopped) return;
  skipDependents(working);
  // Sets and waits take no room, so ready steps after them may fit as well.
  while (startSome(working));
  if (working.isStopped) return;
  tryQuestions(working);
  startItems(working);
}

/** Starts ready steps up to the room. False: none was begun. */
function startSome(working: Working): boolean {
  const { tracker } = working;
  let isAnyBegun = false;
  for (const id of tracker.ready(Math.max(0, working.room))) {
    // A step can fail before its body begins: then the others are not started any more.
    if (working.isStopped || working.budget.isAsking) return false;
    start(working, working.step(id));
    isAnyBegun ||= tracker.stateOf(id) !== 'pending';
  }
  return isAnyBegun;
}

function start(working: Working, step: StepDefinition): void {
  if (step.kind === 'flow') openFlow(working, step);
  else if (isSet(step)) openSet(working, step);
  else if ('body' in step) startBody(working, { step });
  else openWait(working, { step }, step as WaitStep);
}

/** Skips dependents of skipped steps. This follows from durable state, so nothing waits for its commit. */
function skipDependents(working: Working): void {
  const { tracker } = working;
  for (let wave = tracker.skippable(); wave.length > 0; wave = tracker.skippable()) {
    for (const id of wave) {
      const unit = { step: working.step(id) };
      const executed = { unit, execution: working.nextExecution(unit) };
      tracker.settle(id, 'skipped');
      const fact = drafts.skipped(working.endingOf(executed), 'a step it needs was skipped');
      end(working, endBy(executed, [fact]));
    }
  }
}

function tryQuestions(working: Working): void {
  for (let key = working.question; key !== undefined && working.room > 0; key = working.question) {
    if (!startBody(working, working.unitOf(key) as BodyUnit)) return;
    working.withoutRoom.tried(key);
  }
}

/** Begins items and operations up to the room, and ends the sets that are decided. */
function startItems(working: Working): void {
  for (const set of working.sets.values()) {
    for (let at = working.nextItem(set); at !== undefined; at = working.nextItem(set)) {
      if (!startItem(working, set.unit(at))) break;
    }
    endIfDecided(working, set);
  }
  for (const flow of working.flows.values()) {
    for (let unit = flow.next(); unit !== undefined; unit = flow.next()) {
      if (!startItem(working, unit)) break;
    }
  }
}

/** False: not in this dispatch. */
function startItem(working: Working, unit: Unit): boolean {
  const { step } = unit;
  if (working.isStopped || working.room <= 0 || working.budget.isAsking) return false;
  if ('body' in step) return startBody(working, { ...unit, step });
  openWait(working, unit, step as WaitStep);
  return true;
}

/** False: its timeout does not fit the time of the dispatch, or the budget of the run has no room for it. */
function startBody(working: Working, unit: BodyUnit): boolean {
  const { budget } = working;
  if (!working.fits(unit.step) || budget.isAsking) return false;
  const execution = enter(working, unit);
  if (!execution) return true;
  const admission = budget.admit(unit, execution);
  if (admission.kind === 'wait') return false;
  working.begin(unit);
  if (admission.kind === 'begin') {
    working.guard(working.bodies.run(unit, execution, admission.reserve));
  } else {
    working.record(budget.stop({ unit, execution, refusal: admission }));
  }
  return true;
}

/** The execution that begins. Undefined: the condition of the step was false or threw, and that is its end. */
function enter(working: Working, unit: Unit): StepExecution | undefined {
  const execution = working.nextExecution(unit);
  // Conditions of sets and flows are not evaluated for each item, nor once these have begun: they may have acted.
  if (unit.item || hasBegun(working, unit.step)) return execution;
  const entry = mayEnter(unit.step, () => working.seenBy(unit));
  if (entry.kind === 'run') return execution;
  notEntered(working, { unit, execution }, entry);
  return undefined;
}

/** The journal has the begin of the set or flow. A body that was interrupted begins again. */
function hasBegun({ journal }: Working, step: StepDefinition): boolean {
  return (step.kind === 'flow' || isSet(step)) && journal.state.steps.get(step.id)?.phase === 'running';
}

/** A step whose condition was false, or whose own functions threw before there was anything to record. */
function notEntered(
  working: Working,
  executed: Executed,
  entry: Exclude<EntryDecision, { kind: 'run' }>,
): void {
  working.begin(executed.unit);
  const ending = working.endingOf(executed);
  const fact =
    entry.kind === 'skip'
      ? drafts.skipped(ending, 'its condition was false')
      : drafts.failedByPolicy(ending, recordedError(ending.step.id, entry.cause, working.deps.mask));
  end(working, endBy(executed, [fact]));
}

/** Opens the wait of a step in the journal; it is announced then. An earlier signal answers it at once. */
function openWait(working: Working, unit: Unit, step: WaitStep): void {
  const { deps, journal, runId, now } = working;
  const execution = enter(working, unit);
  if (!execution) return;
  let wait: Wait;
  try {
    wait = waitOf(step, { runId, execution, seen: working.seenBy(unit), now, mask: deps.mask });
    working.waits.assertRoomFor(wait, journal.state);
  } catch (thrown) {
    notEntered(working, { unit, execution }, { kind: 'failed', cause: readableThrown(thrown) });
    return;
  }
  working.begin(unit);
  const decide = (state: RunState): { facts: EventDraft[]; consequence: Consequence } => {
    const found = step.kind === 'event' ? signalFor(state, step, wait) : undefined;
    if (!found) return { facts: [opened(wait)], consequence: { kind: 'waits', wait } };
    const { output, signal } = found;
    const answer = { initiator: 'system', signalId: signal.signalId } as const;
    return {
      facts: [opened(wait), ...answered({ step, wait, now }, answer, output)],
      consequence: { kind: 'ended', outcome: { kind: 'done', output } },
    };
  };
  working.record({ unit, execution, decide, otherwise: { kind: 'nothing' }, opening: wait });
}

/** Makes the items of a set, and records that it has begun. */
function openSet(working: Working, step: SetStep): void {
  const { state } = working.journal;
  const unit = { step };
  const execution = enter(working, unit);
  if (!execution) return;
  const executed = { unit, execution };
  let set: FanOutSet;
  try {
    set = new FanOutSet(step, execution, itemsOf(step, working.seenBy(unit), state), state);
  } catch (thrown) {
    notEntered(working, executed, { kind: 'failed', cause: readableThrown(thrown) });
    return;
  }
  working.begin(unit);
  const { items } = set;
  // Also of a set that begins here: a successor has the mark of the run whose items it took over.
  const message = listChange(state, { stepId: step.id, revision: execution.revision, items });
  if (message !== undefined) {
    // Results of old items must not become those of new ones, so the run fails whatever `onFailure` says.
    const error = { code: 'SET_CHANGED', message, stepId: step.id, retryable: false };
    end(working, endBy(executed, [drafts.failed(working.endingOf(executed), error)]));
    return;
  }
  recordStart(working, executed, optional('items', items));
  working.sets.set(step.id, set);
  takeUpItems(working, set, state);
}

/** Items that wait since an earlier dispatch, and the results of those that ended in one. */
function takeUpItems(working: Working, set: FanOutSet, state: RunState): void {
  const waits = new Map(state.waits.map((wait) => [stepKey(wait.execution), wait]));
  const done: DoneItem[] = [];
  for (let index = 0; index < set.size; index += 1) {
    const key = keyOf(set.unit(index));
    const item = state.steps.get(key);
    const wait = waits.get(key);
    if (wait) hold(working, wait);
    else if (item?.phase === 'retrying') working.restAs(key, item);
    else if (item?.phase === 'done' && item.outcome !== 'failed') done.push({ index, seq: item.seq });
  }
  if (done.length === 0) return;
  set.loading = true;
  working.do({ kind: 'read_results', set, done });
}

function openFlow(working: Working, step: FlowStep): void {
  const unit = { step };
  const execution = enter(working, unit);
  if (!execution) return;
  working.begin(unit);
  recordStart(working, { unit, execution });
  working.flows.get(step.id)?.drop();
  const run = new FlowRun(working, step, execution);
  working.flows.set(step.id, run);
  run.begin();
}

function recordStart(working: Working, executed: Executed, more: { readonly items?: string } = {}): void {
  if (hasBegun(working, executed.unit.step)) return;
  working.record(changeOf(executed, [drafts.started(executed.execution, more)], { kind: 'nothing' }));
}
