/** Kills workers that send no heartbeat, answer no request, or use too much memory. */
import type { FunctionSpec } from '../function-spec.ts';
import { residentMib } from './resident.ts';
import type { WorkerProcess } from './worker-process.ts';

/** Much longer than a busy worker delays an answer, and shorter than a lease. */
const UNANSWERED_MS = 10_000;
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
  /** A worker without a heartbeat for this time is killed. */
  readonly watchdogMs: number;
  /** Time between two calls of {@link Watchdog.check}. */
  readonly tickMs: number;
  log(line: string): void;
  /** Default: asks the operating system. */
  readonly memoryOf?: typeof residentMib;
}

/** The part of a {@link WorkerProcess} that is watched. */
type WatchedWorker = Pick<
  WorkerProcess,
  'pid' | 'silentFor' | 'unansweredFor' | 'memoryLimitMib' | 'isKilled' | 'kill'
>;

export class Watchdog {
  readonly #options: WatchdogOptions;
  #isMeasuring = false;

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
    void this.#measure(workers);
  }

  /** Asks the operating system, because a blocked worker cannot report its memory. */
  async #measure(workers: ReadonlySet<WatchedWorker>): Promise<void> {
    if (this.#isMeasuring) return;
    this.#isMeasuring = true;
    const { memoryOf = residentMib } = this.#options;
    const sizes = await memoryOf([...workers].map(({ pid }) => pid));
    this.#isMeasuring = false;
    for (const worker of workers) {
      const { pid, memoryLimitMib: limit } = worker;
      const used = Math.round(sizes.get(pid) ?? 0);
      if (used <= limit) continue;
      this.#kill(
        worker,
        `uses ${used} MiB of memory, more than ${limit}, and is killed. Functions that need more declare it as 'memory'`,
      );
    }
  }

  #kill(worker: WatchedWorker, why: string): void {
    if (worker.isKilled) return;
    this.#options.log(`worker ${worker.pid} ${why}`);
    worker.kill('SIGKILL');
  }
}
