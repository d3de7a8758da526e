/**
 * Moves one claimed run as far as it goes: starts what is ready, records how it ends, and closes the run or lets go of
 * it. Works on the folded state and the graph only; history is never read again, so the cost of a step does not
 * depend on how many came before.
 *
 * Must not: know how a body is run (bodies.ts), how a wait is opened or adopted (held-waits.ts), or how steps are undone
 * (compensate.ts).
 */
import { conclude } from '../../core/decisions/conclude.ts';
import { ReadyTracker } from '../../core/graph/ready.ts';
import type { EventDraft, RecordedError, StepExecution, Wait } from '../../core/run/events.ts';
import { type RunState, stepIdOf, stepKey } from '../../core/run/state.ts';
import { needsPayload } from '../../core/run/values.ts';
import type { Decide } from '../../journal/batch.ts';
import { type Appended, LeaseLost, type RunJournal } from '../../journal/run-journal.ts';
import type { CancelTimer } from '../../ports/clock.ts';
import type { BodyStep, ChildStep, Context, StepDefinition, WaitStep, Workflow } from '../define/steps.ts';
import type { EngineDeps } from '../deps.ts';
import { mayGoOn } from '../gate.ts';
import { askPolicy } from '../policy.ts';
import { opened, waitOf } from '../waits/open.ts';
import { answered } from '../waits/settle.ts';
import { timeUp } from '../waits/time-up.ts';
import { afterFailure } from './after-failure.ts';
import { recorded, StepAborted } from './attempt.ts';
import type { Beats } from './beats.ts';
import { Bodies, type BodyUnit, type Ended } from './bodies.ts';
import { type Closing, closingDraft, resultOf } from './closing.ts';
import { compensate } from './compensate.ts';
import * as drafts from './drafts.ts';
import { NO_OUTPUT } from './drafts.ts';
import { FanOutSet, itemsOf, type Outcome, type SetStep } from './fan-out-set.ts';
import { HeldWaits, signalFor } from './held-waits.ts';
import { kept, loadOutputs, type Output, Outputs } from './outputs.ts';
import { nodeState } from './progress.ts';
import { Resting } from './resting.ts';
import { isSet, keyOf, mayEnter, nextExecution, seenBy, type Unit } from './step-inputs.ts';
import { keepVitalSigns } from './vital-signs.ts';

export type SessionEnd =
  | { readonly kind: 'closed' }
  /** `dueAt` (epoch ms) is when the next drive has something to do; absent: at once. */
  | { readonly kind: 'released'; readonly dueAt?: number }
  /** `dueAt` absent: somebody has to answer. */
  | { readonly kind: 'suspended'; readonly dueAt?: number }
  | { readonly kind: 'lease_lost' };

export interface SessionParams {
  readonly deps: EngineDeps;
  readonly journal: RunJournal;
  readonly workflow: Workflow;
  /** The run's input, parsed and frozen. */
  readonly input: unknown;
  /** Epoch ms by which the drive must have let go. */
  readonly budgetEndsAt: number;
  readonly beats: Beats;
}

/** A policy that could not be asked is asked again after this. */
const POLICY_RETRY_MS = 30_000;

type Stop = 'cancel' | 'budget' | 'shutdown' | 'renewal';

export class DriveSession {
  readonly #deps: EngineDeps;
  readonly #params: SessionParams;
  readonly #tracker: ReadyTracker;
  readonly #outputs: Outputs;
  readonly #bodies: Bodies;
  readonly #waits: HeldWaits;
  readonly #resting: Resting;
  readonly #sets = new Map<string, FanOutSet>();
  readonly #timers = new Set<CancelTimer>();
  readonly #end = Promise.withResolvers<SessionEnd>();
  /** Aborts the compensations under way. */
  readonly #letGo = new AbortController();
  #unsettled: number;
  /** Facts on their way into the journal, and news on its way out, counted until what follows from them can start. */
  #unacknowledged = 0;
  #stop: Stop | undefined;
  #failure: RecordedError | undefined;
  #startedAny = false;
  #over = false;
  /** How much of what others appended has been taken into account. */
  #adopted: number;
  #feedbackSeq: number;
  #gateAskedAt: number;

  constructor(params: SessionParams) {
    this.#params = params;
    this.#deps = params.deps;
    const { deps, journal, workflow, beats } = params;
    const { state } = journal;
    this.#tracker = new ReadyTracker(workflow.graph, (id) => nodeState(state, id));
    const unsettled = workflow.graph.order.filter((id) => state.steps.get(id)?.phase !== 'done');
    this.#unsettled = unsettled.length;
    this.#outputs = new Outputs(workflow, unsettled);
    this.#failure = state.error;
    this.#adopted = journal.foreignEvents;
    this.#feedbackSeq = newestFeedback(state);
    this.#gateAskedAt = deps.clock.now();
    const soonMs = deps.settings.shortRetryMs;
    this.#resting = new Resting({ clock: deps.clock, soonMs, onDue: (key) => this.#onDue(key) });
    this.#bodies = new Bodies({
      deps,
      journal,
      beats,
      seenBy: (unit) => this.#seenBy(unit),
      onEnd: (ended) => this.#bodyEnded(ended),
      onLeft: () => this.#advance(),
    });
    this.#waits = new HeldWaits({
      deps,
      journal,
      stepOf: (id) => this.#step(id),
      childInput: (wait) => this.#childInput(wait),
      end: (wait, facts) => this.#endWait(wait, facts),
    });
  }

  /** Resolves when this drive has nothing more to do with the run. Rejects if the outcome of a commit stayed unknown. */
  async run(): Promise<SessionEnd> {
    const { clock, shutdown, settings, store } = this.#deps;
    const { journal, budgetEndsAt } = this.#params;
    const endVitalSigns = keepVitalSigns({
      journal,
      clock,
      settings,
      busy: () => this.#bodies.size > 0,
      onNews: () => this.#onNews(),
      onFailure: (error) => this.#fail(error),
    });
    const onShutdown = () => this.#halt('shutdown');
    shutdown.addEventListener('abort', onShutdown, { once: true });
    try {
      await this.#outputs.load(store, journal.state);
      this.#watchTime(budgetEndsAt);
      if (shutdown.aborted) this.#halt('shutdown');
      if (!this.#over && (await this.#isAllowed())) {
        this.#resume(journal.state);
        this.#advance();
      }
      return await this.#end.promise;
    } finally {
      this.#over = true;
      endVitalSigns();
      shutdown.removeEventListener('abort', onShutdown);
      this.#resting.end();
      for (const cancel of this.#timers) cancel();
    }
  }

  #watchTime(budgetEndsAt: number): void {
    const { clock } = this.#deps;
    const { deadlineAt } = this.#params.journal.state;
    this.#after(budgetEndsAt - clock.now(), () => this.#halt('budget'));
    if (deadlineAt !== undefined && deadlineAt <= budgetEndsAt) {
      const leftMs = deadlineAt - clock.now();
      if (leftMs <= 0) this.#timeOut(deadlineAt);
      else this.#after(leftMs, () => this.#timeOut(deadlineAt));
    }
  }

  /** Asks the policy of the workflow, where the run has begun to move since it was last asked. */
  async #isAllowed(): Promise<boolean> {
    const { journal, workflow, input } = this.#params;
    const { state } = journal;
    if (!workflow.policy || !state.policyDue || state.cancellation || state.error) return true;
    const at = state.policySnapshotId === undefined ? 'start' : 'resume';
    const answer = await askPolicy(this.#deps, workflow.policy, { state, input, at });
    if (answer) {
      await journal.append(() => answer.drafts);
      return true;
    }
    this.#over = true;
    await this.#carryOut({
      kind: 'release',
      reason: 'retry',
      dueAt: this.#deps.clock.now() + POLICY_RETRY_MS,
    });
    return false;
  }

  /** Takes up what an earlier drive left waiting. Items are taken up with their set. */
  #resume(state: RunState): void {
    for (const id of this.#params.workflow.graph.order) {
      const step = state.steps.get(id);
      if (step?.phase === 'retrying') this.#rest(id, step.retryAt);
    }
    for (const wait of state.waits) if (wait.execution.itemKey === undefined) this.#hold(wait);
  }

  /** Starts what may start, and ends the drive if nothing is left to wait for. */
  #advance(): void {
    if (this.#over) return;
    this.#adopt();
    if (this.#params.journal.state.cancellation) this.#halt('cancel');
    if (!this.#stop && !this.#failure) {
      this.#skipDependents();
      for (const id of this.#tracker.ready(this.#room)) {
        // A step can fail before its body begins: then the others are not started any more.
        if (this.#failure) break;
        this.#start(id);
      }
      for (const set of this.#sets.values()) this.#pump(set);
    }
    this.#concludeIfDone();
  }

  get #room(): number {
    return this.#deps.settings.concurrentSteps - this.#bodies.size;
  }

  #start(id: string): void {
    const step = this.#step(id);
    if (isSet(step)) this.#openSet(step as SetStep);
    else if ('body' in step) this.#startBody({ step });
    else this.#guard(this.#openWait({ step }, step));
  }

  #startBody(unit: BodyUnit): void {
    if (!this.#fitsBudget(unit.step)) return;
    const execution = this.#nextExecution(unit);
    // Of a set the condition was asked once, before its items.
    const entry = unit.item ? { kind: 'run' as const } : mayEnter(unit.step, this.#seenBy(unit));
    if (entry.kind !== 'run') return this.#guard(this.#notEntered(unit, execution, entry));
    this.#begin(unit);
    this.#guard(this.#bodies.run(unit, execution));
  }

  /** Works out the items of a set and says in the journal that it has begun. */
  #openSet(step: SetStep): void {
    const { journal } = this.#params;
    const { state } = journal;
    const unit = { step };
    const execution = this.#nextExecution(unit);
    const seen = this.#seenBy(unit);
    const entry = mayEnter(step, seen);
    if (entry.kind !== 'run') return this.#guard(this.#notEntered(unit, execution, entry));
    let set: FanOutSet;
    try {
      set = new FanOutSet(step, execution, itemsOf(step, seen, state), state);
    } catch (cause) {
      return this.#guard(this.#notEntered(unit, execution, { kind: 'failed', cause }));
    }
    this.#begin(unit);
    this.#sets.set(step.id, set);
    if (state.steps.get(step.id)?.phase !== 'running')
      this.#guard(this.#append([drafts.started(execution)], execution));
    this.#guard(this.#pending(this.#takeUpItems(set, state)));
  }

  /** Results of items that ended in an earlier drive, and those that wait since then. */
  async #takeUpItems(set: FanOutSet, state: RunState): Promise<void> {
    const waits = new Map(state.waits.map((wait) => [stepKey(wait.execution), wait]));
    const done: { readonly index: number; readonly seq: number }[] = [];
    for (let index = 0; index < set.size; index += 1) {
      const key = keyOf(set.unit(index));
      const item = state.steps.get(key);
      const wait = waits.get(key);
      if (wait) this.#hold(wait);
      else if (item?.phase === 'retrying') this.#rest(key, item.retryAt);
      else if (item?.phase === 'done' && item.outcome !== 'failed') done.push({ index, seq: item.seq });
    }
    if (done.length === 0) return;
    set.loading = true;
    const outputs = await loadOutputs(
      this.#deps.store,
      state.id,
      done.map(({ seq }) => seq),
    );
    done.forEach(({ index }, i) => {
      const output = outputs[i];
      if (output) set.settle(index, { kind: 'done', output });
    });
    set.loading = false;
  }

  /** Begins as many items as may be under way, and ends the set once its outcome is decided. */
  #pump(set: FanOutSet): void {
    for (let index = set.next(); index !== undefined && this.#room > 0; index = set.next()) {
      const unit = set.unit(index);
      const { step } = unit;
      if ('body' in step) {
        if (!this.#fitsBudget(step)) break;
        this.#startBody({ ...unit, step });
      } else {
        this.#guard(this.#openWait(unit, step as WaitStep));
      }
      if (this.#failure) return;
    }
    if (set.verdict !== 'open') this.#letRest(set);
    if (set.finished && !set.closed && !set.loading) this.#closeSet(set);
  }

  /** Items that rest between two attempts are not needed any more. */
  #letRest(set: FanOutSet): void {
    for (let index = 0; index < set.size; index += 1) {
      const key = keyOf(set.unit(index));
      if (set.stateOf(index) !== 'open' || this.#waits.of(key) || !this.#resting.has(key)) continue;
      this.#resting.remove(key);
      set.mark(index, 'idle');
    }
  }

  #closeSet(set: FanOutSet): void {
    const { step, execution } = set;
    set.closed = true;
    const outcome = set.outcome();
    const ending = { step, execution, now: this.#deps.clock.now() };
    if (outcome.kind === 'failed') {
      const fact = drafts.failedByPolicy(ending, outcome.error);
      return this.#guard(this.#settle({ step }, execution, [fact]));
    }
    const output = outcome.kind === 'done' ? outcome.output : NO_OUTPUT;
    this.#guard(
      needsPayload(output.text)
        ? this.#pending(this.#keptThen(output, (kept) => this.#succeed({ step }, ending, kept)))
        : this.#succeed({ step }, ending, output),
    );
  }

  #succeed(unit: Unit, ending: drafts.Ending, output: Output): Promise<void> {
    return this.#settle(unit, ending.execution, [drafts.succeeded(ending, output)], { kind: 'done', output });
  }

  async #keptThen(output: Output, then: (kept: Output) => Promise<void>): Promise<void> {
    await then(await kept(this.#deps.store, this.#runId, output));
  }

  /** Opens the wait of a step in the journal, then tells the outside of it. A signal that came before answers it at once. */
  async #openWait(unit: Unit, step: WaitStep): Promise<void> {
    const now = this.#deps.clock.now();
    const execution = this.#nextExecution(unit);
    const seen = this.#seenBy(unit);
    const entry = unit.item ? { kind: 'run' as const } : mayEnter(step, seen);
    if (entry.kind !== 'run') return this.#notEntered(unit, execution, entry);
    let wait: Wait;
    try {
      wait = waitOf(step, { runId: this.#runId, execution, seen, now });
    } catch (cause) {
      return this.#notEntered(unit, execution, { kind: 'failed', cause });
    }
    this.#begin(unit);
    let answer: Outcome | undefined;
    await this.#pending(
      this.#append((state) => {
        const found = step.kind === 'event' ? signalFor(state, step, wait) : undefined;
        if (!found) return [opened(wait)];
        answer = { kind: 'done', output: found.output };
        const { signalId } = found.signal;
        return [
          opened(wait),
          ...answered({ step, wait, now }, { initiator: 'system', signalId }, found.output),
        ];
      }, execution),
    );
    if (answer) return this.#settle(unit, execution, [], answer);
    this.#hold(wait);
    this.#advance();
  }

  /** A step whose condition was false, or whose own functions threw before there was anything to record. */
  #notEntered(
    unit: Unit,
    execution: StepExecution,
    entry: { readonly kind: 'skip' } | { readonly kind: 'failed'; readonly cause: unknown },
  ): Promise<void> {
    this.#begin(unit);
    const ending = { step: unit.step, execution, now: this.#deps.clock.now() };
    const fact =
      entry.kind === 'skip'
        ? drafts.skipped(ending, 'its condition was false')
        : drafts.failedByPolicy(ending, recorded(unit.step.id, entry.cause));
    return this.#settle(unit, execution, [fact]);
  }

  #begin({ step, item }: Unit): void {
    this.#startedAny = true;
    if (item) this.#sets.get(step.id)?.mark(item.index, 'open');
    else this.#tracker.settle(step.id, 'open');
  }

  #hold(wait: Wait): void {
    this.#waits.add(wait);
    if (wait.dueAt !== undefined) this.#rest(stepKey(wait.execution), wait.dueAt);
    this.#guard(this.#pending(this.#waits.announce(wait)).then(() => this.#concludeIfDone()));
  }

  #rest(key: string, at: number): void {
    this.#resting.add(key, at);
    this.#resting.watch(key);
  }

  async #bodyEnded({ unit, execution, result, used }: Ended): Promise<void> {
    if (this.#over) return;
    const { step } = unit;
    const ending = { step, execution, now: this.#deps.clock.now() };
    switch (result.kind) {
      case 'succeeded': {
        const record = (output: Output) => {
          const { degraded } = result;
          const fact =
            degraded === undefined
              ? drafts.succeeded(ending, output, used)
              : drafts.degraded(ending, output, degraded, used);
          return this.#settle(unit, execution, [fact], { kind: 'done', output });
        };
        if (!needsPayload(result.output.text)) return record(result.output);
        return this.#pending(this.#keptThen(result.output, record));
      }
      case 'failed': {
        const next = afterFailure(this.#deps, { runId: this.#runId, ...ending, step }, result);
        if (next.kind === 'give_up') {
          return this.#settle(unit, execution, [drafts.failedByPolicy(ending, result.error)]);
        }
        const durable = this.#append([drafts.retryScheduled(execution, next.at, result.error)], execution);
        // It rests before it stops being pending: in between nothing would seem to be left to wait for.
        await this.#pending(durable.then(() => this.#rest(keyOf(unit), next.at)));
        return this.#advance();
      }
    }
  }

  /**
   * An execution has ended: appends what says so, and goes on. If it was the last one, the end of the run is queued
   * behind it and shares its commit.
   */
  async #settle(
    { step, item }: Unit,
    execution: StepExecution,
    facts: readonly EventDraft[],
    known?: Outcome,
  ): Promise<void> {
    const outcome = known ?? drafts.outcomeOf(facts);
    if (!outcome) throw new Error(`nothing says how step '${step.id}' ended`);
    this.#unacknowledged += 1;
    const durable = facts.length === 0 ? undefined : this.#append(facts, execution);
    const set = item && this.#sets.get(step.id);
    if (item) set?.settle(item.index, outcome);
    else this.#settleStep(step, outcome);
    if (set?.finished && !this.#stop && !this.#failure) this.#pump(set);
    this.#concludeIfDone();
    await durable;
    if (!item) this.#tracker.settle(step.id, outcome.kind);
    this.#unacknowledged -= 1;
    this.#advance();
  }

  #settleStep(step: StepDefinition, outcome: Outcome): void {
    if (outcome.kind === 'failed') this.#failure ??= outcome.error;
    if (outcome.kind === 'done') this.#outputs.put(step.id, outcome.output);
    this.#outputs.release(step);
    this.#sets.delete(step.id);
    this.#unsettled -= 1;
  }

  /** What needs a skipped step is skipped too. That follows from what is durable, so nothing waits for its commit. */
  #skipDependents(): void {
    for (let wave = this.#tracker.skippable(); wave.length > 0; wave = this.#tracker.skippable()) {
      for (const id of wave) {
        const step = this.#step(id);
        const execution = this.#nextExecution({ step });
        const fact = drafts.skipped(
          { step, execution, now: this.#deps.clock.now() },
          'a step it needs was skipped',
        );
        this.#tracker.settle(id, 'skipped');
        this.#guard(this.#settle({ step }, execution, [fact]));
      }
    }
  }

  #onDue(key: string): void {
    if (this.#over || this.#stop || this.#failure) return this.#concludeIfDone();
    const wait = this.#waits.of(key);
    if (wait) return this.#guard(this.#timeUp(wait));
    const unit = this.#unitOf(key);
    if (unit.item) this.#sets.get(unit.step.id)?.mark(unit.item.index, 'idle');
    else this.#tracker.settle(key, 'pending');
    this.#advance();
  }

  async #timeUp(wait: Wait): Promise<void> {
    const step = this.#step(wait.execution.stepId);
    await this.#endWait(wait, timeUp({ step, wait, now: this.#deps.clock.now() }));
    // The tie to a child stays until it has told its parent, so that the end of the run would cancel it as well.
    if (wait.child)
      await this.#pending(this.#deps.otherRuns.cancelChild(this.#params.journal.state, wait.child.runId));
  }

  /** Ends a wait, if nobody else has. */
  async #endWait(wait: Wait, facts: readonly EventDraft[]): Promise<void> {
    this.#waits.drop(wait);
    this.#resting.remove(stepKey(wait.execution));
    const isOpen = (state: RunState) => state.waits.some(({ id }) => id === wait.id);
    const { events } = await this.#pending(
      this.#params.journal.append((state) => (isOpen(state) ? facts : [])),
    );
    const outcome = drafts.outcomeOf(facts);
    if (events.length === 0) this.#closedByOthers(wait);
    else if (outcome) return this.#settle(this.#unitOf(stepKey(wait.execution)), wait.execution, [], outcome);
    this.#advance();
  }

  /** Takes into account what others appended: answers to waits, and steps that were sent back. */
  #adopt(): void {
    const { journal } = this.#params;
    if (journal.foreignEvents === this.#adopted) return;
    this.#adopted = journal.foreignEvents;
    const { state } = journal;
    if (newestFeedback(state) > this.#feedbackSeq) this.#renew(state);
    for (const wait of this.#waits.takeClosed(state)) {
      this.#resting.remove(stepKey(wait.execution));
      this.#closedByOthers(wait);
    }
  }

  /** Steps were sent back: bodies of theirs are given up, the others end, and the next drive begins from there. */
  #renew(state: RunState): void {
    const back = new Set(
      state.feedback.filter(({ seq }) => seq > this.#feedbackSeq).flatMap(({ steps }) => steps),
    );
    this.#feedbackSeq = newestFeedback(state);
    this.#bodies.abort('superseded', (stepId) => back.has(stepId));
    this.#stop ??= 'renewal';
  }

  #closedByOthers(wait: Wait): void {
    const { state } = this.#params.journal;
    const key = stepKey(wait.execution);
    const step = state.steps.get(key);
    if (step?.phase === 'retrying') this.#rest(key, step.retryAt);
    else if (step?.phase === 'done') this.#guard(this.#pending(this.#adoptOutcome(key, wait.execution)));
  }

  async #adoptOutcome(key: string, execution: StepExecution): Promise<void> {
    const { state } = this.#params.journal;
    const unit = this.#unitOf(key);
    const step = state.steps.get(key);
    if (step?.phase !== 'done') return;
    if (step.outcome === 'skipped') return this.#settle(unit, execution, [], { kind: 'skipped' });
    if (step.outcome === 'failed') {
      const error = await this.#errorAt(step.seq);
      return this.#settle(unit, execution, [], { kind: 'failed', error });
    }
    const isWanted = unit.item !== undefined || this.#outputs.wants(unit.step.id);
    const [output] = isWanted ? await loadOutputs(this.#deps.store, state.id, [step.seq]) : [NO_OUTPUT];
    await this.#settle(unit, execution, [], { kind: 'done', output: output ?? NO_OUTPUT });
  }

  async #errorAt(seq: number): Promise<RecordedError> {
    const [event] = await this.#deps.store.readEvents(this.#runId, seq - 1, 1);
    if (event?.type !== 'step_failed') throw new Error(`run ${this.#runId}: event ${seq} is no failure`);
    return event.data.error;
  }

  #onNews(): void {
    const { clock, settings } = this.#deps;
    const now = clock.now();
    if (now - this.#gateAskedAt >= settings.heartbeatMs) {
      this.#gateAskedAt = now;
      this.#guard(
        mayGoOn(this.#deps, this.#params.journal.state).then((may) => {
          if (!may) this.#halt('budget');
        }),
      );
    }
    this.#advance();
  }

  /** Starts nothing more; tells running steps to stop, and leaves behind those that do not within the grace. */
  #halt(why: Exclude<Stop, 'renewal'>): void {
    if (why !== 'cancel') this.#letGo.abort(new StepAborted(why));
    if (this.#over || this.#stop === why || this.#stop === 'cancel') return;
    this.#stop = why;
    this.#stopBodies(why);
    this.#concludeIfDone();
  }

  /** The time of the whole run is over: it fails, whatever is under way. */
  #timeOut(deadlineAt: number): void {
    if (this.#over || this.#failure) return;
    const { createdAt, startedAt = createdAt } = this.#params.journal.state;
    const message = `the run did not end within ${deadlineAt - startedAt} ms`;
    this.#failure = { code: 'RUN_TIMEOUT', message, retryable: false };
    this.#stopBodies('timeout');
    this.#concludeIfDone();
  }

  #stopBodies(why: StepAborted['why']): void {
    this.#bodies.abort(why);
    this.#after(this.#deps.settings.graceMs, () => {
      this.#bodies.leave();
      this.#concludeIfDone();
    });
  }

  #concludeIfDone(): void {
    if (this.#over) return;
    const canStart =
      this.#tracker.ready(1).length > 0 || [...this.#sets.values()].some((set) => set.next() !== undefined);
    const conclusion = conclude({
      active: this.#bodies.active,
      unacknowledged: this.#unacknowledged,
      unsettled: this.#unsettled,
      held: canStart ? 1 : 0,
      awaited: this.#resting.watched,
      waits: this.#waits.size,
      earliestDueAt: this.#resting.earliest,
      failed: this.#failure !== undefined,
      stop: this.#stop,
    });
    if (conclusion.kind === 'wait') return;
    this.#over = true;
    const { deadlineAt = Number.POSITIVE_INFINITY } = this.#params.journal.state;
    const until = conclusion.kind === 'suspend' && Math.min(conclusion.until ?? deadlineAt, deadlineAt);
    const isTimed = until !== false && Number.isFinite(until);
    this.#guard(this.#carryOut(isTimed ? { kind: 'suspend', until } : conclusion));
  }

  /** Decided on the newest state: if others have appended meanwhile, the conclusion is drawn anew. */
  async #carryOut(conclusion: Closing): Promise<void> {
    const { journal, workflow, input } = this.#params;
    let closing = conclusion;
    const undoes = closing.kind === 'fail' || closing.kind === 'cancel';
    if (undoes && canCompensate(workflow)) {
      const error = closing.kind === 'fail' ? this.#failure : undefined;
      const undoing = { deps: this.#deps, journal, workflow, input, error, stop: this.#letGo.signal };
      if ((await compensate(undoing)) === 'stopped') closing = { kind: 'release', reason: 'shutdown' };
    }
    let result = closing.kind === 'complete' ? resultOf(workflow, this.#outputs) : NO_OUTPUT;
    if ('code' in result) {
      this.#failure = result;
      return this.#carryOut({ kind: 'fail' });
    }
    if (needsPayload(result.text)) result = await kept(this.#deps.store, this.#runId, result);
    const facts = { result, failure: this.#failure, inFlight: this.#bodies.inFlight() };
    const { events } = await journal.append((state) =>
      journal.foreignEvents === this.#adopted ? [closingDraft(closing, state, facts)] : [],
    );
    if (events.length > 0) return this.#end.resolve(endOf(closing));
    this.#over = false;
    this.#advance();
  }

  /** A fact about an execution stays one on every newer state, but for one whose step was sent back meanwhile. */
  #append(facts: readonly EventDraft[] | Decide, { stepId, revision }: StepExecution): Promise<Appended> {
    return this.#params.journal.append((state) => {
      if ((state.steps.get(stepId)?.revision ?? revision) > revision) return [];
      return typeof facts === 'function' ? facts(state) : facts;
    });
  }

  /** Counts the work, so that the drive does not conclude before it. */
  async #pending<T>(work: Promise<T>): Promise<T> {
    this.#unacknowledged += 1;
    try {
      return await work;
    } finally {
      this.#unacknowledged -= 1;
    }
  }

  #guard(work: Promise<unknown>): void {
    work.catch((error) => this.#fail(error));
  }

  #fail(error: unknown): void {
    this.#over = true;
    this.#bodies.abort('lease_lost');
    this.#letGo.abort(new StepAborted('lease_lost'));
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
  #fitsBudget({ timeoutMs }: BodyStep): boolean {
    return !this.#startedAny || this.#deps.clock.now() + timeoutMs <= this.#params.budgetEndsAt;
  }

  #step(id: string): StepDefinition {
    const step = this.#params.workflow.steps.get(id);
    if (!step) throw new Error(`workflow '${this.#params.workflow.type}' has no step '${id}'`);
    return step;
  }

  #unitOf(key: string): Unit {
    const step = this.#step(stepIdOf(key));
    if (key === step.id) return { step };
    const unit = this.#sets.get(step.id)?.unit(Number(key.slice(step.id.length + 1, -1)));
    if (!unit) throw new Error(`run ${this.#runId}: '${key}' is no item of a set under way`);
    return unit;
  }

  #nextExecution(unit: Unit): StepExecution {
    return nextExecution(this.#params.journal.state, unit, this.#outputs, this.#deps.clock.now());
  }

  #seenBy(unit: Unit): Context {
    return seenBy(unit, this.#params.input, this.#outputs);
  }

  #childInput({ execution }: Wait): unknown {
    const unit = this.#unitOf(stepKey(execution));
    return (unit.step as ChildStep).input(this.#seenBy(unit));
  }

  get #runId(): string {
    return this.#params.journal.state.id;
  }
}

function newestFeedback({ feedback }: RunState): number {
  return feedback.reduce((newest, { seq }) => Math.max(newest, seq), 0);
}

function canCompensate({ steps }: Workflow): boolean {
  return [...steps.values()].some((step) => 'compensate' in step && step.compensate !== undefined);
}

function endOf(closing: Closing): SessionEnd {
  switch (closing.kind) {
    case 'suspend':
      return { kind: 'suspended', ...(closing.until === undefined ? {} : { dueAt: closing.until }) };
    case 'release':
      return { kind: 'released', ...(closing.dueAt === undefined ? {} : { dueAt: closing.dueAt }) };
    default:
      return { kind: 'closed' };
  }
}
