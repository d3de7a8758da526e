/**
 * The runtime of the test kit: runs workflows as deployed, with tasks, leases, journals and recovery, in memory and in simulated
 * time that only the test advances.
 *
 * Must not: take shortcuts. Every change of a run goes through the operations and dispatches of a deployment.
 */

import type { BudgetOptions } from '../core/budget/day-limits.ts';
import { budgetOf, LONGEST_DRIVE_S } from '../core/drive-time.ts';
import { parseDuration } from '../core/duration.ts';
import type { Resolution } from '../core/effects/effect.ts';
import type { Decision } from '../core/run/events.ts';
import { isOver } from '../core/run/state.ts';
import type { RunStatus } from '../core/run/status.ts';
import type { CallPolicy } from '../engine/define/call-policy.ts';
import type { Binding } from '../engine/define/capability.ts';
import type { Workflow } from '../engine/define/steps.ts';
import { type EngineSettings, LONGEST_STEP_MS, PRODUCTION_SETTINGS } from '../engine/settings.ts';
import type { ApprovalDecided } from '../operations/approvals/request.ts';
import type { Cancellation } from '../operations/cancel-run.ts';
import type { EffectResolved } from '../operations/effects/resolution.ts';
import type { EventDelivered } from '../operations/events/deliver-event.ts';
import type { Signalled } from '../operations/events/signal-run.ts';
import { blockedBy } from './blocked.ts';
import { Driver } from './driver.ts';
import { type BodyPart, ObservedBodies } from './observed-bodies.ts';
import * as operations from './operations.ts';
import { TestRun } from './test-run.ts';
import { type CollectedLine, CollectedLog } from './world/collected-log.ts';
import type { CrashPlan } from './world/crash-plan.ts';
import { Installation } from './world/installation.ts';

export interface TestRuntimeOptions {
  /** Workflows that can be started, also as children; the newest version of each type. */
  readonly workflows: readonly Workflow[];
  /** Bindings of the capabilities that the workflows use, usually stand-ins. */
  readonly bindings?: readonly Binding[];
  /** Like `callPolicy` of the installation. */
  readonly callPolicy?: CallPolicy;
  /** Like `budgets` of the installation. */
  readonly budgets?: BudgetOptions;
  /** Start of simulated time: epoch ms, a date, or an ISO text. Default: the beginning of 2026, UTC. */
  readonly now?: number | string | Date;
  /** Determines ids and jitter; default 1. */
  readonly seed?: number;
  /** Overrides of the engine's times and limits. Default: those of production. */
  readonly settings?: Partial<EngineSettings>;
  /**
   * Real time, ms, for which simulated time waits for one execution of a body; default 1,000. Relevant for bodies that really
   * wait (files, servers of the test). 0: simulated time does not wait.
   */
  readonly patienceMs?: number;
}

const DEFAULT_PATIENCE_MS = 1_000;
/** Maximum of clock steps of `runToEnd`: years of hourly work. A run that needs more never ends. */
const MAX_MOMENTS = 100_000;

/** A workflow with a step longer than a usual dispatch has functions of its own (`drives` of `cairnFunctions`). */
function budgetFor(workflows: readonly Workflow[]): number {
  const steps = workflows.flatMap((workflow) => [...workflow.steps.values()]);
  const isLong = steps.some((step) => 'body' in step && step.timeoutMs > LONGEST_STEP_MS);
  return isLong ? budgetOf(LONGEST_DRIVE_S) : PRODUCTION_SETTINGS.budgetMs;
}

export class TestRuntime {
  readonly #installation: Installation;
  readonly #bodies: ObservedBodies;
  readonly #driver: Driver;
  readonly #log: CollectedLog;

  /** @param plan where processes die, for a sweep */
  constructor(options: TestRuntimeOptions, plan?: CrashPlan) {
    const {
      workflows,
      bindings,
      callPolicy,
      budgets,
      now,
      seed = 1,
      settings,
      patienceMs = DEFAULT_PATIENCE_MS,
    } = options;
    this.#bodies = new ObservedBodies({ patienceMs, onCrash: () => this.crash(), plan });
    let log: CollectedLog | undefined;
    this.#installation = new Installation({
      workflows: workflows.map((workflow) => this.#bodies.observe(workflow)),
      bindings,
      callPolicy,
      budgets,
      settings: { ...PRODUCTION_SETTINGS, budgetMs: budgetFor(workflows), ...settings },
      seed,
      startAt: now === undefined ? undefined : timeOf(now),
      logTo: (clock) => (log = new CollectedLog(clock)),
    });
    this.#log = log as unknown as CollectedLog;
    this.#driver = new Driver({ installation: this.#installation, bodies: this.#bodies, seed, plan });
  }

  /** Simulated time, epoch ms. */
  now(): number {
    return this.#installation.clock.now();
  }

  /** Log entries of bodies and engine; the newest 10,000. */
  logs(): readonly CollectedLine[] {
    return this.#log.lines;
  }

  /**
   * Starts a run of the newest version of the type. `settle`, `advance` and `runToEnd` dispatch it.
   *
   * @throws CairnError INVALID_INPUT if the workflow refuses the input, IDEMPOTENCY_KEY_REUSED
   */
  async start(type: string, input: unknown = {}, options: operations.StartOptions = {}): Promise<TestRun> {
    return this.run(await operations.start(this.#installation, { type, input, ...options }));
  }

  /** A run by its id: a child, or one that a body started. */
  run(id: string): TestRun {
    return new TestRun(id, this.#installation, this.#bodies);
  }

  /** All runs, the oldest first. */
  runs(): readonly TestRun[] {
    return [...this.#installation.db.runs.keys()].map((id) => this.run(id));
  }

  /** Does all due work without advancing time. Waits for bodies that wait in real time. */
  settle(): Promise<void> {
    return this.#driver.settle();
  }

  /** Advances time by a duration ('24h', or ms), and does all work that becomes due, in order. */
  async advance(duration: string | number): Promise<void> {
    const until = this.now() + parseDuration(duration);
    await this.settle();
    while (this.#driver.moveOn(until)) await this.settle();
    this.#installation.clock.jump(until - this.now());
  }

  /**
   * Advances time until the run has ended.
   *
   * @returns how it ended
   * @throws Error naming the decision or event that the run waits for
   */
  async runToEnd(run: TestRun): Promise<RunStatus> {
    const wanted = await this.#moveOn(run);
    const { status, type } = run.state();
    if (wanted === undefined) return status;
    throw new Error(`run ${run.id} of '${type}' waits for ${wanted}\n\n${run.timeline()}`);
  }

  /**
   * Advances time until the run needs external input (a decision, an event) or has ended. Time stops before a question expires.
   *
   * @returns its status
   */
  async runUntilBlocked(run: TestRun): Promise<RunStatus> {
    await this.#moveOn(run);
    return run.status();
  }

  /** Advances time until the run has ended or needs external input, which is returned. */
  async #moveOn(run: TestRun): Promise<string | undefined> {
    for (let moment = 0; moment < MAX_MOMENTS; moment += 1) {
      await this.settle();
      const state = run.state();
      if (isOver(state)) return undefined;
      const wanted = blockedBy(state, (id) => this.#stateOf(id));
      if (wanted !== undefined) return wanted;
      if (!this.#driver.moveOn(Number.POSITIVE_INFINITY)) {
        throw new Error(`run ${run.id} is ${state.status} and no work is due\n\n${run.timeline()}`);
      }
    }
    throw new Error(`run ${run.id} has not ended after ${MAX_MOMENTS} clock steps\n\n${run.timeline()}`);
  }

  /** Number of calls of each body and compensation, in all runs: `ship`, `ship[2]`, `compensate ship`. */
  bodyCalls(): ReadonlyMap<string, number> {
    return this.#bodies.executions;
  }

  /**
   * Answers the question that a step of the run asks.
   *
   * @throws CairnError as in the API: APPROVAL_DECIDED, APPROVAL_EXPIRED, INVALID_INPUT, RUN_TERMINAL_STATE …; Error listing the
   * open waits, if no step was named and not exactly one asks
   */
  decide(run: TestRun, decision: Decision, options: operations.DecideOptions = {}): Promise<ApprovalDecided> {
    return operations.decide(this.#installation, run, { decision, ...options });
  }

  /**
   * Resolves an effect in doubt, or one whose repetition needs permission.
   *
   * @throws CairnError as in the API: EFFECT_RESOLVED, INVALID_INPUT …; Error if the run asks about no effect
   */
  resolve(
    run: TestRun,
    outcome: Resolution,
    options: operations.ResolveOptions = {},
  ): Promise<EffectResolved> {
    return operations.resolve(this.#installation, run, { outcome, ...options });
  }

  /** Delivers an event to waiting runs, or buffers it for the first that waits. The result says which. */
  deliver(event: operations.SentEvent): Promise<EventDelivered> {
    return operations.deliver(this.#installation, event);
  }

  /** Sends an event to this run only; see `deliver`. @throws CairnError RUN_TERMINAL_STATE, INVALID_INPUT … */
  signal(run: TestRun, signal: operations.SentSignal): Promise<Signalled> {
    return operations.signal(this.#installation, run, signal);
  }

  /** @throws CairnError RUN_TERMINAL_STATE if it has completed or failed */
  cancel(run: TestRun, options: operations.CancelOptions = {}): Promise<Cancellation> {
    return operations.cancel(this.#installation, run, options);
  }

  /**
   * Kills the worker process, with every running dispatch and body. Leases expire as time advances, and orphaned runs are
   * recovered. A body that continues nevertheless has no effect on its run.
   */
  crash(): void {
    this.#driver.crash();
  }

  /** The process dies the next time the step's body (or its `compensate`) is about to be called; see `crash`. */
  crashBefore(step: string, part: BodyPart = 'body'): void {
    this.#bodies.crashAt({ step, part, moment: 'before' });
  }

  /** The process dies the next time the step's body (or its `compensate`) has ended, before that is recorded. */
  crashAfter(step: string, part: BodyPart = 'body'): void {
    this.#bodies.crashAt({ step, part, moment: 'after' });
  }

  #stateOf(runId: string) {
    return this.#installation.db.runs.has(runId) ? this.run(runId).state() : undefined;
  }
}

/** An installation in memory for the tests of workflows. */
export function createTestRuntime(options: TestRuntimeOptions): TestRuntime {
  return new TestRuntime(options);
}

function timeOf(now: number | string | Date): number {
  const time = new Date(now).getTime();
  if (Number.isNaN(time)) throw new Error(`'now' is not a time: ${String(now)}`);
  return time;
}
