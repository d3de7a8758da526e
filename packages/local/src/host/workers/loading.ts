/**
 * Decides which idle workers load the libraries of a first request. Task workers load while idle, because they serve the first request. A
 * spare, which takes the place of a worker that a body blocked or ended, loads in the first pause after a task has begun: from then
 * on it takes 45 MB more.
 */
import { REQUESTS, TASKS, type WorkerRole } from './roles.ts';
import type { WorkerOptions, WorkerProcess } from './worker-process.ts';

/** Delay in ms after which an idle worker of tasks loads them, so that what starts with it comes first. */
export const LOADS_AFTER_MS = 100;
/** Idle time in ms of all workers in which a spare loads, because that takes a processor for up to a second. */
export const PAUSE_MS = 500;
/** An idle spare waits for such a pause, but not longer than this: a burst of runs is over by then, and one that lasts needs the spare. */
export const SPARE_WAITS_MS = 30_000;

export type LoadingWorker = Pick<WorkerProcess, 'role' | 'port' | 'idleMs' | 'warmUp'>;

export class Loading {
  readonly #isEarly: boolean;
  readonly #now: () => number;
  /** Undefined: no spare has to be loaded yet. */
  #spareWantedAt: number | undefined;

  /**
   * @param isEarly false: workers of tasks load with their first request
   * @param now ms
   */
  constructor(isEarly: boolean, now: () => number) {
    this.#isEarly = isEarly;
    this.#now = now;
  }

  /** Notes functions that use Express: their first request gets a worker of its own, which is the spare. */
  knowing(onLoaded: WorkerOptions['onLoaded']): WorkerOptions['onLoaded'] {
    return (functions, unset) => {
      if (functions.some((one) => one.trigger.kind === 'https' && !one.takesWhole)) this.#wantSpare();
      return onLoaded(functions, unset);
    };
  }

  /** Notes a request of this role. */
  begin(role: WorkerRole): void {
    if (role !== REQUESTS) this.#wantSpare();
  }

  #wantSpare(): void {
    this.#spareWantedAt ??= this.#now();
  }

  check(workers: readonly LoadingWorker[]): void {
    const isPause = workers.every(({ idleMs }) => idleMs >= PAUSE_MS);
    const waitedMs = this.#now() - (this.#spareWantedAt ?? Number.POSITIVE_INFINITY);
    const loadsSpare = (idleMs: number) =>
      Math.min(waitedMs, idleMs) >= SPARE_WAITS_MS || (waitedMs >= 0 && isPause);
    for (const worker of workers) {
      const { role, port, idleMs } = worker;
      const isNext =
        role === undefined ? loadsSpare(idleMs) : role === TASKS && this.#isEarly && idleMs >= LOADS_AFTER_MS;
      if (isNext && port !== undefined) worker.warmUp();
    }
  }
}
