/**
 * Decides how long HTTP functions share the workers of task-queue functions. While they do, one process compiles and keeps in memory
 * what both use, so runs take a fifth less processor time. Sharing ends when a body blocks or ends such a worker, until the workers
 * are replaced: requests then have a worker of their own, which no body delays.
 */
import type { WorkerLease } from './worker-lease.ts';
import type { WorkerProcess } from './worker-process.ts';

/** A body blocks a worker that answers a probe later than this. */
const SLOW_MS = 100;
/** A single slow answer may come from garbage collection, or from another process that has the processor. */
const MAX_SLOW_ANSWERS = 1;

export type SharedWorker = Pick<
  WorkerProcess,
  'timeAnswer' | 'takeAnswerTime' | 'takeServedBoth' | 'tasks' | 'hangs' | 'silentMs'
>;

export class Sharing<W extends SharedWorker = WorkerProcess> {
  #isOn: boolean;
  /** Slow answers in a row. */
  readonly #slow = new WeakMap<W, number>();
  /** Requests in the workers of tasks. */
  readonly #leases = new Map<WorkerLease, W>();

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

  /** Counts a request in a worker of tasks. */
  enter(lease: WorkerLease, worker: W): void {
    this.#leases.set(lease, worker);
  }

  leave(lease: WorkerLease): void {
    this.#leases.delete(lease);
  }

  /** Asks the senders of requests to move them to other workers. @param from default: all workers of tasks */
  moveRequests(from?: W): void {
    for (const [lease, worker] of this.#leases)
      if (from === undefined || worker === from) lease.onBlocked?.(worker.silentMs);
  }

  /** Workers that a body seems to block. Judges the probes of the last call, and probes those that requests and tasks use together. */
  check(workers: readonly W[]): readonly W[] {
    return workers.filter((worker) => {
      const isSlow = this.#isOn && this.#answersSlowly(worker);
      return isSlow || (worker.tasks > 0 && worker.hangs);
    });
  }

  #answersSlowly(worker: W): boolean {
    const answer = worker.takeAnswerTime();
    if (worker.takeServedBoth()) worker.timeAnswer();
    if (answer === undefined) return false;
    if (answer === 'missing') return true;
    const slow = answer < SLOW_MS ? 0 : (this.#slow.get(worker) ?? 0) + 1;
    this.#slow.set(worker, slow);
    return slow > MAX_SLOW_ANSWERS;
  }
}
