/**
 * Decides which idle workers load the libraries of a first request. Task workers load as soon as they are idle, because they serve the
 * first request. A spare, which replaces a worker that a body blocked or ended, loads in the first pause after a task has begun, because
 * loading takes 45 MB of memory.
 */
import { REQUESTS, TASKS, type WorkerRole } from './roles.ts';
import type { WorkerOptions, WorkerProcess } from './worker-process.ts';

/** Idle time in ms after which a task worker loads the libraries, so that it does not delay the rest of the start. */
export const LOADS_AFTER_MS = 100;
/** Idle time in ms of all workers after which a spare loads, because loading occupies a processor for up to a second. */
export const PAUSE_MS = 500;
/** Longest wait of a spare for such a pause, in ms. A short burst of runs has ended by then, and a long one needs the spare. */
export const SPARE_WAITS_MS = 30_000;

export type LoadingWorker = Pick<WorkerProcess, 'role' | 'port' | 'idleMs' | 'warmUp'>;

export class Loading {
  readonly #isEarly: boolean;
  readonly #now: () => number;
  /** Undefined while no loaded spare is needed. */
  #spareWantedAt: number | undefined;

  /**
   * @param isEarly false: task workers load with their first request
   * @param now ms
   */
  constructor(isEarly: boolean, now: () => number) {
    this.#isEarly = isEarly;
    this.#now = now;
  }

  /** Notes whether functions use Express, because their first request is served by the spare. */
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
