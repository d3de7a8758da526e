/**
 * Decides how long HTTP functions share the workers of task-queue functions. Sharing saves a fifth of the processor time of runs, because
 * one process compiles and keeps what both use. It ends when a body blocks or ends such a worker, until the workers are replaced. From then
 * on requests have their own worker, which no body delays.
 */
import type { WorkerLease } from './worker-lease.ts';
import type { WorkerProcess } from './worker-process.ts';

/** A worker that answers a probe later than this is blocked by a body. */
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
  /** Requests in task workers. */
  readonly #leases = new Map<WorkerLease, W>();

  /** @param isOn false: functions never share workers with another role */
  constructor(isOn: boolean) {
    this.#isOn = isOn;
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  /** True if this call has ended the sharing. */
  end(): boolean {
    const wasOn = this.#isOn;
    this.#isOn = false;
    return wasOn;
  }

  /** Records a request in a task worker. */
  enter(lease: WorkerLease, worker: W): void {
    this.#leases.set(lease, worker);
  }

  leave(lease: WorkerLease): void {
    this.#leases.delete(lease);
  }

  /** Asks the senders of requests to move them to other workers. @param from default: all task workers */
  moveRequests(from?: W): void {
    for (const [lease, worker] of this.#leases)
      if (from === undefined || worker === from) lease.onBlocked?.(worker.silentMs);
  }

  /** Returns workers that a body seems to block, by the probes of the last call. Probes workers that serve both requests and tasks. */
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
