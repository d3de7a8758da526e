/**
 * Replaces the queue, the scheduler and the clock in simulated time: delivers due tasks, ticks the scan, fires timers. One
 * process at a time executes runs; it can be killed, and another one replaces it.
 */
import type { EngineDeps } from '../engine/deps.ts';
import { drive } from '../engine/drive/drive.ts';
import { driveRequestOf, type QueuedTask } from '../memory/memory-task-queue.ts';
import { scan } from '../recovery/scan.ts';
import type { ObservedBodies } from './observed-bodies.ts';
import type { CrashPlan } from './world/crash-plan.ts';
import type { Installation } from './world/installation.ts';
import { type Mortal, mortal } from './world/mortal.ts';
import { settle } from './world/virtual-clock.ts';

/** The scan ticks at full minutes, as deployed. Ticks without work are skipped. */
const SCAN_EVERY_MS = 60_000;
/** The shortest back-off of the queue. */
const REDELIVERY_MS = 100;
/** Separates the seeds of processes of different tests, and of the installation itself. */
const SEED_STRIDE = 1_000_003;
/** Maximum of actions at one moment. More means an endless loop. */
const MAX_TURNS = 10_000;

interface DriverParams {
  readonly installation: Installation;
  readonly bodies: ObservedBodies;
  readonly seed: number;
  /** Points at which processes die. */
  readonly plan?: CrashPlan | undefined;
}

export class Driver {
  readonly #installation: Installation;
  readonly #bodies: ObservedBodies;
  readonly #seed: number;
  readonly #plan: CrashPlan | undefined;
  #process: Mortal;
  #processes = 0;
  #lastScanAt = Number.NEGATIVE_INFINITY;
  readonly #underWay = new Set<QueuedTask>();
  #failures: unknown[] = [];

  constructor({ installation, bodies, seed, plan }: DriverParams) {
    this.#installation = installation;
    this.#bodies = bodies;
    this.#seed = seed;
    this.#plan = plan;
    this.#process = this.#newProcess();
  }

  /** Kills the worker process. The queue redelivers its tasks after a back-off. */
  crash(): void {
    this.#process.kill();
    this.#bodies.forget();
    const at = this.#now + REDELIVERY_MS;
    for (const task of this.#underWay) this.#installation.queue.repeat(task, { at, answered: false });
    this.#underWay.clear();
    this.#process = this.#newProcess();
  }

  /** Does all work that is due, and waits for running bodies. Time does not advance. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < MAX_TURNS; turn += 1) {
      await settle();
      this.#throwFailures();
      if (this.#deliver() || this.#tick() || this.#installation.clock.fireNext(this.#now)) continue;
      if (!(await this.#bodies.anyEnds())) return;
    }
    throw new Error(`the runtime did not become idle within ${MAX_TURNS} turns at one point in time`);
  }

  /** Moves time to the next due work, if that is not after `limit` (epoch ms). */
  moveOn(limit: number): boolean {
    const { clock, queue } = this.#installation;
    const times = [clock.nextAt, queue.nextAt(), this.#nextScanAt()].filter((at) => at !== undefined);
    const at = Math.min(...times);
    if (times.length === 0 || at > limit) return false;
    if (at > this.#now) clock.jump(at - this.#now);
    return true;
  }

  get #now(): number {
    return this.#installation.clock.now();
  }

  #deliver(): boolean {
    const { queue } = this.#installation;
    const due = queue.due(this.#now);
    for (const task of due) this.#dispatch(task);
    return due.length > 0;
  }

  #dispatch(task: QueuedTask): void {
    this.#installation.queue.take(task.id);
    this.#underWay.add(task);
    // A dead process never answers; `crash` redelivers its tasks.
    this.#begin((deps) => drive(deps, driveRequestOf(task)).finally(() => this.#underWay.delete(task)));
  }

  #tick(): boolean {
    const at = this.#nextScanAt();
    if (at === undefined || at > this.#now) return false;
    this.#lastScanAt = at;
    this.#begin(scan);
    return true;
  }

  /** Not awaited: the work of a dead process never ends. */
  #begin(work: (deps: EngineDeps) => Promise<unknown>): void {
    work(this.#process.deps).catch((error: unknown) => this.#failures.push(error));
  }

  #nextScanAt(): number | undefined {
    const { nextWake } = this.#installation;
    if (nextWake === undefined) return undefined;
    const tick = Math.ceil(nextWake / SCAN_EVERY_MS) * SCAN_EVERY_MS;
    return Math.max(tick, this.#lastScanAt + SCAN_EVERY_MS);
  }

  #throwFailures(): void {
    const [first, ...rest] = this.#failures;
    this.#failures = [];
    if (rest.length > 0) throw new AggregateError([first, ...rest], 'several dispatches failed');
    if (first !== undefined) throw first;
  }

  #newProcess(): Mortal {
    this.#processes += 1;
    const seed = this.#seed * SEED_STRIDE + this.#processes;
    const plan = this.#plan;
    return mortal(this.#installation.deps, seed, plan && { plan, onDeath: () => this.crash() });
  }
}
