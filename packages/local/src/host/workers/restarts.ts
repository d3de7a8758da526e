/** Pauses before dead workers are replaced, and the number of killed workers. */
import type { WorkerEnd } from './worker-process.ts';

/** Workers that die within this time after they began to serve count as broken; others are restarted immediately. */
const SHORT_LIFE_MS = 1_000;
const BACKOFF_MS = { first: 200, most: 5_000 };

export class Restarts {
  #failuresInARow = 0;
  #killed = 0;

  /** Number of workers that a signal ended, which alone is no sign of a fault in the functions. */
  get killed(): number {
    return this.#killed;
  }

  /** Pause in ms. @param servedAt time at which the worker began to serve, by `performance.now()`; undefined if it never served */
  pauseAfter({ signal }: Pick<WorkerEnd, 'signal'>, servedAt: number | undefined): number {
    if (signal !== null) this.#killed += 1;
    const wasUseful = servedAt !== undefined && performance.now() - servedAt > SHORT_LIFE_MS;
    this.#failuresInARow = wasUseful ? 0 : this.#failuresInARow + 1;
    // One early death may be a SIGKILL; after a second one the functions are at fault.
    const exponent = this.#failuresInARow - (servedAt === undefined ? 1 : 2);
    return exponent < 0 ? 0 : Math.min(BACKOFF_MS.first * 2 ** exponent, BACKOFF_MS.most);
  }
}
