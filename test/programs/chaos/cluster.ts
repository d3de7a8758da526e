/**
 * An installation in which every possible fault occurs: several processes with different clocks over shared stores, any of
 * which may be killed; tasks that are repeated, early, reordered or lost; calls whose answers are lost; and a scan each minute
 * by any process. Time is virtual, and one seed determines everything.
 *
 * Must not: know the runs, or how they should end.
 */
import { CairnError } from '../../../packages/cairn/src/core/errors.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { driveRequestOf, type QueuedTask } from '../../../packages/cairn/src/memory/memory-task-queue.ts';
import { OutcomeUnknown } from '../../../packages/cairn/src/ports/store-errors.ts';
import { scan } from '../../../packages/cairn/src/recovery/scan.ts';
import type { World } from '../../support/world.ts';
import type { Draw } from '../data/draw.ts';
import { Gate } from './gate.ts';
import { DROPPED, MAX_SKEW_MS, REPEATED, type Trouble } from './trouble.ts';
import { type Sabotage, type SharedDeps, Worker } from './worker.ts';

/** Work given to a process. If that process dies, or does not know the outcome, another one gets the work. */
export interface Job {
  readonly label: string;
  work(deps: SharedDeps): Promise<unknown>;
}

/** State shared by all processes; `deps` is what each has except the gate. */
export type Shared = Pick<World, 'clock' | 'queue' | 'db'> & {
  readonly deps: SharedDeps;
  readonly sabotage: Sabotage;
};

interface Planned extends Job {
  readonly at: number;
}

type Strike = 'kills' | 'terminations' | 'stalls' | 'early';

const SCAN_EVERY_MS = 60_000;
const REDELIVERY_MS = 5_000;
/** Time within which somebody repeats a request that the deployed definitions refuse. */
const DEPLOYMENT_MS = 20 * 60_000;

export class Cluster {
  readonly #world: Shared;
  readonly #draw: Draw;
  readonly #gate: Gate;
  readonly #planned: Planned[] = [];
  readonly #underWay = new Map<Job, Worker>();
  #workers: Worker[] = [];
  #born = 0;
  #lastScanAt = 0;
  #left: Record<Strike, number>;
  /** The first unexpected error. */
  failure: unknown;
  /** True if all processes stalled for longer than a lease. */
  stoodStill = false;
  readonly trail: string[] = [];

  constructor(world: Shared, draw: Draw, trouble: Trouble) {
    this.#world = world;
    this.#draw = draw;
    this.#gate = new Gate(draw, trouble.lossRate, trouble.lateRate);
    this.#left = { ...trouble };
    this.#workers = Array.from({ length: trouble.workers }, () => this.#birth());
  }

  get now(): number {
    return this.#world.clock.now();
  }

  /** Gives the job to a process at that time (epoch ms), and to others until one knows the outcome. */
  plan(at: number, job: Job): void {
    this.#planned.push({ ...job, at });
  }

  /** True once nothing is running and nothing planned; tasks in the queue do not count. */
  get idle(): boolean {
    return this.#underWay.size === 0 && this.#planned.length === 0 && this.#gate.waiting === 0;
  }

  /** Makes one move; false if nothing can happen any more. */
  turn(): boolean {
    if (this.#gate.waiting > 0 && this.#draw.chance(0.97)) {
      if (this.#draw.chance(0.015)) this.#strike();
      this.#gate.release();
      // Sometimes a task or another job begins while others are running.
      if (this.#draw.chance(0.1)) this.#begin();
      return true;
    }
    if (this.#begin()) return true;
    if (this.#gate.waiting > 0) {
      this.#gate.release();
      return true;
    }
    return this.#passTime();
  }

  /** Begins a due task or job. */
  #begin(): boolean {
    const { now } = this;
    const due = this.#planned.filter(({ at }) => at <= now);
    const tasks = this.#world.queue.due(now);
    if (due.length + tasks.length > 0) {
      const drawn = this.#draw.below(due.length + tasks.length);
      const job = due[drawn];
      if (job) {
        this.#planned.splice(this.#planned.indexOf(job), 1);
        this.#give(job);
      } else this.#deliver(tasks[drawn - due.length] as QueuedTask);
      return true;
    }
    return false;
  }

  /** Delivers a task. A job that is given out again is another delivery of the same task. */
  #deliver(task: QueuedTask): void {
    let { retryCount } = task;
    const work = (deps: SharedDeps) => {
      const delivered = { ...task, retryCount };
      retryCount += 1;
      return drive(deps, driveRequestOf(delivered));
    };
    const job: Job = { label: `drive ${task.runId.slice(-4)}`, work };
    this.#world.queue.take(task.id);
    if (this.#draw.chance(DROPPED)) return;
    this.#give(job);
    if (this.#draw.chance(REPEATED)) this.#give(job);
  }

  #give(job: Job): void {
    const worker = this.#draw.pick(this.#workers.filter(({ ending }) => !ending));
    const own: Job = { ...job };
    this.#underWay.set(own, worker);
    worker.run(job.work).then(
      () => this.#underWay.delete(own),
      (error) => {
        this.#underWay.delete(own);
        this.trail.push(`${job.label} at ${this.now}: ${String(error)}`);
        if (error instanceof OutcomeUnknown || isOneOf(error, 'UNAVAILABLE')) this.#again(job);
        else if (isOneOf(error, 'PLAN_CHANGED', 'PLAN_VERSION_UNAVAILABLE')) this.#again(job, DEPLOYMENT_MS);
        else this.failure ??= error;
      },
    );
  }

  #again({ label, work }: Job, withinMs = REDELIVERY_MS): void {
    this.plan(this.now + this.#draw.below(withinMs), { label, work });
  }

  #strike(): void {
    const what = this.#draw.pick(['kills', 'terminations', 'stalls', 'early'] as const);
    if (this.#left[what] === 0) return;
    this.#left[what] -= 1;
    this.trail.push(`${what} at ${this.now}`);
    if (what === 'early') {
      const { pending } = this.#world.queue;
      if (pending.length > 0) this.#deliver(this.#draw.pick(pending));
      return;
    }
    if (what === 'stalls') {
      this.stoodStill = true;
      this.#world.clock.jump(this.#world.deps.settings.leaseMs + this.#draw.below(10_000));
      return;
    }
    const index = this.#draw.below(this.#workers.length);
    if (what === 'terminations') this.#terminate(index);
    else this.#bury(this.#replace(index));
  }

  /** Asks all processes to end, and starts their successors. */
  redeploy(what: string): void {
    this.trail.push(`deployed ${what} at ${this.now}`);
    for (const index of this.#workers.keys()) this.#terminate(index);
  }

  #terminate(index: number): void {
    const worker = this.#replace(index);
    worker.terminate();
    // A worker that has not ended by then is killed.
    this.#world.clock.timer(10_000, () => this.#bury(worker));
  }

  #replace(index: number): Worker {
    const worker = this.#workers[index] as Worker;
    this.#workers[index] = this.#birth();
    return worker;
  }

  #bury(worker: Worker): void {
    worker.kill();
    for (const [job, at] of this.#underWay) {
      if (at !== worker) continue;
      this.#underWay.delete(job);
      this.#again(job);
    }
  }

  #birth(): Worker {
    this.#born += 1;
    const skewMs = this.#draw.between(-MAX_SKEW_MS, MAX_SKEW_MS);
    const seed = this.#draw.below(2 ** 31) + this.#born;
    const { deps: base, sabotage } = this.#world;
    return new Worker({ base, gate: this.#gate, seed, skewMs, sabotage });
  }

  /** Advances time to the next possible action, if none is possible now. */
  #passTime(): boolean {
    const { clock, queue, db } = this.#world;
    const wakes = [...db.runs.values()].flatMap(({ wakeAt }) => (wakeAt === undefined ? [] : [wakeAt]));
    const scanAt = wakes.length === 0 ? [] : [Math.max(this.#lastScanAt + SCAN_EVERY_MS, Math.min(...wakes))];
    const times = [clock.nextAt, queue.nextAt(), ...this.#planned.map(({ at }) => at), ...scanAt];
    const known = times.filter((at) => at !== undefined);
    if (known.length === 0) return false;
    const at = Math.min(...known);
    if (!clock.fireNext(at) && at > clock.now()) clock.jump(at - clock.now());
    if (scanAt[0] !== undefined && scanAt[0] <= clock.now()) {
      this.#lastScanAt = clock.now();
      this.#give({ label: 'scan', work: (deps) => scan(deps) });
    }
    return true;
  }
}

function isOneOf(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof CairnError && codes.includes(error.code);
}
