/**
 * The code of one flow in one dispatch: answers its operations from the journal, begins the others, and records how the code
 * ended. Recorded ends are answered in the order of the journal, one at a time, so that repeated code receives them in their
 * first order.
 *
 * Must not: carry out an operation.
 */
import { CairnError } from '../../../core/errors.ts';
import { askedDecision, omitted } from '../../../core/flow/asked.ts';
import { MAX_FLOW_OPERATIONS, OperationNames } from '../../../core/flow/names.ts';
import { MAX_STEPS } from '../../../core/graph/graph.ts';
import type { StepExecution } from '../../../core/run/events.ts';
import { openEffectsOf, stepKey } from '../../../core/run/state.ts';
import { readableThrown } from '../../../core/thrown.ts';
import type { CancelTimer } from '../../../ports/clock.ts';
import type { SourceLocations } from '../../../ports/source-locations.ts';
import type { FlowStep } from '../../define/steps.ts';
import type { Outcome } from '../../facts/output.ts';
import { flowLog } from '../bodies/step-log.ts';
import { type CodeEnd, MOVED } from '../messages.ts';
import { hold } from '../next/waits.ts';
import type { Unit } from '../step-inputs.ts';
import type { Working } from '../working.ts';
import { locationOf } from './calls-above.ts';
import { loopStart } from './loop-start.ts';
import { flowOf, type Operation } from './operation.ts';
import { isEndedFor, type KnownOperation, knownOf, leftFrom, operationsOf } from './operations-of.ts';
import { type Answerable, answerWith, firstOf, RecordedEnds } from './recorded.ts';
import { FlowTurns } from './turns.ts';

interface OperationEntry extends Answerable {
  readonly request: string;
  readonly unit: Unit;
  /** Its end is in the journal, and the code receives it in its turn. */
  isRecorded?: true;
  /** Its end, where this dispatch brought it about. */
  outcome?: Outcome;
}

export class FlowRun {
  readonly #working: Working;
  readonly #step: FlowStep;
  readonly #execution: StepExecution;
  readonly #names = new OperationNames();
  /** Names of all operations, in the order in which the code asked. */
  readonly #asked = new Set<string>();
  /** Operations without an answer. */
  readonly #entries = new Map<string, OperationEntry>();
  /** Operations that wait for room. */
  readonly #queued = new Set<OperationEntry>();
  /** By the sequence number of the recorded end. */
  readonly #recorded = new Map<number, OperationEntry>();
  /** Bodies, and children that are waited out, that the flow does not end before. */
  readonly #underWay = new Set<OperationEntry>();
  /** Operations that the journal had when the code began. */
  readonly #known: readonly KnownOperation[];
  /** Waits whose ends the code has not got: others may end them. */
  readonly #waits = new Set<OperationEntry>();
  readonly #ends: RecordedEnds;
  readonly #turns: FlowTurns;
  readonly #sources: SourceLocations | undefined;
  /** Operations that the code could not have: code that catches each error and asks again must end. */
  #refusals = 0;
  #end: CodeEnd | undefined;
  #isRecording = false;
  #isDelivering = false;
  #isDropped = false;
  #cancelIdle: CancelTimer = () => {};

  constructor(working: Working, step: FlowStep, execution: StepExecution) {
    this.#working = working;
    this.#step = step;
    this.#execution = execution;
    const { deps, journal, runId } = working;
    // The code of a loop is the engine's.
    this.#sources = step.loop ? undefined : deps.sources;
    this.#known = operationsOf(journal.state, execution);
    const seqs = this.#known.flatMap(({ state }) =>
      state.phase === 'done' && state.outcome !== 'failed' ? [state.seq] : [],
    );
    this.#ends = new RecordedEnds(deps.store, runId, seqs);
    this.#turns = new FlowTurns({
      clock: deps.clock,
      onQuiet: () => working.post(MOVED),
      guard: (work) => working.guard(work),
      isWaiting: () => this.#entries.size > 0 && this.#recorded.size === 0,
      observer: step.observer,
    });
  }

  /** Runs the code, from its beginning. */
  begin(): void {
    this.#news();
    this.#working.guard(this.#run());
  }

  /** The code may ask for more without anything ending first. */
  get isBusy(): boolean {
    if (!this.#isActive) return false;
    return this.#entries.size === 0 || this.#recorded.size > 0 || !this.#turns.isQuiet;
  }

  /** The next operation that waits for room. */
  next(): Unit | undefined {
    const [entry] = this.#queued;
    return entry?.unit;
  }

  /** An operation began, or (`idle`) is to begin again. */
  mark(name: string, state: 'open' | 'idle'): void {
    const entry = this.#entries.get(name);
    if (entry && state === 'open') this.#queued.delete(entry);
    else if (entry) this.#queued.add(entry);
  }

  /** An operation has ended, and its end is in the journal. */
  ended(name: string, outcome: Outcome): void {
    const entry = this.#entries.get(name);
    if (entry && !entry.isRecorded) {
      entry.outcome = outcome;
      this.#isRecorded(entry);
    }
    this.#endIfDone();
  }

  /** The dispatch is over: nothing of the code counts any more. */
  drop(): void {
    this.#isDropped = true;
    this.#cancelIdle();
    this.#turns.end();
  }

  get #isActive(): boolean {
    return !this.#isDropped && this.#end === undefined && !this.#working.isStopped;
  }

  async #run(): Promise<void> {
    const working = this.#working;
    const step = this.#step;
    const execution = this.#execution;
    const { deps, runId, journal } = working;
    const { stepId, revision } = execution;
    const seen = working.seenBy({ step });
    const flow = flowOf({
      step,
      clock: deps.clock,
      random: deps.random,
      about: {
        runId,
        stepId,
        revision,
        feedback: journal.state.feedback.find(({ steps }) => steps.includes(stepId))?.text,
        log: flowLog(working, execution, { known: this.#known, asked: this.#asked }),
      },
      ask: (operation) => this.#ask(operation),
      numbered: (name) => this.#names.next(name),
      isLocated: this.#sources !== undefined,
    });
    const { turnsOfARun } = deps.settings;
    const from = { loop: step.loop, names: this.#names, ends: this.#ends, turnsOfARun };
    const start = step.loop && (await loopStart(this.#known, from));
    try {
      await undefined;
      const value = await step.code(flow as never, seen, start);
      this.#codeEnded({ kind: 'returned', value });
    } catch (thrown) {
      this.#codeEnded({ kind: 'threw', cause: readableThrown(thrown) });
    }
  }

  #ask(operation: Operation): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    // Code that does not wait for it must not take the process along.
    promise.catch(() => {});
    // The next dispatch runs the code again, and asks for it then.
    if (!this.#isActive) return promise;
    try {
      const name = operation.isItem ? String(operation.name) : this.#names.next(operation.name);
      const { request, step } = operation.make();
      this.#assertRoom(name);
      // The location of an ended operation is recorded.
      const at = this.#stateOf({ name })?.phase === 'done' ? {} : locationOf(operation, this.#sources);
      const unit: Unit = {
        step: this.#observed(step, name),
        item: { key: name, index: 0, value: undefined, request, ...at },
      };
      this.#take({ name, request, unit, resolve, reject });
    } catch (error) {
      this.#refusals += 1;
      if (this.#refusals <= MAX_FLOW_OPERATIONS) reject(error);
      else this.#codeEnded({ kind: 'threw', cause: readableThrown(error) });
    }
    this.#news();
    return promise;
  }

  #observed(step: Unit['step'], name: string): Unit['step'] {
    const { observer, id } = this.#step;
    if (!observer || step.kind !== 'step') return step;
    return { ...step, body: observer.body(step.body, `${id}[${name}]`) };
  }

  /** @throws CairnError RUN_TOO_LARGE */
  #assertRoom(name: string): void {
    const step = this.#step;
    const { steps } = this.#working.journal.state;
    if (this.#asked.has(name) || steps.has(this.#keyOf(name))) return;
    const help = 'Split the work over child runs (flow.child), or continue in another run.';
    if (this.#asked.size >= MAX_FLOW_OPERATIONS) {
      const what = `the flow '${step.id}' has ${this.#asked.size} operations; the most is ${MAX_FLOW_OPERATIONS}`;
      throw new CairnError('RUN_TOO_LARGE', what, { stepId: step.id, help });
    }
    if (steps.size + this.#queued.size < MAX_STEPS) return;
    const what = `the operations of the flow '${step.id}' bring the run to more than ${MAX_STEPS} steps`;
    throw new CairnError('RUN_TOO_LARGE', what, { stepId: step.id, help });
  }

  #take(entry: OperationEntry): void {
    const working = this.#working;
    const { state } = working.journal;
    const key = this.#keyOf(entry.name);
    this.#asked.add(entry.name);
    this.#entries.set(entry.name, entry);
    working.operations.set(key, entry.unit);
    const known = state.steps.get(key);
    if (known?.phase === 'done' && known.revision === this.#execution.revision) {
      this.#isRecorded(entry);
      return;
    }
    if (isEndedFor(entry.unit.step)) this.#underWay.add(entry);
    if (!('body' in entry.unit.step)) this.#waits.add(entry);
    const decision = askedDecision(entry, knownOf(state, key));
    switch (decision.kind) {
      case 'rest':
        if (known?.phase === 'retrying') working.restAs(key, known);
        return;
      case 'wait': {
        const wait = state.waits.find((open) => stepKey(open.execution) === key);
        if (wait) hold(working, wait);
        return;
      }
      case 'diverged':
        this.#codeEnded({ kind: 'diverged', message: decision.message });
        return;
      default:
        this.#queued.add(entry);
        if (this.#queued.size === 1) this.#working.guard(this.#beginSoon());
    }
  }

  /** Once the code has asked for all that it asks for at once. */
  async #beginSoon(): Promise<void> {
    await this.#turns.promises();
    this.#working.post(MOVED);
  }

  /** The journal has its end. */
  #isRecorded(entry: OperationEntry): void {
    this.#queued.delete(entry);
    this.#underWay.delete(entry);
    this.#waits.delete(entry);
    const known = this.#stateOf(entry);
    // The flow was sent back meanwhile: another dispatch begins it again.
    if (known?.phase !== 'done') return;
    entry.isRecorded = true;
    this.#recorded.set(known.seq, entry);
    this.#deliver();
  }

  #stateOf({ name }: Pick<OperationEntry, 'name'>) {
    return this.#working.journal.state.steps.get(this.#keyOf(name));
  }

  /** Adopts waits that others ended. In the journal, their ends may precede those of this dispatch. */
  #takeInWaits(): void {
    for (const entry of this.#waits) if (this.#stateOf(entry)?.phase === 'done') this.#isRecorded(entry);
  }

  #deliver(): void {
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    this.#working.guard(this.#deliverRecorded());
  }

  async #deliverRecorded(): Promise<void> {
    try {
      while (this.#recorded.size > 0) {
        // All that the code asks for at once is known then. One operation at a time needs no order.
        await this.#turns.promises();
        if (!this.#isAlone) await this.#turns.next();
        if (!this.#isActive) return;
        this.#takeInWaits();
        const next = firstOf(this.#recorded);
        if (next) await this.#deliverOne(next);
      }
    } finally {
      this.#isDelivering = false;
    }
  }

  /** The code waits for one operation, which ended in this dispatch. */
  get #isAlone(): boolean {
    const [entry] = this.#entries.values();
    return this.#entries.size === 1 && entry?.outcome !== undefined;
  }

  async #deliverOne([seq, entry]: readonly [number, OperationEntry]): Promise<void> {
    const outcome = entry.outcome ?? (await this.#readEnd(seq, entry));
    if (!this.#isActive) return;
    this.#recorded.delete(seq);
    this.#entries.delete(entry.name);
    if (outcome) answerWith(outcome, entry);
    this.#news();
  }

  /** Undefined: the code gets no answer. */
  async #readEnd(seq: number, entry: OperationEntry): Promise<Outcome | undefined> {
    const state = this.#stateOf(entry);
    if (state?.phase !== 'done') return undefined;
    const { outcome } = state;
    const { request, read } = await this.#ends.take(seq, outcome);
    const decision = askedDecision(entry, { at: 'done', outcome, request });
    if (decision.kind === 'answer' || decision.kind === 'throw') return read();
    if (decision.kind === 'diverged') this.#codeEnded({ kind: 'diverged', message: decision.message });
    return undefined;
  }

  /** The code got an answer, or asked for something: it may continue. */
  #news(): void {
    this.#turns.news();
    this.#cancelIdle();
    if (this.#entries.size > 0 || !this.#isActive) return;
    const step = this.#step;
    this.#cancelIdle = this.#working.deps.clock.timer(step.idleMs, () => {
      const message = `the code of the flow '${step.id}' asked for no operation within ${step.idleMs} ms`;
      this.#codeEnded({ kind: 'threw', cause: new Error(message), code: 'STEP_TIMEOUT' });
    });
  }

  #codeEnded(end: CodeEnd): void {
    if (!this.#isActive) return;
    this.#end = end;
    this.#cancelIdle();
    this.#turns.end();
    if (end.kind === 'returned') this.#leaveWaits();
    else this.#giveUp();
    this.#endIfDone();
    this.#working.post(MOVED);
  }

  /** Drops waits that have not begun: no code needs their answers, and nothing would close them. */
  #leaveWaits(): void {
    for (const entry of this.#queued.difference(this.#underWay)) this.#queued.delete(entry);
  }

  /** Code that threw needs nothing more: what has not begun, and what rests, is left. An open effect is not. */
  #giveUp(): void {
    const working = this.#working;
    const { stepId, revision } = this.#execution;
    for (const entry of this.#queued) this.#underWay.delete(entry);
    this.#queued.clear();
    for (const entry of this.#underWay) {
      // A run that fails sees to its children itself.
      if (entry.unit.step.kind === 'child' && this.#step.onFailure.kind === 'fail')
        this.#underWay.delete(entry);
      const ref = { stepId, itemKey: entry.name, revision };
      if (openEffectsOf(working.journal.state, ref).length > 0) continue;
      if (working.wake(this.#keyOf(entry.name))) this.#underWay.delete(entry);
    }
  }

  /** The flow ends after the bodies that it began. */
  #endIfDone(): void {
    if (!this.#end || this.#isRecording || this.#underWay.size > 0) return;
    if (this.#isDropped || this.#working.isStopped) return;
    this.#isRecording = true;
    const { deps, runId } = this.#working;
    const step = this.#step;
    const missing =
      this.#end.kind === 'diverged' || step.loop ? undefined : omitted(leftFrom(this.#known), this.#asked);
    const end: CodeEnd = missing === undefined ? this.#end : { kind: 'diverged', message: missing };
    if (end.kind === 'diverged') {
      deps.log.warn('flow_diverged', { runId, stepId: step.id, error: end.message });
    }
    this.#working.post({ kind: 'flow_ended', step, execution: this.#execution, end });
  }

  #keyOf(name: string): string {
    return stepKey({ stepId: this.#step.id, itemKey: name });
  }
}
