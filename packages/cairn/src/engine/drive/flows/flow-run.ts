/**
 * The code of one flow in one dispatch: answers its operations from the journal, begins the others, and records how the code
 * ended. Recorded ends are answered in the order of the journal, one at a time, so that repeated code receives them in their
 * first order.
 *
 * Owns the state of the code (`CodeState`) and the operations that it awaits (open-operations.ts). Whether the code waits is detected by
 * quiet-detector.ts.
 *
 * Must not: carry out an operation.
 */

import { durationText } from '../../../core/duration.ts';
import { MAX_FLOW_OPERATIONS, OperationNames } from '../../../core/flow/names.ts';
import { assertRoom, omitted, operationDecision } from '../../../core/flow/operation-decision.ts';
import type { StepExecution } from '../../../core/run/events.ts';
import { openEffectsOf, stepKey } from '../../../core/run/state.ts';
import { readableThrown } from '../../../core/thrown.ts';
import type { CancelTimer } from '../../../ports/clock.ts';
import type { SourceLocations } from '../../../ports/source-locations.ts';
import type { FlowStep } from '../../define/steps.ts';
import type { Outcome } from '../../recording/output.ts';
import { flowLog } from '../bodies/step-log.ts';
import type { DispatchState } from '../dispatch-state.ts';
import { type CodeEnd, MOVED } from '../messages.ts';
import { adoptWait } from '../next/waits.ts';
import type { Unit } from '../step-inputs.ts';
import { locationOf } from './calls-above.ts';
import { type KnownOperation, knownOf, leftFrom, operationsOf } from './known-operations.ts';
import { loopStart } from './loop-start.ts';
import { type OpenOperation, OpenOperations } from './open-operations.ts';
import { flowOf, type Operation } from './operation.ts';
import { QuietDetector } from './quiet-detector.ts';
import { answerWith, RecordedEnds } from './recorded-ends.ts';

/** `ended`: the flow ends after the bodies that it began. `reported`: its end is being recorded. */
type CodeState =
  | { readonly at: 'running' }
  | { readonly at: 'ended'; readonly end: CodeEnd }
  | { readonly at: 'reported' }
  | { readonly at: 'dropped' };

export class FlowRun {
  readonly #dispatch: DispatchState;
  readonly #step: FlowStep;
  readonly #execution: StepExecution;
  readonly #names = new OperationNames();
  /** Names of all operations, in the order in which the code asked for them. */
  readonly #requested = new Set<string>();
  readonly #operations = new OpenOperations();
  /** Operations that the journal had when the code began. */
  readonly #known: readonly KnownOperation[];
  readonly #ends: RecordedEnds;
  readonly #quiet: QuietDetector;
  #code: CodeState = { at: 'running' };
  /** Number of refused operations. It is limited, so that code which catches each error and asks again ends. */
  #refusals = 0;
  #isDelivering = false;
  #cancelIdle: CancelTimer = () => {};

  constructor(dispatch: DispatchState, step: FlowStep, execution: StepExecution) {
    this.#dispatch = dispatch;
    this.#step = step;
    this.#execution = execution;
    const { deps, journal, runId } = dispatch;
    this.#known = operationsOf(journal.state, execution);
    const seqs = this.#known.flatMap(({ state }) =>
      state.phase === 'done' && state.outcome !== 'failed' ? [state.seq] : [],
    );
    this.#ends = new RecordedEnds(deps.store, runId, seqs);
    const operations = this.#operations;
    this.#quiet = new QuietDetector({
      clock: deps.clock,
      onQuiet: () => dispatch.post(MOVED),
      guard: (work) => dispatch.guard(work),
      isWaiting: () => operations.size > 0 && !operations.hasRecorded,
      observer: step.observer,
    });
  }

  /** Runs the code, from its beginning. */
  begin(): void {
    this.#noteActivity();
    this.#dispatch.guard(this.#run());
  }

  /** True if the code may request more operations before any operation ends. */
  get isBusy(): boolean {
    const operations = this.#operations;
    return this.#isActive && (operations.size === 0 || operations.hasRecorded || !this.#quiet.isQuiet);
  }

  /** The next operation that waits for room. */
  next(): Unit | undefined {
    const [operation] = this.#operations.queued;
    return operation?.unit;
  }

  /** Records that an operation began, or (`idle`) will begin again. */
  mark(name: string, state: 'open' | 'idle'): void {
    const operation = this.#operations.get(name);
    const [from, to] = state === 'open' ? (['queued', 'begun'] as const) : (['begun', 'queued'] as const);
    if (operation?.phase.at === from) this.#operations.move(operation, { at: to });
  }

  /** Call once the end of an operation is in the journal. */
  ended(name: string, outcome: Outcome): void {
    const operation = this.#operations.get(name);
    if (operation && operation.phase.at !== 'recorded') this.#recorded(operation, outcome);
    this.#endIfDone();
  }

  /** Ends the flow in this dispatch: everything that the code still does is ignored. */
  drop(): void {
    this.#stop({ at: 'dropped' });
  }

  get #isActive(): boolean {
    return this.#code.at === 'running' && !this.#dispatch.isStopped;
  }

  /** Locations in the source of the code. Undefined for a loop, whose code is the engine's. */
  get #sources(): SourceLocations | undefined {
    return this.#step.loop ? undefined : this.#dispatch.deps.sources;
  }

  async #run(): Promise<void> {
    const dispatch = this.#dispatch;
    const step = this.#step;
    const execution = this.#execution;
    const { deps, runId, journal } = dispatch;
    const { stepId, revision } = execution;
    const seen = dispatch.seenBy({ step });
    const flow = flowOf({
      step,
      clock: deps.clock,
      random: deps.random,
      about: {
        runId,
        stepId,
        revision,
        feedback: journal.state.feedback.find(({ steps }) => steps.includes(stepId))?.text,
        log: flowLog(dispatch, execution, { known: this.#known, requested: this.#requested }),
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
    // A rejection that the code does not await must not end the process.
    promise.catch(() => {});
    // The next dispatch runs the code again, and asks for it then.
    if (!this.#isActive) return promise;
    try {
      const name = operation.isItem ? String(operation.name) : this.#names.next(operation.name);
      const { request, step } = operation.make();
      this.#assertRoom(name);
      // The journal already has the location of an ended operation.
      const at = this.#stateOf({ name })?.phase === 'done' ? {} : locationOf(operation, this.#sources);
      const unit: Unit = {
        step: this.#observed(step, name),
        item: { key: name, index: 0, value: undefined, request, ...at },
      };
      this.#take({ name, request, unit, phase: { at: 'begun' }, resolve, reject });
    } catch (error) {
      this.#refusals += 1;
      if (this.#refusals <= MAX_FLOW_OPERATIONS) reject(error);
      else this.#codeEnded({ kind: 'threw', cause: readableThrown(error) });
    }
    this.#noteActivity();
    return promise;
  }

  #observed(step: Unit['step'], name: string): Unit['step'] {
    const { observer, id } = this.#step;
    if (!observer || step.kind !== 'step') return step;
    return { ...step, body: observer.body(step.body, `${id}[${name}]`) };
  }

  /** @throws CairnError RUN_TOO_LARGE */
  #assertRoom(name: string): void {
    const { steps } = this.#dispatch.journal.state;
    if (this.#requested.has(name) || steps.has(this.#keyOf(name))) return;
    const operations = this.#requested.size;
    assertRoom(this.#step.id, { operations, steps: steps.size + this.#operations.queued.size });
  }

  #take(operation: OpenOperation): void {
    const dispatch = this.#dispatch;
    const { state } = dispatch.journal;
    const key = this.#keyOf(operation.name);
    this.#requested.add(operation.name);
    this.#operations.add(operation);
    dispatch.operations.set(key, operation.unit);
    const known = state.steps.get(key);
    if (known?.phase === 'done' && known.revision === this.#execution.revision) {
      this.#recorded(operation);
      return;
    }
    const decision = operationDecision(operation, knownOf(state, key));
    switch (decision.kind) {
      case 'rest':
        if (known?.phase === 'retrying') dispatch.restAs(key, known);
        return;
      case 'wait': {
        const wait = state.waits.find((open) => stepKey(open.execution) === key);
        if (wait) adoptWait(dispatch, wait);
        return;
      }
      case 'diverged':
        // It has not begun in this form, so the end of the flow must not wait for it.
        this.#operations.move(operation, { at: 'left' });
        this.#codeEnded(decision);
        return;
      default:
        this.#operations.move(operation, { at: 'queued' });
        if (this.#operations.queued.size === 1) dispatch.guard(this.#beginSoon());
    }
  }

  /** Begins operations once the code has made all its concurrent requests. */
  async #beginSoon(): Promise<void> {
    await this.#quiet.afterPromises();
    this.#dispatch.post(MOVED);
  }

  /** Call once the journal has the end of the operation. */
  #recorded(operation: OpenOperation, outcome?: Outcome): void {
    const known = this.#stateOf(operation);
    // Otherwise the flow was sent back meanwhile: another dispatch begins it again.
    const isRecorded = known?.phase === 'done';
    this.#operations.move(
      operation,
      isRecorded ? { at: 'recorded', seq: known.seq, outcome } : { at: 'left' },
    );
    if (isRecorded) this.#deliver();
  }

  #stateOf({ name }: Pick<OpenOperation, 'name'>) {
    return this.#dispatch.journal.state.steps.get(this.#keyOf(name));
  }

  /** Adopts waits that others ended. In the journal, their ends may precede those of this dispatch. */
  #takeInWaits(): void {
    for (const wait of this.#operations.waits)
      if (this.#stateOf(wait)?.phase === 'done') this.#recorded(wait);
  }

  #deliver(): void {
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    this.#dispatch.guard(this.#deliverRecorded());
  }

  async #deliverRecorded(): Promise<void> {
    try {
      while (this.#operations.hasRecorded) {
        // By then the code has made all its concurrent requests. A single operation needs no order.
        await this.#quiet.afterPromises();
        if (!this.#operations.isOneJustEnded) await this.#quiet.afterTurn();
        if (!this.#isActive) return;
        this.#takeInWaits();
        await this.#deliverFirst();
      }
    } finally {
      this.#isDelivering = false;
    }
  }

  async #deliverFirst(): Promise<void> {
    const first = this.#operations.firstRecorded;
    if (!first) return;
    const outcome = first.phase.outcome ?? (await this.#readEnd(first, first.phase.seq));
    if (!this.#isActive) return;
    this.#operations.remove(first);
    if (outcome) answerWith(outcome, first);
    this.#noteActivity();
  }

  /** Undefined: the code gets no answer. */
  async #readEnd(operation: OpenOperation, seq: number): Promise<Outcome | undefined> {
    const state = this.#stateOf(operation);
    if (state?.phase !== 'done') return undefined;
    const { outcome } = state;
    const { request, read } = await this.#ends.take(seq, outcome);
    const decision = operationDecision(operation, { at: 'done', outcome, request });
    if (decision.kind === 'answer' || decision.kind === 'throw') return read();
    if (decision.kind === 'diverged') this.#codeEnded(decision);
    return undefined;
  }

  /** The code received an answer or asked for an operation. If it then asks for none within `idleMs` and awaits none, it fails. */
  #noteActivity(): void {
    this.#quiet.noteActivity();
    this.#cancelIdle();
    if (this.#operations.size > 0 || !this.#isActive) return;
    const step = this.#step;
    this.#cancelIdle = this.#dispatch.deps.clock.timer(step.idleMs, () => {
      const message = `the code of the flow '${step.id}' asked for no operation within ${durationText(step.idleMs)}`;
      this.#codeEnded({ kind: 'threw', cause: new Error(message), code: 'STEP_TIMEOUT' });
    });
  }

  #codeEnded(end: CodeEnd): void {
    if (!this.#isActive) return;
    this.#stop({ at: 'ended', end });
    if (end.kind === 'returned') this.#leaveWaits();
    else this.#giveUp();
    this.#endIfDone();
    this.#dispatch.post(MOVED);
  }

  #stop(code: CodeState): void {
    this.#code = code;
    this.#cancelIdle();
    this.#quiet.end();
  }

  /** Drops waits that have not begun: no code needs their answers, and nothing would close them. */
  #leaveWaits(): void {
    const { queued, underWay } = this.#operations;
    for (const operation of queued.difference(underWay)) this.#operations.move(operation, { at: 'left' });
  }

  /** After an error of the code, operations that have not begun or that rest are abandoned; those with an open effect are not. */
  #giveUp(): void {
    const operations = this.#operations;
    for (const operation of operations.queued) operations.move(operation, { at: 'left' });
    for (const operation of operations.underWay)
      if (this.#givesUp(operation)) operations.move(operation, { at: 'left' });
  }

  #givesUp({ name, unit }: OpenOperation): boolean {
    const { journal } = this.#dispatch;
    const { stepId, revision } = this.#execution;
    const hasOpenEffect = openEffectsOf(journal.state, { stepId, itemKey: name, revision }).length > 0;
    const isWoken = !hasOpenEffect && this.#dispatch.wake(this.#keyOf(name));
    // A run that fails ends its children itself.
    return isWoken || (unit.step.kind === 'child' && this.#step.onFailure.kind === 'fail');
  }

  /** The flow ends after the bodies that it began. */
  #endIfDone(): void {
    if (this.#code.at !== 'ended' || this.#operations.underWay.size > 0 || this.#dispatch.isStopped) return;
    const end = this.#endOf(this.#code.end);
    this.#code = { at: 'reported' };
    const { deps, runId, post } = this.#dispatch;
    const { id: stepId } = this.#step;
    if (end.kind === 'diverged') deps.log.warn('flow_diverged', { runId, stepId, error: end.message });
    post({ kind: 'flow_ended', step: this.#step, execution: this.#execution, end });
  }

  /** Code that ended without asking for an operation that the journal has, has diverged. */
  #endOf(end: CodeEnd): CodeEnd {
    if (end.kind === 'diverged' || this.#step.loop) return end;
    const message = omitted(leftFrom(this.#known), this.#requested);
    return message === undefined ? end : { kind: 'diverged', message };
  }

  #keyOf(name: string): string {
    return stepKey({ stepId: this.#step.id, itemKey: name });
  }
}
