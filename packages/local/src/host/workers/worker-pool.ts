/**
 * Keeps the wanted number of workers alive and gives each request one that has room. Owns restarts and waiting;
 * knows nothing of HTTP.
 */
import type { Clock } from '../time/clock.ts';
import type { FunctionSpec } from './function-spec.ts';
import { describeEnd, type WorkerEnd, type WorkerOptions, WorkerProcess } from './worker-process.ts';

export interface PoolOptions extends WorkerOptions {
  readonly workers: number;
  readonly clock: Clock;
  /** One line about a worker that ended unasked. */
  log(line: string): void;
}

/** A place in a worker; give it back exactly once. */
export interface Lease {
  readonly port: number;
  release(): void;
  /** The connection to the worker broke or was refused: it may be dead, though nobody was told yet. */
  broken(): void;
  /** Its worker gives no sign of life, and another that does has room for the request. */
  isStuck(): boolean;
}

/** Why a request got no place. */
export class NoWorkerError extends Error {
  readonly status: 503 | 504;

  constructor(status: 503 | 504, message: string) {
    super(message);
    this.name = 'NoWorkerError';
    this.status = status;
  }
}

/** How long a request waits while no worker is alive. */
const WAIT_FOR_WORKER_MS = 10_000;
/** Workers that die sooner than this after they served do not work; others are restarted at once. */
const SHORT_LIFE_MS = 1_000;
const BACKOFF_MS = { first: 200, most: 5_000 };
const GRACE_MS = 10_000;

interface Waiter {
  readonly spec: FunctionSpec;
  grant(lease: Lease): void;
}

export class WorkerPool {
  readonly #options: PoolOptions;
  readonly #workers = new Set<WorkerProcess>();
  readonly #waiters = new Set<Waiter>();
  #failuresInARow = 0;
  /** Whether any worker ever did. */
  #hasServed = false;
  #stopping = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** Resolves when every worker serves; rejects with the reason if the first ones cannot. */
  async start(): Promise<void> {
    await Promise.all(Array.from({ length: this.#options.workers }, () => this.#spawn().ready));
  }

  /** The workers that are alive, serving or about to. */
  get pids(): number[] {
    return [...this.#workers].map((worker) => worker.pid);
  }

  /** Also holds for workers started later. A worker takes no further request before it has moved its clock. */
  shiftClock(offsetMs: number): void {
    for (const worker of this.#workers) {
      worker.shiftClock(offsetMs);
      void worker.suspect().then(() => this.#serveWaiters());
    }
  }

  async acquire(spec: FunctionSpec, signal?: AbortSignal): Promise<Lease> {
    const free = this.#place(spec);
    if (free) return free;
    const serving = [...this.#workers].some((worker) => worker.port !== undefined);
    const waitMs = serving ? spec.timeoutSeconds * 1000 : WAIT_FOR_WORKER_MS;
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiters.delete(waiter);
        cancel();
        signal?.removeEventListener('abort', onAbort);
      };
      const waiter: Waiter = {
        spec,
        grant(lease) {
          leave();
          resolve(lease);
        },
      };
      const fail = (status: 503 | 504, message: string) => {
        leave();
        reject(new NoWorkerError(status, message));
      };
      const onAbort = () => fail(503, 'the request was abandoned');
      const cancel = this.#options.clock.at(this.#options.clock.now() + waitMs, () =>
        serving ? fail(504, 'no worker had room in time') : fail(503, 'no worker is alive'),
      );
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiters.add(waiter);
    });
  }

  /** SIGTERM to all; whoever is alive after the grace is killed. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const workers = [...this.#workers];
    for (const worker of workers) worker.kill('SIGTERM');
    const killer = setTimeout(() => {
      for (const worker of workers) worker.kill('SIGKILL');
    }, GRACE_MS + 500);
    await Promise.all(workers.map((worker) => worker.ended));
    clearTimeout(killer);
  }

  #spawn(): WorkerProcess {
    const worker = new WorkerProcess(this.#options);
    this.#workers.add(worker);
    let servedAt: number | undefined;
    worker.ready.then(
      () => {
        servedAt = performance.now();
        this.#hasServed = true;
        this.#serveWaiters();
      },
      () => {},
    );
    void worker.ended.then((end) => {
      this.#workers.delete(worker);
      if (!this.#stopping) this.#replace(end, servedAt);
    });
    return worker;
  }

  #replace(end: WorkerEnd, servedAt: number | undefined): void {
    const lived = servedAt !== undefined && performance.now() - servedAt > SHORT_LIFE_MS;
    this.#failuresInARow = lived ? 0 : this.#failuresInARow + 1;
    // Functions that cannot be loaded at the start cannot be a moment later either: `start` says why.
    if (!this.#hasServed && end.error !== undefined) return;
    // One early death may be chance or a test's SIGKILL; from the second on, it is the functions.
    const exponent = this.#failuresInARow - (servedAt === undefined ? 1 : 2);
    const pause = exponent < 0 ? 0 : Math.min(BACKOFF_MS.first * 2 ** exponent, BACKOFF_MS.most);
    this.#options.log(`${describeEnd(end)}; starting another${pause > 0 ? ` in ${pause} ms` : ''}`);
    if (pause === 0) {
      this.#spawn();
      return;
    }
    setTimeout(() => {
      if (!this.#stopping) this.#spawn();
    }, pause).unref();
  }

  #serveWaiters(): void {
    for (const waiter of this.#waiters) {
      const lease = this.#place(waiter.spec);
      if (lease) waiter.grant(lease);
    }
  }

  /** The least busy worker with room for one more request of this function. */
  #place({ name, concurrency }: FunctionSpec): Lease | undefined {
    let best: WorkerProcess | undefined;
    for (const worker of this.#workers) {
      if (worker.port === undefined || worker.inFlight(name) >= concurrency) continue;
      if (best === undefined || worker.isFreerThan(best)) best = worker;
    }
    if (best?.port === undefined) return undefined;
    const worker = best;
    worker.count(name, 1);
    const couldTake = (other: WorkerProcess) =>
      other.port !== undefined && !other.hangs && other.inFlight(name) < concurrency;
    return {
      port: best.port,
      release: () => {
        worker.count(name, -1);
        if (this.#waiters.size > 0) this.#serveWaiters();
      },
      broken: () => void worker.suspect().then(() => this.#serveWaiters()),
      isStuck: () => worker.hangs && [...this.#workers].some(couldTake),
    };
  }
}
