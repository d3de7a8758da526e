/** Requests that wait for a worker, in order, and the limits of their waits. Does not choose the worker. */
import type { FunctionSpec } from '../function-spec.ts';
import { NoWorkerError, type Wanted, type WorkerLease } from './worker-lease.ts';

interface Waiter extends Wanted {
  /** Key of requests that the same workers could serve, before and after `takesCold`. */
  readonly warmKey: string;
  readonly coldKey: string;
  takesCold: boolean;
  grant(lease: WorkerLease): void;
  refuse(message: string): void;
}

interface WaitOptions {
  /** True if a worker has served, so that only the timeout of the function limits the wait. */
  readonly isServed: boolean;
  readonly signal: AbortSignal | undefined;
}

/** Time that a request waits while no worker is alive. */
const WAIT_FOR_WORKER_MS = 10_000;
/**
 * Time that a request waits for a loaded process before it takes an unloaded spare. A task worker that hands a run over is soon idle,
 * before a spare would have loaded.
 */
const COLD_AFTER_MS = 100;

export class Waiters {
  readonly #waiters = new Set<Waiter>();
  readonly #assign: (wanted: Wanted) => WorkerLease | undefined;

  constructor(assign: (wanted: Wanted) => WorkerLease | undefined) {
    this.#assign = assign;
  }

  /**
   * Limits the wait by the machine's time, not by the moved clock.
   *
   * @throws NoWorkerError
   */
  wait(wanted: Omit<Wanted, 'takesCold'>, { isServed, signal }: WaitOptions): Promise<WorkerLease> {
    const { spec, role, user, byFrames } = wanted;
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiters.delete(waiter);
        clearTimeout(timer);
        clearTimeout(cold);
        signal?.removeEventListener('abort', onAbort);
      };
      const fail = (status: 503 | 504, message: string) => {
        leave();
        reject(new NoWorkerError(status, message));
      };
      const key = `${role} ${byFrames} ${spec.name} ${user}`;
      const waiter: Waiter = {
        ...wanted,
        warmKey: key,
        coldKey: `${key}, cold`,
        takesCold: false,
        grant(lease) {
          leave();
          resolve(lease);
        },
        refuse: (message) => fail(503, message),
      };
      const cold = setTimeout(() => {
        waiter.takesCold = true;
        this.serve();
      }, COLD_AFTER_MS);
      cold.unref();
      const onAbort = () => fail(503, 'the request was aborted');
      const timer = setTimeout(
        () => (isServed ? fail(504, 'no worker became free in time') : fail(503, 'no worker is alive')),
        isServed ? timeoutMsOf(spec) : WAIT_FOR_WORKER_MS,
      );
      timer.unref();
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiters.add(waiter);
    });
  }

  /** Assigns available workers to waiting requests. */
  serve(): void {
    // After one waiter got no worker, waiters with the same key are skipped.
    const full = new Set<string>();
    for (const waiter of this.#waiters) {
      const key = waiter.takesCold ? waiter.coldKey : waiter.warmKey;
      if (full.has(key)) continue;
      const lease = this.#assign(waiter);
      if (lease) waiter.grant(lease);
      else full.add(key);
    }
  }

  refuseAll(message: string): void {
    for (const waiter of this.#waiters) waiter.refuse(message);
  }
}

const timeoutMsOf = ({ timeoutSeconds }: FunctionSpec) => timeoutSeconds * 1_000;
