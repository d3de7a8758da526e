/**
 * Steps of one claimed run: starts ready ones, records their ends, and tracks running ones. Works on the folded state
 * and the graph only; history is never read again, so the cost of a step does not depend on the number of earlier ones.
 *
 * Must not: decide that the drive ends (session.ts).
 */

import type { DriveFacts } from '../../core/decisions/conclude.ts';
import { ReadyTracker } from '../../core/graph/ready.ts';
import type { EventDraft, RecordedError, StepExecution, StepRef } from '../../core/run/events.ts';
import { type RetryingStep, type RunState, stepIdOf } from '../../core/run/state.ts';
import type { BodyStep, StepDefinition, WaitStep } from '../define/steps.ts';
import * as drafts from '../facts/drafts.ts';
import { type Outcome, recorded } from '../facts/output.ts';
import type { StepAborted } from './bodies/attempt.ts';
import type { Beats } from './bodies/beats.ts';
import { Bodies, type BodyUnit } from './bodies/bodies.ts';
import { BodyEnds } from './bodies/body-ends.ts';
import { BudgetGate } from './budget-gate.ts';
import { nodeState } from './progress.ts';
import { RestingSteps } from './resting.ts';
import type { Scope } from './scope.ts';
import { Groups } from './sets/groups.ts';
import { type Entry, keyOf, mayEnter, type Unit } from './step-inputs.ts';
import { Waiting } from './waiting/waiting.ts';
import { WithoutRoom } from './waiting/without-room.ts';

export interface SteppingParams {
  readonly scope: Scope;
  /** One body at a time, each with a trace. */
  readonly alone: boolean;
  /** The run may have acted before the restore of this time; epoch ms. */
  readonly restoredAt: number | undefined;
  readonly beats: Beats;
  /** Epoch ms by which the drive must have let go. */
  readonly budgetEndsAt: number;
  /** Something moved: more may start, or nothing is left to wait for. */
  readonly onChange: () => void;
  /** A body has ended and its outcome is on its way; the end of the run may be queued behind it. */
  readonly onSettling: () => void;
  /** True if the drive starts no more steps. */
  readonly isStopped: () => boolean;
}

export class Stepping {
  readonly #params: SteppingParams;
  readonly #scope: Scope;
  readonly #tracker: ReadyTracker;
  readonly #bodies: Bodies;
  readonly #groups: Groups;
  readonly #waiting: Waiting;
  readonly #resting: RestingSteps;
  readonly #withoutRoom = new WithoutRoom();
  readonly #ends: BodyEnds;
  readonly #budget: BudgetGate;
  /** The run as the drive found it. */
  readonly #before: RunState;
  #unsettled: number;
  #startedAny = false;
  #failure: RecordedError | undefined;

  constructor(params: SteppingParams) {
    this.#params = params;
    const { scope, alone, restoredAt, beats, onChange } = params;
    const { deps, journal, workflow } = scope;
    const { state } = journal;
    this.#scope = scope;
    this.#before = state;
    this.#failure = state.error;
    this.#tracker = new ReadyTracker(workflow.graph, (id) => nodeState(state, id));
    this.#unsettled = workflow.graph.order.filter((id) => state.steps.get(id)?.phase !== 'done').length;
    const { clock, settings } = deps;
    const { shortRetryMs: soonMs, budgetMs } = settings;
    this.#resting = new RestingSteps({ clock, soonMs, budgetMs, onDue: (key) => this.#onDue(key) });
    this.#bodies = new Bodies({
      deps,
      journal,
      alone,
      restoredAt,
      beats,
      append: (decide) => scope.appendHeld(decide),
      seenBy: (unit) => scope.seenBy(unit),
      effect: (mayStop) => this.#budget.effect(mayStop),
      onEnd: (ended) =>
        this.#ends.take(ended).finally(() => {
          this.#withoutRoom.ended(keyOf(ended.unit));
          this.#budget.settled(keyOf(ended.unit));
        }),
      onLeft: onChange,
    });
    const moves = {
      begin: (unit: Unit) => this.#begin(unit),
      notEntered: this.#notEntered.bind(this),
      settle: this.#settle.bind(this),
      rest: (key: string, at: number) => this.#rest(key, at),
      restAs: (key: string, step: RetryingStep) => this.#restAs(key, step),
      advance: onChange,
    };
    this.#waiting = new Waiting(scope, {
      ...moves,
      unitOf: (key) => this.#unitOf(key),
      restNoMore: (key) => this.#resting.remove(key),
    });
    const restWithoutRoom = (key: string, bytes: number) => this.#withoutRoom.add(key, bytes);
    const asks = { ...moves, waiting: this.#waiting, restWithoutRoom };
    this.#budget = new BudgetGate(scope, asks, params.budgetEndsAt);
    this.#ends = new BodyEnds(scope, { ...asks, budget: this.#budget });
    this.#groups = new Groups(scope, {
      ...moves,
      startItem: (unit) => this.#startItem(unit),
      hold: (wait) => this.#waiting.hold(wait),
      giveUp: (wait) => this.#waiting.giveUp(wait),
      wake: (key) => this.#wake(key),
      isFull: () => this.#withoutRoom.size > 0,
      isStopped: () => this.#isStopped,
    });
  }

  /** The reason why the run is failing; undefined: it is not. */
  get failure(): RecordedError | undefined {
    return this.#failure;
  }

  /** Running bodies, including abandoned ones. */
  get bodies(): number {
    return this.#bodies.size;
  }

  /** Executions that were given up. */
  inFlight(): StepRef[] {
    return this.#bodies.inFlight();
  }

  facts(): Omit<DriveFacts, 'stop' | 'cancellation' | 'undoes' | 'childrenOpen'> {
    return {
      active: this.#bodies.active + this.#ends.beingStored + this.#groups.busy,
      unacknowledged: this.#scope.onTheWay,
      unsettled: this.#unsettled,
      held: this.#canStart ? 1 : 0,
      awaited: this.#resting.watched,
      waits: this.#waiting.size,
      tellAgainAt: this.#waiting.tellAgainAt,
      earliestDueAt: this.#earliestDueAt,
      failure: this.#failure,
    };
  }

  /**
   * Takes up what an earlier drive left waiting, as it stood when this drive began: what others have ended since then is
   * to be adopted like everything else. Items are taken up with their set.
   */
  resume(): void {
    const state = this.#before;
    for (const id of this.#scope.workflow.graph.order) {
      const step = state.steps.get(id);
      if (step?.phase === 'retrying') this.#restAs(id, step);
    }
    for (const wait of state.waits) if (wait.execution.itemKey === undefined) this.#waiting.hold(wait);
  }

  /** Takes in how others ended waits. */
  adopt(state: RunState): void {
    this.#waiting.adopt(state);
  }

  /** A child that the run waits out has not ended. */
  get childrenOpen(): boolean {
    return this.#waiting.childrenOpen;
  }

  /** Cancels the children that the run waits out. */
  endChildren(): Promise<void> {
    return this.#waiting.endChildren();
  }

  /** Starts what may start. */
  startReady(): void {
    if (this.#isStopped) return;
    this.#skipDependents();
    // Sets and waits take no room, so what is ready behind them may fit as well.
    while (this.#startSome());
    if (this.#isStopped) return;
    this.#tryQuestions();
    this.#groups.pump();
  }

  /** Starts as many ready steps as there is room for. False: none of them was begun. */
  #startSome(): boolean {
    let isAnyBegun = false;
    for (const id of this.#tracker.ready(Math.max(0, this.#room))) {
      // A step can fail before its body begins: then the others are not started any more.
      if (this.#isStopped || this.#budget.isAsking) return false;
      this.#start(this.#scope.step(id));
      isAnyBegun ||= this.#tracker.stateOf(id) !== 'pending';
    }
    return isAnyBegun;
  }

  fail(error: RecordedError): void {
    this.#failure ??= error;
  }

  abort(why: StepAborted['why'], concerns?: (stepId: string) => boolean): void {
    this.#bodies.abort(why, concerns);
  }

  /** Gives up bodies that did not stop. */
  leave(): void {
    this.#bodies.leave();
  }

  /** Ends all in-process waiting; resolves once no announcement is in progress. */
  async end(): Promise<void> {
    this.#resting.end();
    this.#groups.end();
    await this.#waiting.quiet();
    await this.#budget.close();
  }

  /** Removes registrations of closed waits: another process holds the run. */
  leaveClosed(): Promise<void> {
    return this.#waiting.leaveClosed();
  }

  get #isStopped(): boolean {
    return this.#failure !== undefined || this.#params.isStopped();
  }

  /** Bounded by the time of the whole run. */
  get #earliestDueAt(): number | undefined {
    const { earliest } = this.#resting;
    if (earliest === undefined && this.#waiting.size === 0) return undefined;
    const times = [earliest, this.#scope.journal.state.deadlineAt].filter((at) => at !== undefined);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  get #canStart(): boolean {
    if (this.#budget.isAsking) return false;
    return this.#tracker.ready(1).length > 0 || this.#question !== undefined || this.#groups.canStart;
  }

  /** An execution whose question did not fit, and now does. */
  get #question(): string | undefined {
    return this.#withoutRoom.fitting(this.#waiting.freeBytes);
  }

  get #room(): number {
    const most = this.#params.alone ? 1 : this.#scope.deps.settings.concurrentSteps;
    return most - this.#bodies.size;
  }

  #start(step: StepDefinition): void {
    if (this.#groups.opens(step)) return;
    if ('body' in step) this.#startBody({ step });
    else this.#scope.guard(this.#waiting.open({ step }, step as WaitStep));
  }

  #startItem(unit: Unit): boolean {
    const { step } = unit;
    if (this.#isStopped || this.#room <= 0 || this.#budget.isAsking) return false;
    if ('body' in step) return this.#startBody({ ...unit, step });
    this.#scope.guard(this.#waiting.open(unit, step as WaitStep));
    return true;
  }

  #tryQuestions(): void {
    for (let key = this.#question; key !== undefined && this.#room > 0; key = this.#question) {
      const unit = this.#unitOf(key);
      if (!this.#startBody(unit as BodyUnit)) return;
      this.#withoutRoom.tried(key);
    }
  }

  /** False: its timeout does not fit the time of the drive, or the budget of the run has no room for it. */
  #startBody(unit: BodyUnit): boolean {
    if (!this.#fitsDrive(unit.step) || this.#budget.isAsking) return false;
    const execution = this.#scope.nextExecution(unit);
    // The condition of a map step was evaluated once, before its items.
    const entry: Entry = unit.item ? { kind: 'run' } : mayEnter(unit.step, this.#scope.seenBy(unit));
    if (entry.kind !== 'run') {
      this.#scope.guard(this.#notEntered(unit, execution, entry));
      return true;
    }
    const admission = this.#budget.admit(unit, execution);
    if (admission.kind === 'wait') return false;
    this.#begin(unit);
    const work =
      admission.kind === 'begin'
        ? this.#bodies.run(unit, execution, admission.reserve)
        : this.#budget.stop({ unit, execution, refusal: admission });
    this.#scope.guard(work);
    return true;
  }

  /** The first step of a drive always fits: otherwise a long one would be handed on for ever. */
  #fitsDrive({ timeoutMs }: BodyStep): boolean {
    return !this.#startedAny || this.#scope.deps.clock.now() + timeoutMs <= this.#params.budgetEndsAt;
  }

  #begin({ step, item }: Unit): void {
    this.#startedAny = true;
    if (item) this.#groups.mark({ step, item }, 'open');
    else this.#tracker.settle(step.id, 'open');
  }

  /** A step whose condition was false, or whose own functions threw before there was anything to record. */
  #notEntered(unit: Unit, execution: StepExecution, entry: Exclude<Entry, { kind: 'run' }>): Promise<void> {
    this.#begin(unit);
    const ending = { step: unit.step, execution, now: this.#scope.deps.clock.now() };
    const fact =
      entry.kind === 'skip'
        ? drafts.skipped(ending, 'its condition was false')
        : drafts.failedByPolicy(ending, recorded(unit.step.id, entry.cause));
    return this.#settle(unit, execution, [fact]);
  }

  /**
   * An execution has ended: appends its events and continues. After the last one, the end of the run is queued behind
   * it and shares its commit.
   */
  async #settle(
    { step, item }: Unit,
    execution: StepExecution,
    facts: readonly EventDraft[],
    known?: Outcome,
  ): Promise<void> {
    const outcome = known ?? drafts.outcomeOf(facts);
    if (!outcome) throw new Error(`the journal has no end of step '${step.id}'`);
    const durable = facts.length === 0 ? Promise.resolve() : this.#scope.append(facts, execution);
    await this.#scope.counted(() => this.#settling({ step, ...(item ? { item } : {}) }, outcome, durable));
    this.#params.onChange();
  }

  async #settling({ step, item }: Unit, outcome: Outcome, durable: Promise<unknown>): Promise<void> {
    if (item) this.#groups.settleItem({ step, item }, outcome);
    else this.#settleStep(step, outcome);
    this.#params.onSettling();
    await durable;
    this.#budget.settled(keyOf(item ? { step, item } : { step }));
    if (item) this.#groups.itemIsDurable({ step, item }, outcome);
    else this.#tracker.settle(step.id, outcome.kind);
  }

  #settleStep(step: StepDefinition, outcome: Outcome): void {
    if (outcome.kind === 'failed') this.#failure ??= outcome.error;
    if (outcome.kind === 'done') this.#scope.outputs.put(step.id, outcome.output);
    this.#scope.outputs.release(step);
    this.#groups.forget(step.id);
    this.#unsettled -= 1;
  }

  /** Skips dependents of skipped steps. This follows from durable state, so nothing waits for its commit. */
  #skipDependents(): void {
    for (let wave = this.#tracker.skippable(); wave.length > 0; wave = this.#tracker.skippable()) {
      for (const id of wave) {
        const step = this.#scope.step(id);
        const execution = this.#scope.nextExecution({ step });
        const ending = { step, execution, now: this.#scope.deps.clock.now() };
        this.#tracker.settle(id, 'skipped');
        const fact = drafts.skipped(ending, 'a step it needs was skipped');
        this.#scope.guard(this.#settle({ step }, execution, [fact]));
      }
    }
  }

  #rest(key: string, at: number): void {
    this.#budget.settled(key);
    this.#resting.add(key, at);
    this.#resting.watch(key);
  }

  #restAs(key: string, { retryAt, whenRoom }: RetryingStep): void {
    if (whenRoom) this.#withoutRoom.add(key);
    else this.#rest(key, retryAt);
  }

  /** Wakes an item between two attempts. */
  #wake(key: string): boolean {
    if (this.#withoutRoom.remove(key)) return true;
    if (this.#waiting.isHeld(key) || !this.#resting.has(key)) return false;
    this.#resting.remove(key);
    return true;
  }

  #onDue(key: string): void {
    if (!this.#isStopped && !this.#waiting.timeUp(key)) {
      const { step, item } = this.#unitOf(key);
      if (item) this.#groups.mark({ step, item }, 'idle');
      else this.#tracker.settle(key, 'pending');
    }
    this.#params.onChange();
  }

  #unitOf(key: string): Unit {
    const stepId = stepIdOf(key);
    return key === stepId ? { step: this.#scope.step(stepId) } : this.#groups.unitOf(key, stepId);
  }
}
