/**
 * The bodies a drive has under way: begins them, stops them, and hands back how each ended. What ends after it was
 * given up is dropped; the next drive sees to it.
 *
 * Must not: record anything but what must stand in the journal before a body begins.
 */

import type { StepExecution, StepRef } from '../../../core/run/events.ts';
import { feedbackFor } from '../../../core/run/state.ts';
import type { Decide } from '../../../journal/batch.ts';
import type { Appended, RunJournal } from '../../../journal/run-journal.ts';
import type { AnyPolicy, BodyStep, Context } from '../../define/steps.ts';
import type { EngineDeps } from '../../deps.ts';
import * as drafts from '../../facts/drafts.ts';
import { recorded, type Used } from '../../facts/output.ts';
import { askPolicy } from '../../policy.ts';
import { keyOf, refOf, type Unit } from '../step-inputs.ts';
import { type AttemptResult, runAttempt, StepAborted } from './attempt.ts';
import type { Beats } from './beats.ts';
import { BodyContext } from './body-context.ts';

export type BodyUnit = Unit & { readonly step: BodyStep };

export interface Ended {
  readonly unit: BodyUnit;
  readonly execution: StepExecution;
  readonly result: Exclude<AttemptResult, { kind: 'unfinished' }>;
  readonly used: Used;
}

/** `left`: it was told to stop and did not end in time, or ended without a result. */
interface Running {
  readonly unit: BodyUnit;
  readonly execution: StepExecution;
  readonly abort: AbortController;
  left: boolean;
}

export interface BodiesParams {
  readonly deps: EngineDeps;
  readonly journal: RunJournal;
  readonly beats: Beats;
  /** Adds nothing once the drive has let go. */
  readonly append: (decide: Decide) => Promise<Appended>;
  readonly seenBy: (unit: Unit) => Context;
  readonly onEnd: (ended: Ended) => Promise<void>;
  /** One ended without a result: the drive may now have nothing left to wait for. */
  readonly onLeft: () => void;
}

export class Bodies {
  readonly #params: BodiesParams;
  readonly #running = new Map<string, Running>();

  constructor(params: BodiesParams) {
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
    return [...this.#running.values()].map(({ execution }) => refOf(execution));
  }

  async run(unit: BodyUnit, execution: StepExecution): Promise<void> {
    const key = keyOf(unit);
    const running: Running = { unit, execution, abort: new AbortController(), left: false };
    this.#running.set(key, running);
    const body = this.#contextOf(running);
    const result = await this.#attempt(running, body);
    if (running.left) return;
    if (result === undefined || result.kind === 'unfinished') {
      running.left = true;
      return this.#params.onLeft();
    }
    this.#running.delete(key);
    await this.#params.onEnd({ unit, execution, result, used: body.used });
  }

  /** Tells bodies to stop; those of steps that were sent back are given up at once, since nothing of them counts. */
  abort(why: StepAborted['why'], concerns: (stepId: string) => boolean = () => true): void {
    for (const [key, running] of this.#running) {
      if (!concerns(running.execution.stepId)) continue;
      running.abort.abort(new StepAborted(why));
      if (why !== 'superseded') continue;
      running.left = true;
      this.#running.delete(key);
    }
  }

  /** Gives up what did not stop. */
  leave(): void {
    for (const running of this.#running.values()) running.left = true;
  }

  async #attempt(running: Running, { context }: BodyContext): Promise<AttemptResult | undefined> {
    const { deps } = this.#params;
    const { unit, execution, abort } = running;
    const { step } = unit;
    const refusal = step.policy && (await this.#refusal(step, step.policy, context));
    if (refusal) return refusal;
    if (abort.signal.aborted) return undefined;
    // A step that must not run twice leaves a trace before it begins (DESIGN 2.12).
    if (!step.idempotent && !(await this.#leavesTrace(execution))) return undefined;
    const onBeat = (beat: () => void) => this.#beatTimers.set(running, beat);
    const result = await runAttempt({ step, context, abort, clock: deps.clock, onBeat });
    this.#beatTimers.delete(running);
    if (result.kind === 'succeeded') this.#params.beats.forget(keyOf(unit));
    return result;
  }

  readonly #beatTimers = new Map<Running, () => void>();

  async #leavesTrace(execution: StepExecution): Promise<boolean> {
    const { events } = await this.#params.append(() => [drafts.started(execution)]);
    return events.length > 0;
  }

  /** Undefined: the body may run. A refusal ends the run; a policy that could not be asked is a failed attempt. */
  async #refusal(step: BodyStep, policy: AnyPolicy, context: Context): Promise<AttemptResult | undefined> {
    const { deps, journal } = this.#params;
    const { state } = journal;
    const answer = await askPolicy(deps, policy, {
      state,
      input: context.input,
      at: 'step',
      stepId: step.id,
    });
    if (!answer) {
      const cause = new Error(`the policy of step '${step.id}' could not be asked`);
      return { kind: 'failed', cause, error: recorded(step.id, cause) };
    }
    await this.#params.append(() => answer.drafts);
    return answer.allowed ? undefined : { kind: 'unfinished' };
  }

  #contextOf(running: Running): BodyContext {
    const { deps, journal, beats, seenBy } = this.#params;
    const { unit, execution, abort } = running;
    const { state } = journal;
    const key = keyOf(unit);
    return new BodyContext({
      deps,
      runId: state.id,
      execution,
      seen: seenBy(unit),
      feedback: feedbackFor(state, unit.step.id),
      signal: abort.signal,
      progressText: beats.lastOf(key),
      mayHaveMemos: execution.attempt > 1 || state.epoch > 1,
      onHeartbeat: (detailsText) => {
        this.#beatTimers.get(running)?.();
        if (detailsText !== undefined) beats.note({ step: key, detailsText, at: deps.clock.now() });
      },
    });
  }
}
