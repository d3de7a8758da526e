/** Kills workers that send no heartbeat, are stopped, answer no request, or use too much memory. */
import type { FunctionSpec } from '../function-spec.ts';
import { type Observed, observe } from './observed.ts';
import type { WorkerProcess } from './worker-process.ts';

/** Much longer than a busy worker delays an answer, and shorter than a lease. */
const UNANSWERED_MS = 10_000;
/**
 * Part of the watchdog's time that a worker may be stopped, by default 10 s. A body that blocks its worker may end, but a stopped process
 * does not continue by itself, and without its end its runs wait for their leases.
 */
const STOPPED_PART = 1 / 9;
/**
 * Least memory limit of a worker, MiB; the limit keeps a body from using up the machine's memory. A worker serves all functions and
 * compiles TypeScript, so it needs more than an instance in production.
 */
const MIN_LIMIT_MIB = 2_048;
/** Factor for functions that declare more memory. */
const LIMIT_FACTOR = 2;

/** Memory limit of a worker that serves these functions. */
export function memoryLimitMib(functions: readonly Pick<FunctionSpec, 'memoryMib'>[]): number {
  return Math.max(MIN_LIMIT_MIB, ...functions.map(({ memoryMib = 0 }) => LIMIT_FACTOR * memoryMib));
}

interface WatchdogOptions {
  /** A worker without a heartbeat for this time is killed; a stopped one sooner. */
  readonly watchdogMs: number;
  /** Time between two calls of {@link Watchdog.check}. */
  readonly tickMs: number;
  log(line: string): void;
  /** Default: asks the operating system. */
  readonly observe?: typeof observe;
}

/** The part of a {@link WorkerProcess} that is watched. */
type WatchedWorker = Pick<
  WorkerProcess,
  'pid' | 'silentFor' | 'unansweredFor' | 'memoryLimitMib' | 'isKilled' | 'kill'
>;

export class Watchdog {
  readonly #options: WatchdogOptions;
  #isObserving = false;
  /** Time in ms that each stopped worker was found stopped, counted in checks, so that a pause of this process does not count. */
  readonly #stoppedMs = new WeakMap<WatchedWorker, number>();

  constructor(options: WatchdogOptions) {
    this.#options = options;
  }

  check(workers: ReadonlySet<WatchedWorker>): void {
    const { watchdogMs, tickMs } = this.#options;
    for (const worker of workers) {
      if (worker.silentFor(tickMs) >= watchdogMs)
        this.#kill(worker, `sent no heartbeat for ${watchdogMs / 1000} s and is killed`);
      else if (worker.unansweredFor(tickMs) >= UNANSWERED_MS)
        this.#kill(
          worker,
          `answered no request for ${UNANSWERED_MS / 1000} s and is killed. A body may have replaced what requests need, such as 'net.Socket.prototype.write'`,
        );
    }
    void this.#observe(workers);
  }

  /** Asks the operating system, because a blocked or stopped worker cannot report anything. */
  async #observe(workers: ReadonlySet<WatchedWorker>): Promise<void> {
    if (this.#isObserving) return;
    this.#isObserving = true;
    const { observe: ask = observe } = this.#options;
    const found = await ask([...workers].map(({ pid }) => pid));
    this.#isObserving = false;
    for (const worker of workers) this.#judge(worker, found.get(worker.pid));
  }

  #judge(worker: WatchedWorker, { mib, isStopped }: Observed = { mib: 0, isStopped: false }): void {
    const { watchdogMs, tickMs } = this.#options;
    const stoppedMs = isStopped ? (this.#stoppedMs.get(worker) ?? 0) + tickMs : 0;
    this.#stoppedMs.set(worker, stoppedMs);
    const used = Math.round(mib);
    const limit = worker.memoryLimitMib;
    if (used > limit)
      this.#kill(
        worker,
        `uses ${used} MiB of memory, more than ${limit}, and is killed. Functions that need more declare it as 'memory'`,
      );
    else if (isStopped && stoppedMs >= watchdogMs * STOPPED_PART)
      this.#kill(worker, `has been stopped by a signal for ${Math.round(stoppedMs / 1000)} s and is killed`);
  }

  #kill(worker: WatchedWorker, why: string): void {
    if (worker.isKilled) return;
    this.#options.log(`worker ${worker.pid} ${why}`);
    worker.kill('SIGKILL');
  }
}
