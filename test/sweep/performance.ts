/**
 * Performs one scenario once, with its failures: delivers tasks, ticks the scan once a minute, lets the outside act, advances
 * time when nothing else is left, and replaces dead processes. Every order is fixed, so equal disturbances give equal
 * performances.
 *
 * Must not: judge how it ended.
 */
import { optional } from '../../packages/cairn/src/core/optional.ts';
import { fold } from '../../packages/cairn/src/core/run/reduce/index.ts';
import { isOver, type RunState, stepIdOf, stepsInFlight } from '../../packages/cairn/src/core/run/state.ts';
import { Bindings } from '../../packages/cairn/src/engine/define/bindings.ts';
import { WorkflowRegistry } from '../../packages/cairn/src/engine/define/registry.ts';
import { drive } from '../../packages/cairn/src/engine/drive/drive.ts';
import { driveRequestOf, type QueuedTask } from '../../packages/cairn/src/memory/memory-task-queue.ts';
import { scan } from '../../packages/cairn/src/recovery/scan.ts';
import { MemoryEventBus } from '../support/memory/memory-event-bus.ts';
import { World } from '../support/world.ts';
import { Calls, type Disturbance, isOverlap, type Mode } from './calls.ts';
import { isPassing, Outside } from './outside.ts';
import { REDELIVERY_MS } from './plan.ts';
import { Process, type ProcessDeps } from './process.ts';
import { Receiver } from './receiver.ts';
import { mustNotRunTwice, type Scenario } from './scenario.ts';
import { VirtualStage } from './stage.ts';
import { Watch } from './watch.ts';

export interface PerformanceOptions {
  readonly disturbances?: readonly Disturbance[];
  readonly redeliveryMs?: number;
  /** Changes the dependencies of every process, to sabotage it. */
  readonly tamper?: (deps: ProcessDeps) => ProcessDeps;
  readonly withoutScan?: boolean;
  /** Virtual time in ms after which the performance counts as stuck. A recovery after years is no recovery. */
  readonly limitMs?: number;
}

/** Limit of turns, more than any scenario needs. */
const MAX_TURNS = 500;
/** Limit of consecutive failures of a run's dispatches: faults occur one at a time, or for ten dispatches at most. */
const MAX_FAILURES_IN_A_ROW = 15;
const MINUTE_MS = 60_000;
/** Longest pause between two sendings of the same request. */
const LONGEST_PAUSE_MS = 1_000;
/** Delay after which the queue repeats a task that failed without a death. */
const RETRY_MS = 1_000;
/** Grace period of a process between SIGTERM and SIGKILL. */
const TERMINATION_MS = 10_000;

interface Work {
  readonly process: Process;
  readonly task?: QueuedTask;
  /** True if the queue delivered its task again while it was running, so that its outcome no longer matters to the queue. */
  isOutlived?: true;
}

export class Performance {
  readonly world: World;
  readonly stage: VirtualStage;
  readonly outside: Outside;
  readonly calls: Calls;
  readonly receiver = new Receiver();
  readonly bus: MemoryEventBus | undefined;
  /** Runs with a step that must not run twice and that was running at a failure. */
  readonly doubted = new Set<string>();
  /** The reason why it did not end, or was unsound on the way. */
  failure: Error | undefined;
  /** True if it did not end, rather than ended with a wrong result. */
  stuck = false;
  readonly #scenario: Scenario;
  readonly #options: PerformanceOptions;
  readonly #under = new Set<Work>();
  readonly #beginsAt: number;
  #process: Process;
  /** Processes that continue although the queue has given up their dispatches. */
  readonly #zombies = new Set<Process>();
  #leaving: { readonly process: Process; readonly until: number } | undefined;
  #processes = 0;
  #scanning = false;
  #scannedAt: number;
  readonly #watch: Watch;

  constructor(scenario: Scenario, options: PerformanceOptions = {}) {
    this.#scenario = scenario;
    this.#options = options;
    this.calls = new Calls(options.disturbances ?? [], () =>
      [...this.#under].some(({ task, isOutlived }) => task && !isOutlived),
    );
    for (const what of scenario.refusesOnce ?? []) this.receiver.refusesOnce.add(what);
    this.bus = scenario.publishes && new MemoryEventBus();
    this.world = new World({
      workflows: [],
      settings: scenario.settings ?? {},
      ...optional('bus', this.bus),
      ...optional('budgets', scenario.budgets),
      ...optional('startAt', scenario.startAt),
    });
    this.stage = new VirtualStage(this.world.db);
    this.#watch = new Watch(this.world.db, this.bus);
    this.#beginsAt = this.world.clock.now();
    this.#scannedAt = this.#beginsAt;
    this.outside = new Outside(scenario, this, this.#beginsAt);
    this.#process = this.#begin();
  }

  async perform(): Promise<this> {
    try {
      await this.#perform();
    } catch (error) {
      this.failure ??= error instanceof Error ? error : new Error(String(error));
    }
    for (const process of [this.#process, this.#leaving?.process, ...this.#zombies]) process?.kill();
    return this;
  }

  async #perform(): Promise<void> {
    for (let turn = 0; turn < MAX_TURNS; turn += 1) {
      // In-memory calls answer at once, so that all remaining work now waits for time.
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (this.#watch.failure) throw this.#watch.failure;
      if (this.failure) return;
      this.#replaceProcess();
      if (this.#deliver() || this.#actOutside() || this.#tickScan()) continue;
      if (this.#isAtRest()) return this.#watch.assertNothingLeft([this.#process, ...this.#zombies]);
      if (!this.#moveTime()) throw this.#stuck('nothing can go on');
      if (this.#failsForEver()) throw this.#stuck(`${MAX_FAILURES_IN_A_ROW} dispatches in a row have thrown`);
      if (this.durationMs > (this.#options.limitMs ?? Number.POSITIVE_INFINITY)) {
        throw this.#stuck(`no end after ${this.durationMs} ms`);
      }
    }
    throw this.#stuck(`no end after ${MAX_TURNS} turns`);
  }

  /** Duration in virtual time. */
  get durationMs(): number {
    return this.world.clock.now() - this.#beginsAt;
  }

  #failsForEver(): boolean {
    const runs = [...this.world.db.runs.values()];
    return runs.some(({ snapshot: { failures } }) => (failures?.times ?? 0) >= MAX_FAILURES_IN_A_ROW);
  }

  #stuck(why: string): Error {
    this.stuck = true;
    const runs = [...this.world.db.runs.values()].map(
      ({ snapshot }) => `${snapshot.type}: ${snapshot.status}`,
    );
    return new Error(`${why}; ${runs.join(', ')}; not acted: ${this.outside.open.join(', ') || 'none'}`);
  }

  #begin(): Process {
    this.#processes += 1;
    const { world, stage } = this;
    const { tamper = (deps: ProcessDeps) => deps } = this.#options;
    const { records, config, statistics, planStore } = world;
    const registry = new WorkflowRegistry(this.#scenario.workflows(stage));
    const bindings = new Bindings((this.#scenario.effects ?? []).map(({ bind }) => bind(this.receiver)));
    bindings.assertBound(registry);
    return new Process({
      base: tamper({ ...world.deps, records, config, statistics, planStore, registry, bindings }),
      calls: this.calls,
      seed: this.#processes,
      onApplied: (label, call) => this.#watch.see(label, call),
      onDisturbed: (mode) => this.#disturbed(mode, registry),
    });
  }

  /** A live dispatch leaves nothing in doubt: a second one must wait for a step that must not run twice. */
  #disturbed(mode: Mode, registry: WorkflowRegistry): void {
    if (isOverlap(mode)) this.#outlive();
    else this.#noteDoubt(registry);
  }

  /** The queue gives up every running dispatch and delivers their tasks again, to a new process. */
  #outlive(): void {
    this.#zombies.add(this.#process);
    this.#process.isOutlived = true;
    for (const work of this.#under) {
      if (!work.task || work.isOutlived) continue;
      work.isOutlived = true;
      this.#redeliver(work.task, { inMs: 0, answered: false });
    }
  }

  /** Returns the work of a dead process: tasks to the queue, operations to their callers. */
  #replaceProcess(): void {
    for (const zombie of [...this.#zombies].filter(({ alive }) => !alive)) {
      this.#zombies.delete(zombie);
      this.#giveUp(zombie);
    }
    if (this.#leaving && this.world.clock.now() >= this.#leaving.until) this.#leaving.process.kill();
    if (this.#leaving && !this.#leaving.process.alive) {
      this.#giveUp(this.#leaving.process);
      this.#leaving = undefined;
    }
    if (this.#process.alive && !this.#process.leaving && !this.#zombies.has(this.#process)) return;
    if (this.#zombies.has(this.#process)) {
      // A zombie continues its work, but gets no more.
    } else if (this.#process.alive) {
      this.#leaving = { process: this.#process, until: this.world.clock.now() + TERMINATION_MS };
    } else this.#giveUp(this.#process);
    this.#process = this.#begin();
  }

  #giveUp(process: Process): void {
    for (const work of [...this.#under].filter((other) => other.process === process)) {
      this.#under.delete(work);
      if (work.task && !work.isOutlived) {
        const inMs = this.#options.redeliveryMs ?? REDELIVERY_MS.soon;
        this.#redeliver(work.task, { inMs, answered: false });
      }
    }
    this.#scanning = false;
    this.outside.giveUp(process, this.world.clock.now() + RETRY_MS);
  }

  #redeliver(task: QueuedTask, { inMs, answered }: { inMs: number; answered: boolean }): void {
    if (!Number.isFinite(inMs)) return;
    this.world.queue.repeat(task, { at: this.world.clock.now() + inMs, answered });
  }

  /** Delivers one task per turn, so that its work is done before the next. */
  #deliver(): boolean {
    const [task] = this.world.queue.due(this.world.clock.now());
    if (!task) return false;
    this.world.queue.take(task.id);
    const work: Work = { process: this.#process, task };
    this.#under.add(work);
    this.#process
      .run((deps) => drive(deps, driveRequestOf(task)))
      .catch((error: unknown) => {
        if (!isPassing(error)) this.failure ??= error as Error;
        if (this.#under.has(work) && !work.isOutlived)
          this.#redeliver(task, { inMs: RETRY_MS, answered: true });
      })
      .finally(() => this.#under.delete(work));
    return true;
  }

  #actOutside(): boolean {
    const all = [...this.world.db.runs.values()].map(({ snapshot }) => snapshot);
    return this.outside.act(this.#process, this.world.clock.now(), { main: this.#mainRun(), all });
  }

  #tickScan(): boolean {
    const now = this.world.clock.now();
    if (this.#scanning || this.#nextScanAt() !== now) return false;
    this.#scannedAt = now;
    const work: Work = { process: this.#process };
    this.#scanning = true;
    this.#under.add(work);
    this.#process
      .run((deps) => scan(deps))
      // A scheduler does not repeat a failed tick, because the next minute has its own.
      .catch(() => undefined)
      .finally(() => {
        this.#scanning &&= !this.#under.delete(work);
      });
    return true;
  }

  /** The next full minute at which the scan has due runs. */
  #nextScanAt(): number | undefined {
    const { nextWake } = this.world;
    if (nextWake === undefined || this.#options.withoutScan) return undefined;
    const at = Math.max(nextWake, this.world.clock.now(), this.#scannedAt + 1) - this.#beginsAt;
    return this.#beginsAt + Math.ceil(at / MINUTE_MS) * MINUTE_MS;
  }

  #isAtRest(): boolean {
    if (this.#under.size > 0 || this.#leaving || this.world.queue.pending.length > 0) return false;
    if (this.world.nextWake !== undefined) return false;
    // A pause before a repeated call is work. A timer beyond the longest pause was left behind.
    if ((this.world.clock.nextAt ?? Number.POSITIVE_INFINITY) <= this.world.clock.now() + LONGEST_PAUSE_MS)
      return false;
    const states = [...this.world.db.runs.values()].map(({ snapshot }) => snapshot);
    // Pending external actions cannot affect ended runs.
    return states.length > 0 && states.every(isOver) && !this.outside.isBusy;
  }

  /** Advances time to the next possible action; false if there is none. */
  #moveTime(): boolean {
    const { clock, queue } = this.world;
    const now = clock.now();
    const [scanAt, outsideAt] = [this.#nextScanAt(), this.outside.nextAt(now)];
    const times = [clock.nextAt, queue.nextAt(), scanAt, outsideAt, this.#leaving?.until];
    const at = Math.min(...times.map((time) => time ?? Number.POSITIVE_INFINITY));
    if (at === Number.POSITIVE_INFINITY) return false;
    if (!clock.fireNext(at) && at > now) clock.jump(at - now);
    return true;
  }

  #mainRun(): RunState | undefined {
    const run = this.world.db.runs.get(this.outside.runId);
    return run && fold(run.snapshot.id, run.events.slice(run.snapshot.head), run.snapshot);
  }

  #noteDoubt(registry: WorkflowRegistry): void {
    for (const [runId, { snapshot, events }] of this.world.db.runs) {
      const state = fold(runId, events.slice(snapshot.head), snapshot);
      const steps = registry.pinned(state.type, state.planVersion)?.steps;
      const inDoubt = stepsInFlight(state).some((key) => mustNotRunTwice(steps?.get(stepIdOf(key))));
      if (inDoubt) this.doubted.add(runId);
    }
  }
}
