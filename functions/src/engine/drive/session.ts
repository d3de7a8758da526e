/**
 * Moves one claimed run as far as it goes: starts what is ready, records how it ends, and closes the run or lets go of
 * it. Works on the folded state and the graph only; history is never read again, so the cost of a step does not
 * depend on how many came before.
 */
import { conclude } from '../../core/decisions/conclude.ts';
import { type NodeState, ReadyTracker } from '../../core/graph/ready.ts';
import type { EventDraft, RecordedError, StepExecution } from '../../core/run/events.ts';
import { LeaseLost, type RunJournal } from '../../journal/run-journal.ts';
import type { CancelTimer } from '../../ports/clock.ts';
import type { PlainStep, SleepStep, StepDefinition, Workflow } from '../define/steps.ts';
import type { EngineDeps } from '../deps.ts';
import { afterFailure } from './after-failure.ts';
import { type AttemptResult, recorded, runAttempt, StepAborted } from './attempt.ts';
import { type Closing, type ClosingFacts, closingDraft } from './closing.ts';
import * as drafts from './drafts.ts';
import { NO_OUTPUT } from './drafts.ts';
import { type Output, Outputs } from './outputs.ts';
import { nodeState, waitOf } from './progress.ts';
import { Resting } from './resting.ts';
import { bodyContext, dueTime, mayEnter, nextExecution, refOf } from './step-inputs.ts';
import { keepVitalSigns } from './vital-signs.ts';

export type SessionEnd =
  | { readonly kind: 'closed' }
  /** `dueAt` (epoch ms) is when the next drive has something to do; absent: at once. */
  | { readonly kind: 'released'; readonly dueAt?: number }
  | { readonly kind: 'suspended'; readonly dueAt: number }
  | { readonly kind: 'lease_lost' };

export interface SessionParams {
  readonly deps: EngineDeps;
  readonly journal: RunJournal;
  readonly workflow: Workflow;
  /** The run's input, parsed and frozen. */
  readonly input: unknown;
  /** Epoch ms by which the drive must have let go. */
  readonly budgetEndsAt: number;
}

/** `left`: it was told to stop and did not end in time, or ended without a result. */
interface Running {
  readonly execution: StepExecution;
  readonly abort: AbortController;
  left: boolean;
}

export class DriveSession {
  readonly #deps: EngineDeps;
  readonly #params: SessionParams;
  readonly #tracker: ReadyTracker;
  readonly #outputs: Outputs;
  readonly #running = new Map<string, Running>();
  readonly #resting: Resting;
  readonly #timers = new Set<CancelTimer>();
  readonly #end = Promise.withResolvers<SessionEnd>();
  #unsettled: number;
  /** Facts on their way into the journal, counted until what follows from them can start. */
  #unacknowledged = 0;
  #stop: 'cancel' | 'budget' | 'shutdown' | undefined;
  #failure: RecordedError | undefined;
  #startedAny = false;
  #over = false;

  constructor(params: SessionParams) {
    this.#params = params;
    this.#deps = params.deps;
    const { graph, steps } = params.workflow;
    const { state } = params.journal;
    this.#tracker = new ReadyTracker(graph, (id) => nodeState(state, id));
    const unsettled = graph.order.filter((id) => state.steps.get(id)?.phase !== 'done');
    this.#unsettled = unsettled.length;
    this.#outputs = new Outputs(params.workflow, unsettled);
    this.#failure = state.error;
    const { clock, settings } = params.deps;
    this.#resting = new Resting({ clock, soonMs: settings.shortRetryMs, onDue: (id) => this.#onDue(id) });
    for (const id of steps.keys()) {
      const step = state.steps.get(id);
      if (step?.phase === 'retrying') this.#resting.add(id, step.retryAt);
      const due = step?.phase === 'waiting' ? waitOf(state, id)?.dueAt : undefined;
      if (due !== undefined) this.#resting.add(id, due);
    }
  }

  /** Resolves when this drive has nothing more to do with the run. Rejects if the outcome of a commit stayed unknown. */
  async run(): Promise<SessionEnd> {
    const { clock, shutdown, settings, store } = this.#deps;
    const { journal, budgetEndsAt } = this.#params;
    const endVitalSigns = keepVitalSigns({
      journal,
      clock,
      settings,
      busy: () => this.#running.size > 0,
      onNews: () => this.#advance(),
      onFailure: (error) => this.#fail(error),
    });
    const onShutdown = () => this.#halt('shutdown');
    shutdown.addEventListener('abort', onShutdown, { once: true });
    try {
      await this.#outputs.load(store, journal.state);
      this.#after(budgetEndsAt - clock.now(), () => this.#halt('budget'));
      for (const id of this.#resting.ids()) this.#resting.watch(id);
      if (shutdown.aborted) this.#halt('shutdown');
      this.#advance();
      return await this.#end.promise;
    } finally {
      this.#over = true;
      endVitalSigns();
      shutdown.removeEventListener('abort', onShutdown);
      this.#resting.end();
      for (const cancel of this.#timers) cancel();
    }
  }

  /** Starts what may start, and ends the drive if nothing is left to wait for. */
  #advance(): void {
    if (this.#over) return;
    if (this.#params.journal.state.cancellation) this.#halt('cancel');
    if (!this.#stop && !this.#failure) {
      this.#skipDependents();
      const room = this.#deps.settings.concurrentSteps - this.#running.size;
      for (const id of this.#tracker.ready(room)) {
        // A step can fail before its body begins: then the others are not started any more.
        if (this.#failure) break;
        if (this.#fitsBudget(id)) this.#start(id);
      }
    }
    this.#concludeIfDone();
  }

  #start(id: string): void {
    const step = this.#step(id);
    if (step.kind === 'sleep') this.#guard(this.#fallAsleep(step));
    else if (step.kind === 'step') this.#startBody(step);
    else throw new Error(`no drive knows how to begin a step of kind '${step.kind}'`);
  }

  #startBody(step: PlainStep): void {
    const { id } = step;
    const { state } = this.#params.journal;
    const execution = nextExecution(state, step, this.#outputs, this.#deps.clock.now());
    const running: Running = { execution, abort: new AbortController(), left: false };
    this.#startedAny = true;
    this.#running.set(id, running);
    this.#tracker.settle(id, 'open');
    this.#guard(this.#execute(step, running));
  }

  async #execute(step: PlainStep, running: Running): Promise<void> {
    const { execution, abort } = running;
    const context = this.#contextOf(step, execution, abort.signal);
    const entry = mayEnter(step, context);
    if (entry.kind === 'skip') return this.#settle(step, running, { kind: 'skipped' });
    if (entry.kind === 'failed') {
      const { cause } = entry;
      return this.#settle(step, running, { kind: 'failed', cause, error: recorded(step.id, cause) });
    }
    // A step that must not run twice leaves a trace before it begins (DESIGN 2.12).
    if (!step.idempotent) await this.#append(drafts.started(execution));
    await this.#settle(step, running, await runAttempt({ step, context, abort, clock: this.#deps.clock }));
  }

  /** Records how an attempt ended. What ends after the drive has let go is dropped; the next drive will see to it. */
  async #settle(
    step: PlainStep,
    running: Running,
    result: AttemptResult | { kind: 'skipped' },
  ): Promise<void> {
    if (this.#over || running.left) return;
    if (result.kind === 'unfinished') {
      running.left = true;
      return this.#concludeIfDone();
    }
    this.#running.delete(step.id);
    const ending = { step, execution: running.execution, now: this.#deps.clock.now() };
    if (result.kind === 'succeeded') {
      await this.#record(step, drafts.succeeded(ending, result.output), 'done', result.output);
    } else if (result.kind === 'skipped') {
      await this.#record(step, drafts.skipped(ending, 'its condition was false'), 'skipped', NO_OUTPUT);
    } else {
      await this.#settleFailure(ending, result);
    }
  }

  async #settleFailure(
    ending: drafts.Ending & { readonly step: PlainStep },
    failed: Extract<AttemptResult, { kind: 'failed' }>,
  ): Promise<void> {
    const { step, execution } = ending;
    const next = afterFailure(this.#deps, { runId: this.#runId, ...ending }, failed);
    if (next.kind === 'give_up') return this.#recordFailure(ending, failed.error);
    await this.#rest(step.id, next.at, drafts.retryScheduled(execution, next.at, failed.error));
  }

  #recordFailure(ending: drafts.Ending, error: RecordedError): Promise<void> {
    this.#failure ??= error;
    return this.#record(ending.step, drafts.failed(ending, error), 'failed', NO_OUTPUT);
  }

  /** Appends the fact. If it was the last one, the end of the run is queued behind it and shares its commit. */
  async #record(
    step: StepDefinition,
    fact: EventDraft | readonly EventDraft[],
    state: NodeState,
    output: Output,
  ): Promise<void> {
    this.#outputs.put(step.id, output);
    this.#outputs.release(step);
    this.#unsettled -= 1;
    this.#unacknowledged += 1;
    const durable = this.#append(fact);
    this.#concludeIfDone();
    await durable;
    this.#tracker.settle(step.id, state);
    this.#unacknowledged -= 1;
    this.#advance();
  }

  /** What needs a skipped step is skipped too. That follows from what is durable, so nothing waits for its commit. */
  #skipDependents(): void {
    for (let wave = this.#tracker.skippable(); wave.length > 0; wave = this.#tracker.skippable()) {
      for (const id of wave) {
        const step = this.#step(id);
        const now = this.#deps.clock.now();
        const execution = nextExecution(this.#params.journal.state, step, this.#outputs, now);
        const fact = drafts.skipped({ step, execution, now }, 'a step it needs was skipped');
        this.#tracker.settle(id, 'skipped');
        this.#guard(this.#record(step, fact, 'skipped', NO_OUTPUT));
      }
    }
  }

  /** Opens the wait of a sleep. Nothing of this run's instance is needed until it is due. */
  async #fallAsleep(step: SleepStep): Promise<void> {
    const now = this.#deps.clock.now();
    const execution = nextExecution(this.#params.journal.state, step, this.#outputs, now);
    const ending = { step, execution, now };
    this.#startedAny = true;
    this.#tracker.settle(step.id, 'open');
    const context = this.#contextOf(step, execution, new AbortController().signal);
    const entry = mayEnter(step, context);
    if (entry.kind === 'skip') {
      return this.#record(step, drafts.skipped(ending, 'its condition was false'), 'skipped', NO_OUTPUT);
    }
    const due = entry.kind === 'failed' ? entry : dueTime(step, context, now);
    if (due.kind === 'failed') return this.#recordFailure(ending, recorded(step.id, due.cause));
    await this.#rest(step.id, due.at, drafts.sleepOpened(execution, due.at, now));
  }

  /** The time of a sleep has come: its wait and the step end in one commit. */
  async #wake(step: SleepStep): Promise<void> {
    const { state } = this.#params.journal;
    const wait = waitOf(state, step.id);
    if (!wait) throw new Error(`run ${state.id}: step '${step.id}' sleeps without a wait`);
    const now = this.#deps.clock.now();
    const execution = { ...nextExecution(state, step, this.#outputs, now), startedAt: wait.openedAt };
    const facts = drafts.sleepEnded({ step, execution, now }, wait.id);
    await this.#record(step, facts, 'done', NO_OUTPUT);
  }

  /** A step has to wait for its time: says so in the journal, then waits in process if that is soon. */
  async #rest(id: string, at: number, fact: EventDraft): Promise<void> {
    this.#resting.add(id, at);
    this.#unacknowledged += 1;
    await this.#append(fact);
    this.#resting.watch(id);
    this.#unacknowledged -= 1;
    this.#advance();
  }

  #onDue(id: string): void {
    const step = this.#step(id);
    if (this.#over || this.#stop || this.#failure) {
      this.#concludeIfDone();
    } else if (step.kind === 'sleep') {
      this.#guard(this.#wake(step));
    } else {
      this.#tracker.settle(id, 'pending');
      this.#advance();
    }
  }

  /** Starts nothing more; tells running steps to stop, and leaves behind those that do not within the grace. */
  #halt(why: 'cancel' | 'budget' | 'shutdown'): void {
    if (this.#over || this.#stop === why || this.#stop === 'cancel') return;
    this.#stop = why;
    for (const { abort } of this.#running.values()) abort.abort(new StepAborted(why));
    this.#after(this.#deps.settings.graceMs, () => {
      for (const running of this.#running.values()) running.left = true;
      this.#concludeIfDone();
    });
    this.#concludeIfDone();
  }

  #concludeIfDone(): void {
    if (this.#over) return;
    const conclusion = conclude({
      active: [...this.#running.values()].filter((running) => !running.left).length,
      unacknowledged: this.#unacknowledged,
      unsettled: this.#unsettled,
      held: this.#tracker.ready(1).length,
      awaited: this.#resting.watched,
      asleep: this.#resting.ids().some((id) => this.#step(id).kind === 'sleep'),
      earliestDueAt: this.#resting.earliest,
      failed: this.#failure !== undefined,
      stop: this.#stop,
    });
    if (conclusion.kind === 'wait') return;
    this.#over = true;
    this.#guard(this.#carryOut(conclusion));
  }

  async #carryOut(closing: Closing): Promise<void> {
    const { journal, workflow } = this.#params;
    const facts: ClosingFacts = {
      workflow,
      failure: this.#failure,
      inFlight: [...this.#running.values()].map(({ execution }) => refOf(execution)),
      outputOf: (id) => this.#outputs.get(id),
    };
    await journal.append((state) => [closingDraft(closing, state, facts)]);
    this.#end.resolve(endOf(closing));
  }

  async #append(fact: EventDraft | readonly EventDraft[]): Promise<void> {
    await this.#params.journal.append(() => [fact].flat());
  }

  #guard(work: Promise<void>): void {
    work.catch((error) => this.#fail(error));
  }

  #fail(error: unknown): void {
    this.#over = true;
    for (const { abort } of this.#running.values()) abort.abort(new StepAborted('lease_lost'));
    if (error instanceof LeaseLost) this.#end.resolve({ kind: 'lease_lost' });
    else this.#end.reject(error);
  }

  #after(delayMs: number, fire: () => void): void {
    const cancel = this.#deps.clock.timer(delayMs, () => {
      this.#timers.delete(cancel);
      fire();
    });
    this.#timers.add(cancel);
  }

  /** The first step of a drive always fits: otherwise a long one would be handed on for ever. */
  #fitsBudget(id: string): boolean {
    const step = this.#step(id);
    if (!this.#startedAny || !('body' in step)) return true;
    return this.#deps.clock.now() + step.timeoutMs <= this.#params.budgetEndsAt;
  }

  #step(id: string): StepDefinition {
    const step = this.#params.workflow.steps.get(id);
    if (!step) throw new Error(`workflow '${this.#params.workflow.type}' has no step '${id}'`);
    return step;
  }

  #contextOf(step: StepDefinition, execution: StepExecution, signal: AbortSignal) {
    const { input } = this.#params;
    const outputs = this.#outputs;
    return bodyContext({ deps: this.#deps, runId: this.#runId, step, execution, input, outputs, signal });
  }

  get #runId(): string {
    return this.#params.journal.state.id;
  }
}

function endOf(closing: Closing): SessionEnd {
  if (closing.kind === 'suspend') return { kind: 'suspended', dueAt: closing.until };
  if (closing.kind !== 'release') return { kind: 'closed' };
  return closing.dueAt === undefined ? { kind: 'released' } : { kind: 'released', dueAt: closing.dueAt };
}
