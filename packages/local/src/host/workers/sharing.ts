/**
 * Decides how long HTTP functions share the workers of task-queue functions. Shared, one process compiles, caches and keeps in memory what
 * both use, so the first runs take half the processor time. It ends for good when a body of a step blocks such a worker or
 * ends it: requests then have a worker of their own, which no body delays.
 */
import type { WorkerProcess } from './worker-process.ts';

/** A worker that answers a probe later is held up by a body. */
const SLOW_MS = 100;
/** A single slow answer may be a collection of garbage, or another process that has the processor. */
const MOST_SLOW = 1;

export type SharedWorker = Pick<WorkerProcess, 'timeAnswer' | 'takeAnswerTime' | 'hasServedBoth'>;

export class Sharing<W extends SharedWorker = WorkerProcess> {
  #isOn: boolean;
  /** Slow answers in a row. */
  readonly #slow = new WeakMap<W, number>();

  /** @param isOn false: each function keeps to the workers of its role from the start */
  constructor(isOn: boolean) {
    this.#isOn = isOn;
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  /** True if it has ended now. */
  end(): boolean {
    const wasOn = this.#isOn;
    this.#isOn = false;
    return wasOn;
  }

  /** Probes workers that requests and tasks use at the same time. Returns the first that has not answered since the last call, or slowly. */
  check(workers: readonly W[]): W | undefined {
    if (!this.#isOn) return undefined;
    for (const worker of workers) {
      const answer = worker.takeAnswerTime();
      if (answer !== undefined && this.#isHeldUp(worker, answer)) return worker;
      if (worker.hasServedBoth()) worker.timeAnswer();
    }
    return undefined;
  }

  #isHeldUp(worker: W, answer: number | 'missing'): boolean {
    if (answer === 'missing') return true;
    const slow = answer < SLOW_MS ? 0 : (this.#slow.get(worker) ?? 0) + 1;
    this.#slow.set(worker, slow);
    return slow > MOST_SLOW;
  }
}
