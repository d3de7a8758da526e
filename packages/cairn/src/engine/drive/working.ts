/**
 * Executions of one claimed run while a dispatch works on it: the graph, open waits, resting steps, running bodies, sets and flows.
 * Works on the folded state and the graph only; history is never read again, so the cost of a step does not depend on the number of
 * earlier ones.
 *
 * Must not: decide what begins or ends (next/).
 */
import type { DriveFacts } from '../../core/decisions/conclude.ts';
import { type NodeState, ReadyTracker } from '../../core/graph/ready.ts';
import type { RecordedError } from '../../core/run/events.ts';
import { type RetryingStep, type RunState, stepIdOf } from '../../core/run/state.ts';
import type { BodyStep } from '../define/steps.ts';
import type { Outcome } from '../facts/output.ts';
import { Bodies } from './bodies/bodies.ts';
import { BudgetGate } from './budget-gate.ts';
import { RestingSteps } from './resting.ts';
import { Scope, type ScopeParams } from './scope.ts';
import type { FanOutSet } from './sets/fan-out-set.ts';
import { type ItemUnit, keyOf, type Unit } from './step-inputs.ts';
import { OpenWaits } from './waiting/open-waits.ts';
import { WithoutRoom } from './waiting/without-room.ts';

export interface WorkingParams extends ScopeParams {
  /** The run is a suspect: one body at a time, each with an event at its start. */
  readonly alone: boolean;
  /** The run may have acted before the restore of this time; epoch ms. */
  readonly restoredAt?: number;
  /** Time by which the dispatch must have released the run, epoch ms. */
  readonly budgetEndsAt: number;
  /** True if the dispatch must not start steps any more. */
  readonly isStopped: () => boolean;
}

/** The code of a flow, while the dispatch runs it. */
export interface RunningFlow {
  /** The code may ask for more without anything ending first. */
  readonly isBusy: boolean;
  /** The next operation that waits for room. */
  next(): Unit | undefined;
  /** An operation began, or (`idle`) is to begin again. */
  mark(name: string, state: 'open' | 'idle'): void;
  /** An operation has ended, and its end is in the journal. */
  ended(name: string, outcome: Outcome): void;
  /** Abandons the code: its results are ignored. */
  drop(): void;
}

export class Working extends Scope {
  readonly tracker: ReadyTracker;
  readonly bodies: Bodies;
  readonly budget: BudgetGate;
  readonly resting: RestingSteps;
  readonly withoutRoom = new WithoutRoom();
  readonly waits = new OpenWaits();
  readonly sets = new Map<string, FanOutSet>();
  readonly flows = new Map<string, RunningFlow>();
  /** Operations by key. They outlive an attempt of the code: an operation of one attempt may end during the next. */
  readonly operations = new Map<string, Unit>();
  /** The run as the dispatch found it. */
  readonly before: RunState;
  /** The reason why the run is failing; undefined: it is not. */
  failure: RecordedError | undefined;
  /** Steps of the graph that have not ended. */
  unsettled: number;
  /** Ends whose record is not queued yet: a large output is being stored, or the question about an effect in doubt is being read. */
  unqueuedEnds = 0;
  #startedAny = false;
  readonly #params: WorkingParams;

  constructor(params: WorkingParams) {
    super(params);
    this.#params = params;
    const { deps, journal, workflow } = params;
    const { state } = journal;
    this.before = state;
    this.failure = state.error;
    this.tracker = new ReadyTracker(workflow.graph, (id) => nodeState(state, id));
    this.unsettled = workflow.graph.order.filter((id) => state.steps.get(id)?.phase !== 'done').length;
    const { shortRetryMs: soonMs, budgetMs } = deps.settings;
    const onDue = (key: string) => this.post({ kind: 'due', key });
    this.resting = new RestingSteps({ clock: deps.clock, soonMs, budgetMs, onDue });
    this.budget = new BudgetGate(this, params.budgetEndsAt);
    const { alone, restoredAt, report } = params;
    const refusedBy = (mayStop: boolean) => this.budget.effect(mayStop);
    this.bodies = new Bodies(this, { alone, restoredAt, report, refusedBy });
  }

  get isStopped(): boolean {
    return this.failure !== undefined || this.#params.isStopped();
  }

  /** Bodies that may begin now. As many more may have ended while their outputs are being committed. */
  get room(): number {
    const { size, unrecorded } = this.bodies;
    if (this.#params.alone) return 1 - size - unrecorded;
    const most = this.deps.settings.concurrentSteps;
    return Math.min(most - size, 2 * most - size - unrecorded);
  }

  /** The first step of a dispatch always fits: otherwise a long one would be handed on for ever. */
  fits({ timeoutMs }: BodyStep): boolean {
    return !this.#startedAny || this.now + timeoutMs <= this.#params.budgetEndsAt;
  }

  /** An execution whose question did not fit, and now does. */
  get question(): string | undefined {
    return this.withoutRoom.fitting(this.waits.freeBytes);
  }

  facts(): Omit<DriveFacts, 'stop' | 'cancellation' | 'undoes' | 'childrenOpen'> {
    const flowsBusy = [...this.flows.values()].filter(({ isBusy }) => isBusy).length;
    return {
      active: this.bodies.active + this.unqueuedEnds + flowsBusy,
      unacknowledged: this.onTheWay,
      unsettled: this.unsettled,
      held: this.#canStart ? 1 : 0,
      awaited: this.resting.watched,
      waits: this.waits.size,
      announceAgainAt: this.waits.announceAgainAt,
      earliestDueAt: this.#earliestDueAt,
      failure: this.failure,
    };
  }

  get #canStart(): boolean {
    if (this.budget.isAsking) return false;
    return (
      this.tracker.ready(1).length > 0 ||
      this.question !== undefined ||
      this.sets.values().some((set) => this.nextItem(set) !== undefined) ||
      this.flows.values().some((flow) => flow.next() !== undefined)
    );
  }

  /** Bounded by the time of the whole run. */
  get #earliestDueAt(): number | undefined {
    const { earliest } = this.resting;
    if (earliest === undefined && this.waits.size === 0) return undefined;
    const times = [earliest, this.journal.state.deadlineAt].filter((at) => at !== undefined);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /**
   * Items begin in their order, so that those that have begun before come first. No item begins while questions of earlier ones
   * do not fit.
   */
  nextItem(set: FanOutSet): number | undefined {
    const index = set.next();
    if (index === undefined || this.withoutRoom.size === 0) return index;
    return this.journal.state.steps.has(keyOf(set.unit(index))) ? index : undefined;
  }

  begin({ step, item }: Unit): void {
    this.#startedAny = true;
    if (item) this.markItem({ step, item }, 'open');
    else this.tracker.settle(step.id, 'open');
  }

  /** An item of a set, or an operation of a flow, was begun, or (`idle`) released before it ended. */
  markItem({ step, item }: ItemUnit, state: 'open' | 'idle'): void {
    if (this.isFlow(step.id)) this.flows.get(step.id)?.mark(item.key, state);
    else this.sets.get(step.id)?.mark(item.index, state);
  }

  isFlow(stepId: string): boolean {
    return this.step(stepId).kind === 'flow';
  }

  /** Has the execution with this key begin again at a time, epoch ms. */
  rest(key: string, at: number): void {
    this.budget.settled(key);
    this.resting.add(key, at);
  }

  /** Rests as recorded in the journal. */
  restAs(key: string, { retryAt, whenRoom }: RetryingStep): void {
    if (whenRoom) this.withoutRoom.add(key);
    else this.rest(key, retryAt);
  }

  /** Wakes an item that rests between two attempts; false: it does not rest. */
  wake(key: string): boolean {
    if (this.withoutRoom.remove(key)) return true;
    if (this.waits.of(key) || !this.resting.has(key)) return false;
    this.resting.remove(key);
    return true;
  }

  unitOf(key: string): Unit {
    const stepId = stepIdOf(key);
    const step = this.step(stepId);
    if (key === stepId) return { step };
    const unit =
      this.operations.get(key) ?? this.sets.get(stepId)?.unit(Number(key.slice(stepId.length + 1, -1)));
    if (!unit) throw new Error(`run ${this.runId}: '${key}' is not an item of a running step`);
    return unit;
  }
}

/**
 * State of a graph node for a dispatch that just took over. A step that an earlier one was running is pending again:
 * whether it may run twice was decided before the dispatch started.
 */
function nodeState(state: RunState, id: string): NodeState {
  const step = state.steps.get(id);
  switch (step?.phase) {
    case undefined:
    case 'running':
    case 'again':
      return 'pending';
    case 'retrying':
    case 'waiting':
      return 'open';
    case 'done':
      if (step.outcome === 'failed' || step.outcome === 'skipped') return step.outcome;
      return 'done';
  }
}
