/**
 * Running bodies of a drive: starts and stops them, and returns how each ended. Results of abandoned bodies are
 * dropped; the next drive handles them.
 *
 * Must not: record anything except what must be in the journal before a body starts.
 */

import { type Cost, isFree } from '../../../core/budget/budget.ts';
import { RetryAt } from '../../../core/errors.ts';
import { optional } from '../../../core/optional.ts';
import type { RecordedError, StepExecution, StepRef } from '../../../core/run/events.ts';
import { cut, TRACE_CHARS } from '../../../core/run/records.ts';
import { feedbackFor, type OpenEffect, type RunState, stepKey } from '../../../core/run/state.ts';
import { messageOf } from '../../../core/thrown.ts';
import type { Span } from '../../../ports/tracing.ts';
import type { AnyPolicy, BodyStep, Context } from '../../define/steps.ts';
import type { AliveCalls, PerformCall } from '../../effects/effect-call.ts';
import { Performer } from '../../effects/performer.ts';
import * as drafts from '../../facts/drafts.ts';
import { recorded } from '../../facts/output.ts';
import { askPolicy } from '../../policy.ts';
import { tellEnd } from '../../tracing/ends.ts';
import { stepSpan } from '../../tracing/step-spans.ts';
import { MOVED } from '../messages.ts';
import type { Scope } from '../scope.ts';
import { type BodyUnit, keyOf, type Unit } from '../step-inputs.ts';
import { type AttemptResult, runAttempt, StepAborted } from './attempt.ts';
import { BodyContext } from './body-context.ts';
import type { BodyReport } from './body-report.ts';

/** `left`: it was asked to stop and did not end in time, or ended without a result. */
interface Running {
  readonly unit: BodyUnit;
  readonly execution: StepExecution;
  /** Reservation from the run's budget. */
  readonly reserve: Cost;
  readonly abort: AbortController;
  readonly calls: AbortController;
  readonly span: Span | undefined;
  left: boolean;
}

export interface BodiesParams {
  /** True for a suspect: if its worker dies, the journal must have the running body. */
  readonly alone: boolean;
  /** The run may have acted before the restore of this time; epoch ms. */
  readonly restoredAt: number | undefined;
  readonly report: BodyReport;
  /** Before a call with side effects: why the budget of the tenant's day refuses it. */
  readonly refusedBy: (mayStop: boolean) => ReturnType<NonNullable<PerformCall['refusedBy']>>;
}

export class Bodies {
  readonly #scope: Scope;
  readonly #params: BodiesParams;
  /** By key: ends of bodies that are on their way into the journal. */
  readonly #recording = new Map<string, PromiseWithResolvers<void>>();
  readonly #running = new Map<string, Running>();
  readonly #alive: AliveCalls = new Map();

  constructor(scope: Scope, params: BodiesParams) {
    this.#scope = scope;
    this.#params = params;
  }

  get size(): number {
    return this.#running.size;
  }

  /** Bodies that may still end with a result. */
  get active(): number {
    let count = 0;
    for (const { left } of this.#running.values()) if (!left) count += 1;
    return count;
  }

  /** Executions that were given up. */
  inFlight(): StepRef[] {
    return [...this.#running.values()].map(({ execution }) => drafts.refOf(execution));
  }

  /** @param reserve of the run's budget; none: nothing is written for it */
  async run(unit: BodyUnit, execution: StepExecution, reserve: Cost = {}): Promise<void> {
    const running = this.#begin(unit, execution, reserve);
    await tellEnd(running.span, this.#run(running), running.abort.signal);
  }

  /** Result of the attempt, once recorded; undefined: stopped before its body started. */
  async #run(running: Running): Promise<AttemptResult | undefined> {
    const { unit, execution } = running;
    const performer = this.#performerOf(running);
    const body = this.#contextOf(running, performer);
    const result = await this.#attempt(running, body, performer);
    if (running.left) return result;
    if (result === undefined || result.kind === 'unfinished') {
      running.left = true;
      this.#params.report.ended(keyOf(unit));
      // The dispatch may now have nothing left to wait for.
      this.#scope.post(MOVED);
      return result;
    }
    await performer.flush();
    body.endText(result.kind === 'succeeded');
    this.#remove(unit);
    const settled = performer.takePending();
    const recording = Promise.withResolvers<void>();
    this.#recording.set(keyOf(unit), recording);
    const ended = { unit, execution, result, used: body.used, settled };
    this.#scope.post({ kind: 'body_ended', ended });
    await recording.promise;
    return result;
  }

  /** The journal has the end of the body. */
  recorded(key: string): void {
    this.#recording.get(key)?.resolve();
    this.#recording.delete(key);
  }

  /** The dispatch cannot record anything more. */
  failed(error: unknown): void {
    for (const recording of this.#recording.values()) recording.reject(error);
    this.#recording.clear();
  }

  /**
   * Asks bodies to stop; those of steps that were sent back are abandoned at once, because their results do not count.
   */
  abort(why: StepAborted['why'], concerns: (stepId: string) => boolean = () => true): void {
    for (const running of this.#running.values()) {
      if (!concerns(running.execution.stepId)) continue;
      running.abort.abort(new StepAborted(why));
      if (why !== 'superseded') continue;
      running.left = true;
      this.#remove(running.unit);
    }
  }

  /** Gives up what did not stop. */
  leave(): void {
    for (const running of this.#running.values()) running.left = true;
  }

  #remove(unit: Unit): void {
    const key = keyOf(unit);
    this.#running.delete(key);
    this.#params.report.ended(key);
  }

  #begin(unit: BodyUnit, execution: StepExecution, reserve: Cost): Running {
    const { deps, journal } = this.#scope;
    const { state } = journal;
    const running: Running = {
      unit,
      execution,
      reserve,
      abort: new AbortController(),
      calls: new AbortController(),
      span: deps.tracer?.open(stepSpan(state, execution, state.epoch)),
      left: false,
    };
    const key = keyOf(unit);
    const { revision, attempt, location } = execution;
    this.#running.set(key, running);
    const since = deps.clock.now();
    this.#params.report.begun({ step: key, revision, attempt, since, ...optional('location', location) });
    return running;
  }

  async #attempt(
    running: Running,
    { context }: BodyContext,
    performer: Performer,
  ): Promise<AttemptResult | undefined> {
    const { deps, journal } = this.#scope;
    const { alone, restoredAt } = this.#params;
    const { unit, abort, execution, reserve } = running;
    const { step } = unit;
    // A call that may cost something is in the journal before it is made: should the worker die, it counts as spent.
    const tracesFirst = alone || !step.idempotent || !isFree(reserve);
    const refusal = step.policy && (await this.#refusal(step, step.policy, context));
    if (refusal) return refusal;
    if (abort.signal.aborted) return undefined;
    if (mayHaveRun(journal.state, { step, execution, restoredAt })) return { kind: 'presumed' };
    // A step that must not run twice leaves a trace before it begins.
    if (tracesFirst && !(await this.#leavesTrace(running))) return undefined;
    // Nor may one that can act; what it does goes into the journal behind this, so that nothing waits for it here.
    if (!tracesFirst && step.uses.length > 0) this.#leavesTrace(running).catch(() => {});
    const endCalls = this.#giveCallsTime(running);
    const onBeat = (beat: () => void) => this.#beatTimers.set(running, beat);
    const { asked } = performer;
    const ended = await runAttempt({ step, context, abort, clock: deps.clock, onBeat, asked });
    this.#beatTimers.delete(running);
    const result = await this.#withDoubts(running, performer, ended);
    endCalls();
    if (result.kind === 'succeeded') this.#params.report.forget(keyOf(unit));
    return result;
  }

  readonly #beatTimers = new Map<Running, () => void>();

  /** A running call may still get its response after its body was asked to stop: that leaves less in doubt. */
  #giveCallsTime({ abort, calls }: Running): () => void {
    const { clock, settings } = this.#scope.deps;
    let cancel = () => {};
    const onAbort = () => {
      const { reason } = abort.signal;
      const delayMs = reason instanceof StepAborted && reason.why === 'timeout' ? 0 : settings.graceMs;
      cancel = clock.timer(delayMs, () => calls.abort(reason));
    };
    abort.signal.addEventListener('abort', onAbort, { once: true });
    return () => {
      abort.signal.removeEventListener('abort', onAbort);
      cancel();
    };
  }

  /**
   * An attempt has not ended while one of its calls may still act, and has not succeeded if the outcome of one is
   * unknown (E2).
   */
  async #withDoubts(
    { unit, abort, calls }: Running,
    performer: Performer,
    returned: AttemptResult,
  ): Promise<AttemptResult> {
    if (unit.step.uses.length === 0) return returned;
    const { clock, settings } = this.#scope.deps;
    const cancel = clock.timer(settings.graceMs, () => calls.abort(new StepAborted('timeout')));
    await performer.quietWithin(2 * settings.graceMs);
    cancel();
    const { isQuiet } = performer;
    const left = returned.kind === 'succeeded' ? whatItLeft(performer, abort.signal) : undefined;
    const ended = left ?? returned;
    if (ended.kind === 'unfinished') {
      // Nothing else will say what became of it: the next drive has to find out only what is really unknown.
      await performer.flush();
      const settled = performer.takePending();
      if (settled.length > 0) await this.#scope.appendHeld(() => settled);
      return ended;
    }
    const open = await performer.doubts();
    const { id } = unit.step;
    const { doubt = ended.kind === 'failed' ? ended.cause : isQuiet ? undefined : unanswered(id) } =
      performer;
    // An effect left in doubt by another run of the lineage has no row of this one.
    if (open.length === 0) {
      const isUnknown = ended.kind === 'succeeded' && doubt !== undefined;
      return isUnknown ? { kind: 'failed', cause: doubt, error: recorded(id, doubt) } : ended;
    }
    // A person who is asked about a repetition may have the step fail: by then all that it did must be known.
    return ended.kind === 'asks' && ended.ask.why === 'doubt' ? ended : inDoubt(id, open, doubt);
  }

  async #leavesTrace({ execution, reserve }: Running): Promise<boolean> {
    const more = isFree(reserve) ? {} : { reserved: reserve };
    const { events } = await this.#scope.appendHeld(() => [drafts.started(execution, more)]);
    return events.length > 0;
  }

  /** Undefined: the body may run. A refusal ends the run; a policy that could not be asked is a failed attempt. */
  async #refusal(step: BodyStep, policy: AnyPolicy, context: Context): Promise<AttemptResult | undefined> {
    const { deps, journal } = this.#scope;
    const { state } = journal;
    const answer = await askPolicy(deps, policy, {
      state,
      input: context.input,
      at: 'step',
      stepId: step.id,
    });
    if (!answer) {
      const cause = new Error(`the policy of step '${step.id}' could not be evaluated`);
      return { kind: 'failed', cause, error: recorded(step.id, cause) };
    }
    await this.#scope.appendHeld(() => answer.drafts);
    return answer.allowed ? undefined : { kind: 'unfinished' };
  }

  #performerOf({ unit, execution, abort, calls, span }: Running): Performer {
    const { deps, journal } = this.#scope;
    const { restoredAt, refusedBy } = this.#params;
    const { epoch, effectScopes, source } = journal.state;
    // A body that must not run twice is not stopped in the middle.
    const isBudgeted = unit.step.idempotent;
    return new Performer({
      deps,
      state: () => journal.state,
      execution,
      uses: unit.step.uses,
      isBudgeted,
      refusedBy: () => refusedBy(isBudgeted),
      mayHaveRows: execution.attempt > 1 || epoch > 1 || source !== undefined || effectScopes !== undefined,
      restoredAt,
      alive: this.#alive,
      trace: span?.context,
      body: abort.signal,
      calls: calls.signal,
      append: (decide) => this.#scope.appendHeld(decide),
      provedAt: () => journal.lastSnapshotAt,
    });
  }

  #contextOf(running: Running, performer: Performer): BodyContext {
    const { deps, journal } = this.#scope;
    const { report } = this.#params;
    const { unit, execution, abort } = running;
    const { state } = journal;
    const key = keyOf(unit);
    const by = { step: key, revision: execution.revision, attempt: execution.attempt };
    return new BodyContext({
      deps,
      runId: state.id,
      execution,
      seen: this.#scope.seenBy(unit),
      feedback: feedbackFor(state, unit.step.id),
      signal: abort.signal,
      progressText: report.lastOf(key),
      mayHaveMemos: execution.attempt > 1 || state.epoch > 1,
      performer,
      keepLine: report.log.of(by),
      text: report.log.textOf(by),
      onHeartbeat: (detailsText) => {
        this.#beatTimers.get(running)?.();
        if (detailsText !== undefined) report.note({ step: key, detailsText, at: deps.clock.now() });
      },
    });
  }
}

interface Beginning {
  readonly step: BodyStep;
  readonly execution: StepExecution;
  readonly restoredAt: number | undefined;
}

/**
 * True if the step may have run before the database was restored, and must not run twice. An attempt that is due after the
 * restore cannot have: that of a person who said so among them.
 */
function mayHaveRun(state: RunState, { step, execution, restoredAt }: Beginning): boolean {
  if (restoredAt === undefined || step.idempotent || step.newAttempt) return false;
  const before = state.steps.get(stepKey(execution));
  return before?.phase !== 'retrying' || before.whenRoom === true || before.retryAt < restoredAt;
}

/** Effect calls that a returned body did not await, or whose errors it caught. */
function whatItLeft(
  { isCut, question }: Performer,
  { aborted, reason }: AbortSignal,
): AttemptResult | undefined {
  const wasStopped = aborted && !(reason instanceof StepAborted && reason.why === 'asked');
  // The question stopped all else that the body had begun.
  if (question && !wasStopped) return { kind: 'asks', ask: question };
  return question || isCut ? { kind: 'unfinished' } : undefined;
}

function unanswered(stepId: string): Error {
  return new Error(`step '${stepId}' ended before its effect calls were answered`);
}

function inDoubt(stepId: string, doubts: readonly OpenEffect[], cause: unknown): AttemptResult {
  const names = doubts.map(({ capabilityId }) => `'${capabilityId}'`).join(', ');
  const why = cause instanceof Error ? `: ${messageOf(cause)}` : '';
  const message = cut(`the outcome of ${names} is unknown${why}`, TRACE_CHARS);
  const error: RecordedError = { code: 'EFFECT_IN_DOUBT', message, stepId, retryable: true };
  const isLater = cause instanceof RetryAt;
  const thrown = isLater ? new RetryAt(cause.at, message, { cause }) : new Error(message, { cause });
  return { kind: 'failed', cause: thrown, error, doubts };
}
