/**
 * Begins executions that are ready, have room and fit the budgets: bodies start, sets create their items, flows run their code,
 * waits open.
 */
import { optional } from '../../../core/optional.ts';
import { listChange } from '../../../core/plan/item-marks.ts';
import type { EventDraft, StepExecution, Wait } from '../../../core/run/events.ts';
import { type RunState, stepKey } from '../../../core/run/state.ts';
import { readableThrown } from '../../../core/thrown.ts';
import type { FlowStep, StepDefinition, WaitStep } from '../../define/steps.ts';
import * as build from '../../recording/event-builders.ts';
import { recordedError } from '../../recording/output.ts';
import { answerDrafts } from '../../waits/end-of-wait.ts';
import { openedDraft, waitOf } from '../../waits/new-wait.ts';
import type { DispatchState } from '../dispatch-state.ts';
import { FlowRun } from '../flows/flow-run.ts';
import { ItemSet, itemsOf } from '../item-set.ts';
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
import { changeOf, endBy } from './changes.ts';
import { endExecution, endSetIfDecided } from './execution-end.ts';
import { adoptWait, signalFor } from './waits.ts';

/**
 * Resumes the waits that an earlier dispatch left, from the state at the begin of this dispatch. Waits that have ended since
 * then are adopted later, like all changes of others. Items are resumed with their map step.
 */
export function resume(dispatch: DispatchState): void {
  const { before, workflow } = dispatch;
  for (const id of workflow.graph.order) {
    const step = before.steps.get(id);
    if (step?.phase === 'retrying') dispatch.restAs(id, step);
  }
  for (const wait of before.waits) if (wait.execution.itemKey === undefined) adoptWait(dispatch, wait);
}

export function startReady(dispatch: DispatchState): void {
  if (dispatch.isStopped) return;
  skipDependents(dispatch);
  // Sets and waits take no room, so ready steps after them may fit as well.
  while (startSome(dispatch));
  if (dispatch.isStopped) return;
  tryQuestions(dispatch);
  startItems(dispatch);
}

/** Starts ready steps up to the room. False: none was begun. */
function startSome(dispatch: DispatchState): boolean {
  const { tracker, budget } = dispatch;
  let isAnyBegun = false;
  for (const id of tracker.ready(budget.isAsking ? Number.POSITIVE_INFINITY : Math.max(0, dispatch.room))) {
    // A step can fail before its body begins. Then no further step starts.
    if (dispatch.isStopped) return false;
    const step = dispatch.step(id);
    // A begun set or flow adopts its waits, which include the question itself. Its items and operations do not begin.
    if (budget.isAsking && !hasBegun(dispatch, step)) continue;
    start(dispatch, step);
    isAnyBegun ||= tracker.stateOf(id) !== 'pending';
  }
  return isAnyBegun;
}

function start(dispatch: DispatchState, step: StepDefinition): void {
  if (step.kind === 'flow') openFlow(dispatch, step);
  else if (isSet(step)) openSet(dispatch, step);
  else if ('body' in step) startBody(dispatch, { step });
  else openWait(dispatch, { step }, step as WaitStep);
}

/** Skips dependents of skipped steps. This follows from durable state, so nothing waits for its commit. */
function skipDependents(dispatch: DispatchState): void {
  const { tracker } = dispatch;
  for (let wave = tracker.skippable(); wave.length > 0; wave = tracker.skippable()) {
    for (const id of wave) {
      const unit = { step: dispatch.step(id) };
      const executed = { unit, execution: dispatch.nextExecution(unit) };
      tracker.settle(id, 'skipped');
      const event = build.skipped(dispatch.endingOf(executed), 'a step it needs was skipped');
      endExecution(dispatch, endBy(executed, [event]));
    }
  }
}

function tryQuestions(dispatch: DispatchState): void {
  for (let key = dispatch.question; key !== undefined && dispatch.room > 0; key = dispatch.question) {
    if (!startBody(dispatch, dispatch.unitOf(key) as BodyUnit)) return;
    dispatch.withoutRoom.tried(key);
  }
}

/** Begins items and operations up to the room, and ends the sets that are decided. */
function startItems(dispatch: DispatchState): void {
  for (const set of dispatch.sets.values()) {
    for (let at = dispatch.nextItem(set); at !== undefined; at = dispatch.nextItem(set)) {
      if (!startItem(dispatch, set.unit(at))) break;
    }
    endSetIfDecided(dispatch, set);
  }
  for (const flow of dispatch.flows.values()) {
    for (let unit = flow.next(); unit !== undefined; unit = flow.next()) {
      if (!startItem(dispatch, unit)) break;
    }
  }
}

/** Returns false if the item cannot begin in this dispatch. */
function startItem(dispatch: DispatchState, unit: Unit): boolean {
  const { step } = unit;
  if (dispatch.isStopped || dispatch.room <= 0 || dispatch.budget.isAsking) return false;
  if ('body' in step) return startBody(dispatch, { ...unit, step });
  openWait(dispatch, unit, step as WaitStep);
  return true;
}

/** Returns false if the timeout exceeds the rest of the dispatch, or the budget of the run has no room. */
function startBody(dispatch: DispatchState, unit: BodyUnit): boolean {
  const { budget } = dispatch;
  if (!dispatch.fits(unit.step) || budget.isAsking) return false;
  const execution = enter(dispatch, unit);
  if (!execution) return true;
  const admission = budget.admit(unit, execution);
  if (admission.kind === 'wait') return false;
  dispatch.begin(unit);
  if (admission.kind === 'begin') {
    dispatch.guard(dispatch.bodies.run(unit, execution, admission.reserve));
  } else {
    dispatch.record(budget.stop({ unit, execution, refusal: admission }));
  }
  return true;
}

/** The execution that begins. Undefined: the condition of the step was false or threw, and that is its end. */
function enter(dispatch: DispatchState, unit: Unit): StepExecution | undefined {
  const execution = dispatch.nextExecution(unit);
  // Conditions of sets and flows are not evaluated for each item, nor once these have begun: they may have acted.
  if (unit.item || hasBegun(dispatch, unit.step)) return execution;
  const entry = mayEnter(unit.step, () => dispatch.seenBy(unit));
  if (entry.kind === 'run') return execution;
  notEntered(dispatch, { unit, execution }, entry);
  return undefined;
}

/** True if the journal has the start of the set or flow. An interrupted body begins again. */
function hasBegun({ journal }: DispatchState, step: StepDefinition): boolean {
  return (step.kind === 'flow' || isSet(step)) && journal.state.steps.get(step.id)?.phase === 'running';
}

/** The end of a step whose condition was false, or whose functions threw before anything was recorded. */
function notEntered(
  dispatch: DispatchState,
  executed: Executed,
  entry: Exclude<EntryDecision, { kind: 'run' }>,
): void {
  dispatch.begin(executed.unit);
  const ending = dispatch.endingOf(executed);
  const event =
    entry.kind === 'skip'
      ? build.skipped(ending, 'its condition was false')
      : build.failedByPolicy(ending, recordedError(ending.step.id, entry.cause, dispatch.deps.mask));
  endExecution(dispatch, endBy(executed, [event]));
}

/** Opens the wait of a step in the journal, then announces it. An earlier signal answers it at once. */
function openWait(dispatch: DispatchState, unit: Unit, step: WaitStep): void {
  const { deps, journal, runId, now } = dispatch;
  const execution = enter(dispatch, unit);
  if (!execution) return;
  let wait: Wait;
  try {
    wait = waitOf(step, { runId, execution, seen: dispatch.seenBy(unit), now, mask: deps.mask });
    dispatch.waits.assertRoomFor(wait, journal.state);
  } catch (thrown) {
    notEntered(dispatch, { unit, execution }, { kind: 'failed', cause: readableThrown(thrown) });
    return;
  }
  dispatch.begin(unit);
  const decide = (state: RunState): { events: EventDraft[]; consequence: Consequence } => {
    const found = step.kind === 'event' ? signalFor(state, step, wait) : undefined;
    if (!found) return { events: [openedDraft(wait)], consequence: { kind: 'waits', wait } };
    const { output, signal } = found;
    const answer = { initiator: 'system', signalId: signal.signalId } as const;
    return {
      events: [openedDraft(wait), ...answerDrafts({ step, wait, now }, answer, output)],
      consequence: { kind: 'ended', outcome: { kind: 'done', output } },
    };
  };
  dispatch.record({ unit, execution, decide, otherwise: { kind: 'nothing' }, opening: wait });
}

/** Makes the items of a set, and records that it has begun. */
function openSet(dispatch: DispatchState, step: SetStep): void {
  const { state } = dispatch.journal;
  const unit = { step };
  const execution = enter(dispatch, unit);
  if (!execution) return;
  const executed = { unit, execution };
  let set: ItemSet;
  try {
    set = new ItemSet(step, execution, itemsOf(step, dispatch.seenBy(unit), state), state);
  } catch (thrown) {
    notEntered(dispatch, executed, { kind: 'failed', cause: readableThrown(thrown) });
    return;
  }
  dispatch.begin(unit);
  const { items } = set;
  // The check includes a set that begins here: a successor has the mark of the run from which it took over items.
  const message = listChange(state, { stepId: step.id, revision: execution.revision, items });
  if (message !== undefined) {
    // Results of the old items must not be used for the new ones, so the run fails whatever `onFailure` says.
    const error = { code: 'SET_CHANGED', message, stepId: step.id, retryable: false };
    endExecution(dispatch, endBy(executed, [build.failed(dispatch.endingOf(executed), error)]));
    return;
  }
  recordStart(dispatch, executed, optional('items', items));
  dispatch.sets.set(step.id, set);
  adoptItems(dispatch, set, state);
}

/** Adopts items that have waited since an earlier dispatch, and the results of items that ended in one. */
function adoptItems(dispatch: DispatchState, set: ItemSet, state: RunState): void {
  const waits = new Map(state.waits.map((wait) => [stepKey(wait.execution), wait]));
  const done: DoneItem[] = [];
  for (let index = 0; index < set.size; index += 1) {
    const key = keyOf(set.unit(index));
    const item = state.steps.get(key);
    const wait = waits.get(key);
    if (wait) adoptWait(dispatch, wait);
    else if (item?.phase === 'retrying') dispatch.restAs(key, item);
    else if (item?.phase === 'done' && item.outcome !== 'failed') done.push({ index, seq: item.seq });
  }
  if (done.length === 0) return;
  set.loading = true;
  dispatch.do({ kind: 'read_results', set, done });
}

function openFlow(dispatch: DispatchState, step: FlowStep): void {
  const unit = { step };
  const execution = enter(dispatch, unit);
  if (!execution) return;
  dispatch.begin(unit);
  recordStart(dispatch, { unit, execution });
  dispatch.flows.get(step.id)?.drop();
  const run = new FlowRun(dispatch, step, execution);
  dispatch.flows.set(step.id, run);
  run.begin();
}

function recordStart(
  dispatch: DispatchState,
  executed: Executed,
  more: { readonly items?: string } = {},
): void {
  if (hasBegun(dispatch, executed.unit.step)) return;
  dispatch.record(changeOf(executed, [build.started(executed.execution, more)], { kind: 'nothing' }));
}
