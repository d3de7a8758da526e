/** Pauses before dead workers are replaced, and how many were killed. */
import type { WorkerEnd } from './worker-process.ts';

/** Workers that die within this time after they began to serve count as broken; others are restarted immediately. */
const SHORT_LIFE_MS = 1_000;
const BACKOFF_MS = { first: 200, most: 5_000 };

export class Restarts {
  #failuresInARow = 0;
  #killed = 0;

  /** Number of workers that a signal ended: that alone says nothing about the functions. */
  get killed(): number {
    return this.#killed;
  }

  /** Time in ms. @param servedAt when the worker began to serve, by `performance.now()`; undefined: it did not */
  pauseAfter({ signal }: Pick<WorkerEnd, 'signal'>, servedAt: number | undefined): number {
    if (signal !== null) this.#killed += 1;
    const wasUseful = servedAt !== undefined && performance.now() - servedAt > SHORT_LIFE_MS;
    this.#failuresInARow = wasUseful ? 0 : this.#failuresInARow + 1;
    // One early death may be a SIGKILL; from the second on, the functions are at fault.
    const exponent = this.#failuresInARow - (servedAt === undefined ? 1 : 2);
    return exponent < 0 ? 0 : Math.min(BACKOFF_MS.first * 2 ** exponent, BACKOFF_MS.most);
  }
}
