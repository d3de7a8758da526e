/**
 * Counting semaphore with a bounded queue, for work that is limited by the memory or the processor of an instance. Tenants take
 * turns, and a tenant holds at most its share of the places and of the queue (core/fair-share.ts).
 */
import { CairnError } from '../core/errors.ts';
import { mayTakePlace } from '../core/fair-share.ts';
import { TenantCounts } from './tenant-shares.ts';

interface SemaphoreOptions {
  /** Name of the requests in a refusal. */
  readonly of: string;
  /** Largest number of running requests. */
  readonly running: number;
  /** Largest number of waiting requests; further ones are refused. */
  readonly waiting: number;
}

interface Admitted {
  readonly tenantId: string;
  /** The signal is read only while the request waits: a request whose caller disconnects leaves the queue. */
  readonly request: Pick<Request, 'signal'>;
}

interface Waiter {
  admit(): void;
}

const RETRY_AFTER_S = 1;

export class Semaphore {
  readonly #options: SemaphoreOptions;
  readonly #running = new TenantCounts();
  /** Waiting requests by tenant. The first tenant is served next. */
  readonly #waiting = new Map<string, Set<Waiter>>();
  #allWaiting = 0;

  constructor(options: SemaphoreOptions) {
    this.#options = options;
  }

  /**
   * @throws CairnError immediately if too many are waiting: RATE_LIMITED if they are of this tenant, else UNAVAILABLE. RATE_LIMITED if the
   * caller disconnects before its turn. Otherwise errors of `work`
   */
  async run<T>(admitted: Admitted, work: () => Promise<T>): Promise<T> {
    const { tenantId } = admitted;
    if (this.#mayRun(tenantId)) this.#running.add(tenantId);
    else await this.#turn(admitted);
    try {
      return await work();
    } finally {
      this.#leave(tenantId);
    }
  }

  #mayRun(tenantId: string): boolean {
    const own = this.#running.of(tenantId);
    return mayTakePlace({ all: this.#options.running, own, others: this.#running.all - own });
  }

  #leave(tenantId: string): void {
    this.#running.remove(tenantId);
    // The next request takes over the place immediately, so that a new request cannot overtake it.
    for (let next = this.#next(); next; next = this.#next()) this.#admit(...next);
  }

  #next(): [tenantId: string, waiter: Waiter] | undefined {
    for (const [tenantId, [first]] of this.#waiting)
      if (first && this.#mayRun(tenantId)) return [tenantId, first];
    return undefined;
  }

  #admit(tenantId: string, waiter: Waiter): void {
    const others = this.#dequeue(tenantId, waiter);
    if (others) {
      this.#waiting.delete(tenantId);
      this.#waiting.set(tenantId, others);
    }
    this.#running.add(tenantId);
    waiter.admit();
  }

  /** @returns the other requests of the tenant, if any */
  #dequeue(tenantId: string, waiter: Waiter): Set<Waiter> | undefined {
    const own = this.#waiting.get(tenantId);
    if (!own?.delete(waiter)) return own;
    this.#allWaiting -= 1;
    if (own.size > 0) return own;
    this.#waiting.delete(tenantId);
    return undefined;
  }

  async #turn({ tenantId, request: { signal } }: Admitted): Promise<void> {
    if (signal.aborted) throw disconnected();
    const own = this.#waiting.get(tenantId) ?? new Set();
    this.#assertRoom(own.size);
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#dequeue(tenantId, waiter);
        reject(disconnected());
      };
      const waiter: Waiter = {
        admit() {
          signal.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#allWaiting += 1;
      this.#waiting.set(tenantId, own.add(waiter));
    });
  }

  #assertRoom(own: number): void {
    const { of, waiting } = this.#options;
    if (this.#allWaiting >= waiting) throw new CairnError('UNAVAILABLE', `too many ${of} wait`);
    if (mayTakePlace({ all: waiting, own, others: this.#allWaiting - own })) return;
    throw new CairnError('RATE_LIMITED', `${own} ${of} of this tenant wait, its share`, {
      details: { retryAfterSeconds: RETRY_AFTER_S },
    });
  }
}

/** Nobody reads the response. The code keeps it out of the log of failures. */
function disconnected(): CairnError {
  return new CairnError('RATE_LIMITED', 'the caller disconnected while its request waited');
}
