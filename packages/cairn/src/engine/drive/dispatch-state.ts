/**
 * State of a dispatch that holds its run: the graph, open waits, resting steps, running bodies, sets and flows, with the way to the
 * journal and to the message queue. Works on the folded state and the graph only; history is never read again, so the cost of a step
 * does not depend on the number of earlier ones.
 *
 * Must not: decide what begins or ends (next/).
 */
import type { AnnounceAgain, DispatchProgress } from '../../core/decisions/dispatch.ts';
import { type NodeState, ReadyTracker } from '../../core/graph/ready.ts';
import type { RecordedError, StepExecution } from '../../core/run/events.ts';
import { type RetryingStep, type RunState, stepIdOf } from '../../core/run/state.ts';
import type { Decide } from '../../journal/batch.ts';
import type { Appended, RunJournal } from '../../journal/run-journal.ts';
import type { BodyStep, Context, StepDefinition, Workflow } from '../define/steps.ts';
import type { EngineDeps } from '../deps.ts';
import type { EndedExecution } from '../recording/event-builders.ts';
import { Bodies } from './bodies/bodies.ts';
import type { BodyReport } from './bodies/body-report.ts';
import { BudgetAdmission } from './budget-admission.ts';
import type { FlowRun } from './flows/flow-run.ts';
import type { ItemSet } from './item-set.ts';
import type { Command, Executed, ExecutionChange, Message } from './messages.ts';
import { StepOutputs } from './outputs.ts';
import { keyOf, nextExecution, seenBy, type Unit } from './step-inputs.ts';
import { neglectedWaits } from './waiting/neglected.ts';
import { OpenWaits } from './waiting/open-waits.ts';
import { RestingSteps } from './waiting/resting.ts';
import { WithoutRoom } from './waiting/without-room.ts';

/** A run whose lease this dispatch holds. */
export interface LeasedRun {
  readonly deps: EngineDeps;
  readonly journal: RunJournal;
  readonly workflow: Workflow;
  /** The run's input, parsed and frozen. */
  readonly input: unknown;
  readonly report: BodyReport;
  /** Time by which the dispatch must have released the run, epoch ms. */
  readonly budgetEndsAt: number;
  /** The run is a suspect: one body at a time, and each leaves a trace before it begins. */
  readonly alone: boolean;
  /** The run may have acted before the restore of this time; epoch ms. */
  readonly restoredAt?: number | undefined;
  /** Time in ms that the run has rested because its policy could not be asked; absent: none. */
  readonly restedMs?: number | undefined;
}

interface DispatchHooks {
  readonly post: (message: Message) => void;
  readonly carryOut: (command: Command) => Promise<Message>;
  /** Error of background work: the dispatch cannot continue. */
  readonly onFailure: (error: unknown) => void;
  /** True if the dispatch must not start steps any more. */
  readonly isStopped: () => boolean;
}

export class DispatchState {
  readonly run: LeasedRun;
  readonly deps: EngineDeps;
  readonly journal: RunJournal;
  readonly workflow: Workflow;
  /** Queues a message. */
  readonly post: (message: Message) => void;
  readonly outputs: StepOutputs;
  readonly tracker: ReadyTracker;
  readonly bodies: Bodies;
  readonly budget: BudgetAdmission;
  readonly resting: RestingSteps;
  readonly withoutRoom = new WithoutRoom();
  readonly waits = new OpenWaits();
  readonly sets = new Map<string, ItemSet>();
  readonly flows = new Map<string, FlowRun>();
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
  #onTheWay = 0;
  readonly #owner: string | undefined;
  readonly #hooks: DispatchHooks;

  constructor(run: LeasedRun, hooks: DispatchHooks) {
    const { deps, journal, workflow } = run;
    const { state } = journal;
    this.run = run;
    this.deps = deps;
    this.journal = journal;
    this.workflow = workflow;
    this.#hooks = hooks;
    this.post = hooks.post;
    this.#owner = state.lease?.owner;
    this.before = state;
    this.failure = state.error;
    const unsettled = workflow.graph.order.filter((id) => state.steps.get(id)?.phase !== 'done');
    this.unsettled = unsettled.length;
    this.outputs = new StepOutputs(workflow, unsettled);
    if (state.compensating) this.outputs.releaseResult();
    this.tracker = new ReadyTracker(workflow.graph, (id) => nodeState(state, id));
    const { shortRetryMs: soonMs, budgetMs } = deps.settings;
    const onDue = (key: string) => this.post({ kind: 'due', key });
    this.resting = new RestingSteps({ clock: deps.clock, soonMs, budgetMs, onDue });
    this.budget = new BudgetAdmission(this);
    this.bodies = new Bodies(this);
  }

  get runId(): string {
    return this.journal.state.id;
  }

  /** Epoch ms. */
  get now(): number {
    return this.deps.clock.now();
  }

  /** False once the journal has shown that another process took the run over. */
  get hasLease(): boolean {
    return this.journal.state.lease?.owner === this.#owner;
  }

  get isStopped(): boolean {
    return this.failure !== undefined || this.#hooks.isStopped();
  }

  /** Number of bodies that may begin now. As many more may have ended while their outputs are being committed. */
  get room(): number {
    const { size, unrecorded } = this.bodies;
    if (this.run.alone) return 1 - size - unrecorded;
    const most = this.deps.settings.concurrentSteps;
    return Math.min(most - size, 2 * most - size - unrecorded);
  }

  /** The first step of a dispatch always fits: otherwise no dispatch would begin a long one. */
  fits({ timeoutMs }: BodyStep): boolean {
    return !this.#startedAny || this.now + timeoutMs <= this.run.budgetEndsAt;
  }

  /** An execution whose question did not fit before and fits now. */
  get question(): string | undefined {
    return this.withoutRoom.fitting(this.waits.freeBytes);
  }

  progress(): DispatchProgress {
    const flowsBusy = [...this.flows.values()].filter(({ isBusy }) => isBusy).length;
    const active = this.bodies.active + this.unqueuedEnds + flowsBusy;
    const unacknowledged = this.#onTheWay;
    // A dispatch that still works does not rest.
    const isResting = active === 0 && unacknowledged === 0;
    return {
      active,
      unacknowledged,
      unsettled: this.unsettled,
      canStart: this.#canStart,
      awaited: this.resting.watched,
      waits: this.waits.size,
      announceAgain: isResting ? this.#announceAgain : undefined,
      earliestDueAt: this.#earliestDueAt,
      failure: this.failure,
    };
  }

  get #announceAgain(): AnnounceAgain | undefined {
    const { waits, journal, workflow, now } = this;
    const own = waits.announceAgain;
    const neglected = neglectedWaits({ state: journal.state, waits, workflow, now });
    if (!own || !neglected) return own ?? neglected;
    return { ...own, at: Math.min(own.at, neglected.at) };
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
   * Items begin in order, so that those that have begun before come first. No item begins before the questions of earlier items
   * fit.
   */
  nextItem(set: ItemSet): number | undefined {
    const index = set.next();
    if (index === undefined || this.withoutRoom.size === 0) return index;
    return this.journal.state.steps.has(keyOf(set.unit(index))) ? index : undefined;
  }

  begin(unit: Unit): void {
    this.#startedAny = true;
    this.#mark(unit, 'open');
  }

  /** Lets a unit that had begun begin again once there is room. */
  beginAgain(unit: Unit): void {
    this.#mark(unit, 'idle');
  }

  /** The item of a unit belongs to a set or to a flow. */
  #mark({ step, item }: Unit, state: 'open' | 'idle'): void {
    if (item) {
      this.sets.get(step.id)?.mark(item.index, state);
      this.flows.get(step.id)?.mark(item.key, state);
    } else this.tracker.settle(step.id, state === 'open' ? 'open' : 'pending');
  }

  /** Schedules the execution with this key to begin again at a time, epoch ms. */
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

  step(id: string): StepDefinition {
    const step = this.workflow.steps.get(id);
    if (!step) throw new Error(`workflow '${this.workflow.type}' has no step '${id}'`);
    return step;
  }

  nextExecution(unit: Unit): StepExecution {
    const { run, outputs, now } = this;
    return nextExecution(run.journal.state, unit, { input: run.input, outputs, now });
  }

  endingOf({ unit, execution }: Executed): EndedExecution {
    return { step: unit.step, execution, now: this.now };
  }

  seenBy(unit: Unit): Context {
    return seenBy(unit, this.run.input, this.outputs);
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

  /**
   * True while this dispatch may record events of the run. Later ends are left to the next dispatch. Events that appear only
   * during compensation are dropped, because no event of a step may follow its compensation.
   */
  mayAppend(state: RunState): boolean {
    return state.lease?.owner === this.#owner && !state.compensating;
  }

  appendLeased(decide: Decide): Promise<Appended> {
    return this.journal.append((state) => (this.mayAppend(state) ? decide(state) : []));
  }

  do(command: Command): void {
    this.background(this.#hooks.carryOut(command));
  }

  record(change: ExecutionChange): void {
    this.do({ kind: 'record', change });
  }

  /** Work that the dispatch waits for before it ends. */
  background(work: Promise<Message>): void {
    this.#onTheWay += 1;
    work.then(
      (message) => {
        this.#onTheWay -= 1;
        this.post(message);
      },
      (error: unknown) => {
        this.#onTheWay -= 1;
        this.#hooks.onFailure(error);
      },
    );
  }

  /** Work that ends without a message. */
  guard(work: Promise<unknown>): void {
    work.catch(this.#hooks.onFailure);
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
