/**
 * Running bodies of a dispatch: starts and stops them, and returns how each ended. Results of abandoned bodies are
 * dropped; the next dispatch handles them.
 *
 * Must not: record anything except what must be in the journal before a body starts.
 */

import { isFree, type Spend } from '../../../core/budget/budget.ts';
import { mayHaveRun } from '../../../core/recovery/restored.ts';
import type { StepExecution, StepRef } from '../../../core/run/events.ts';
import type { AnyPolicy } from '../../define/steps.ts';
import type { AliveCalls } from '../../effects/effect-call.ts';
import { evaluatePolicy } from '../../policy.ts';
import * as build from '../../recording/event-builders.ts';
import { endSpanWith } from '../../tracing/ends.ts';
import type { DispatchState } from '../dispatch-state.ts';
import { MOVED } from '../messages.ts';
import { type BodyUnit, keyOf, type Unit } from '../step-inputs.ts';
import { BodyAttempt } from './body-attempt.ts';
import { type AttemptResult, failure, StepAborted } from './call-body.ts';

/** `left`: it was asked to stop and did not end in time, or ended without a result. */
interface RunningBody {
  readonly unit: BodyUnit;
  readonly execution: StepExecution;
  /** Reservation from the run's budget. */
  readonly reserve: Spend;
  readonly attempt: BodyAttempt;
  left: boolean;
}

export class Bodies {
  readonly #dispatch: DispatchState;
  /** By key: ends of bodies that are being committed. Undefined without a span. */
  readonly #recording = new Map<string, PromiseWithResolvers<void> | undefined>();
  readonly #running = new Map<string, RunningBody>();
  readonly #alive: AliveCalls = new Map();

  constructor(dispatch: DispatchState) {
    this.#dispatch = dispatch;
  }

  get size(): number {
    return this.#running.size;
  }

  /** Ended bodies whose end is not in the journal. */
  get unrecorded(): number {
    return this.#recording.size;
  }

  /** Bodies that may still end with a result. */
  get active(): number {
    let count = 0;
    for (const { left } of this.#running.values()) if (!left) count += 1;
    return count;
  }

  /** Executions that were given up. */
  inFlight(): StepRef[] {
    return [...this.#running.values()].map(({ execution }) => build.refOf(execution));
  }

  /** @param reserve of the run's budget; none: nothing is written for it */
  run(unit: BodyUnit, execution: StepExecution, reserve: Spend = {}): Promise<unknown> {
    const running = this.#begin(unit, execution, reserve);
    const { span, abort } = running.attempt;
    const result = this.#run(running);
    return span ? endSpanWith(span, result, abort.signal) : result;
  }

  /**
   * Result of the attempt, once recorded; undefined: stopped before its body started. Without a span it resolves earlier, so that
   * no attempt is kept in memory during its commit.
   */
  async #run(running: RunningBody): Promise<AttemptResult | undefined> {
    const { unit, execution, attempt } = running;
    const result = await this.#perform(running);
    if (running.left) return result;
    if (result === undefined || result.kind === 'unfinished') {
      running.left = true;
      this.#dispatch.run.report.ended(keyOf(unit));
      // The dispatch may now have nothing left to wait for.
      this.#dispatch.post(MOVED);
      return result;
    }
    const settled = await attempt.end(result);
    this.#remove(unit);
    const recording = attempt.span && Promise.withResolvers<void>();
    this.#recording.set(keyOf(unit), recording);
    const ended = { unit, execution, result, used: attempt.used, settled };
    this.#dispatch.post({ kind: 'body_ended', ended });
    await recording?.promise;
    return result;
  }

  /** Call once the journal has the end of the body. */
  recorded(key: string): void {
    this.#recording.get(key)?.resolve();
    this.#recording.delete(key);
  }

  /** Call when the dispatch cannot record anything more. */
  failed(error: unknown): void {
    for (const recording of this.#recording.values()) recording?.reject(error);
    this.#recording.clear();
  }

  /**
   * Asks bodies to stop; those of steps that were sent back are abandoned at once, because their results do not count.
   */
  abort(why: StepAborted['why'], concerns: (stepId: string) => boolean = () => true): void {
    for (const running of this.#running.values()) {
      if (!concerns(running.execution.stepId)) continue;
      running.attempt.abort.abort(new StepAborted(why));
      if (why !== 'superseded') continue;
      running.left = true;
      this.#remove(running.unit);
    }
  }

  /** Abandons the bodies that did not stop. */
  leave(): void {
    for (const running of this.#running.values()) running.left = true;
  }

  #remove(unit: Unit): void {
    const key = keyOf(unit);
    this.#running.delete(key);
    this.#dispatch.run.report.ended(key);
  }

  #begin(unit: BodyUnit, execution: StepExecution, reserve: Spend): RunningBody {
    const { run, budget } = this.#dispatch;
    const { deps, journal, report, restoredAt } = run;
    const attempt = new BodyAttempt({
      deps,
      journal,
      report,
      unit,
      execution,
      seen: this.#dispatch.seenBy(unit),
      restoredAt,
      alive: this.#alive,
      append: (decide) => this.#dispatch.appendLeased(decide),
      refusedBy: () => budget.effect(unit.step.idempotent),
    });
    const running: RunningBody = { unit, execution, reserve, attempt, left: false };
    this.#running.set(keyOf(unit), running);
    return running;
  }

  async #perform(running: RunningBody): Promise<AttemptResult | undefined> {
    const { journal, alone, restoredAt } = this.#dispatch.run;
    const { unit, attempt, reserve } = running;
    const { step } = unit;
    // An attempt that may cost something is in the journal before it begins, so that its cost counts if the worker dies.
    const tracesFirst = alone || !step.idempotent || !isFree(reserve);
    const refusal = step.policy && (await this.#refusal(running, step.policy));
    if (refusal) return refusal;
    if (attempt.abort.signal.aborted) return undefined;
    if (mayHaveRun(step, journal.state.steps.get(keyOf(unit)), restoredAt)) return { kind: 'presumed' };
    // A step that must not run twice leaves a trace before it begins.
    if (tracesFirst && !(await this.#leavesTrace(running))) return undefined;
    // A body that can act leaves a trace too. The journal writes it before the body's calls, so this code need not await it.
    if (!tracesFirst && step.uses.length > 0) this.#leavesTrace(running).catch(() => {});
    const result = await attempt.run(step);
    if (result.kind === 'succeeded') this.#dispatch.run.report.forget(keyOf(unit));
    return result;
  }

  async #leavesTrace({ execution, reserve }: RunningBody): Promise<boolean> {
    const more = isFree(reserve) ? {} : { reserved: reserve };
    const { events } = await this.#dispatch.appendLeased(() => [build.started(execution, more)]);
    return events.length > 0;
  }

  /** Undefined: the body may run. A refusal ends the run; a policy that could not be asked is a failed attempt. */
  async #refusal({ unit, attempt }: RunningBody, policy: AnyPolicy): Promise<AttemptResult | undefined> {
    const { deps, journal } = this.#dispatch;
    const { state } = journal;
    const { step } = unit;
    const answer = await evaluatePolicy(deps, policy, {
      state,
      input: attempt.context.input,
      at: 'step',
      stepId: step.id,
      signal: attempt.abort.signal,
    });
    if (answer.kind === 'stopped') return { kind: 'unfinished' };
    if (answer.kind === 'failed') {
      const cause = new Error(`the policy of step '${step.id}' could not be evaluated`);
      return failure(step.id, cause, deps.mask);
    }
    await this.#dispatch.appendLeased(() => answer.drafts);
    return answer.allowed ? undefined : { kind: 'unfinished' };
  }
}
