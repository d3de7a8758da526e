/**
 * Keeps the wanted number of workers of each role alive, with a spare that takes the place of one that died, and gives
 * each request a worker of its function's role that has room. Kills workers that give no sign of life. Owns restarts and
 * waiting; knows nothing of HTTP.
 */
import type { FunctionSpec } from '../function-spec.ts';
import { NoWorkerError, type WorkerLease } from './lease.ts';
import { Reaper } from './reaper.ts';
import { type Crew, crewOf, REQUESTS, roleOf, TASKS, type WorkerRole } from './roles.ts';
import { Watchdog } from './watchdog.ts';
import { describeEnd, type WorkerEnd, type WorkerOptions, WorkerProcess } from './worker-process.ts';

export interface PoolOptions extends WorkerOptions {
  /** Workers for task-queue functions. */
  readonly workers: number;
  /** True if functions of different roles have different workers; otherwise one worker serves all. */
  readonly roles: boolean;
  /** False: a process beyond those of the roles is started when a request needs it, and loads while that waits. */
  readonly keepsSpare: boolean;
  /** A worker that was silent for so long is killed. */
  readonly watchdogMs: number;
  /** One line about a worker that ended unasked. */
  log(line: string): void;
}

/** Time that a request waits while no worker is alive. */
const WAIT_FOR_WORKER_MS = 10_000;
/** Workers that die sooner than this after they served are considered broken; others are restarted immediately. */
const SHORT_LIFE_MS = 1_000;
const BACKOFF_MS = { first: 200, most: 5_000 };
const GRACE_MS = 10_000;
/** The first spare starts at a pause between requests: loading it takes a processor for a second, and those that waited for the start come first. */
const SPARE_AFTER_MS = { rest: 200, most: 10_000 };
/** A spare loads the functions' libraries when it has been ready for so long: what starts with it comes first. */
const WARM_UP_AFTER_MS = 1_000;
/**
 * A request that needs a process of its own waits this long for one that is loaded, before it takes a spare that is not: whoever took a
 * run over hands it on a moment before it has answered and is idle, and loading takes longer.
 */
const COLD_AFTER_MS = 100;
/** Interval at which workers are checked. */
const TICK_MS = 500;
/** A worker beyond those wanted ends when it had nothing to do for so long. */
const IDLE_MS = 30_000;

interface Waiter {
  readonly spec: FunctionSpec;
  readonly role: WorkerRole;
  /** Texts that are the same for all that a place would suit alike, before and after `takesCold`. */
  readonly asked: string;
  readonly askedLast: string;
  /** It has waited long enough for a process that is loaded. */
  takesCold: boolean;
  grant(lease: WorkerLease): void;
  refuse(message: string): void;
}

export class WorkerPool {
  readonly #options: PoolOptions;
  readonly #workers = new Set<WorkerProcess>();
  readonly #waiters = new Set<Waiter>();
  readonly #reaper: Reaper | undefined;
  readonly #watchdog: Watchdog;
  #looking: NodeJS.Timeout | undefined;
  #failuresInARow = 0;
  /** True once any worker has served. */
  #hasServed = false;
  /** Workers to be started after a pause. */
  #paused = 0;
  /** The last worker that was to serve once died of its request. */
  #isOneLost = false;
  #stopping = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#watchdog = new Watchdog({ ...options, tickMs: TICK_MS });
    // A worker without roles has processes of its own to end in order, and is never blocked by a body.
    this.#reaper = options.roles ? new Reaper() : undefined;
  }

  /** Resolves when every wanted worker serves; rejects with the reason if the first ones cannot. */
  async start(): Promise<void> {
    const { workers, roles } = this.#options;
    const first = [REQUESTS, ...(roles ? Array.from({ length: workers }, () => TASKS) : [])];
    await Promise.all(first.map((role) => this.#spawn(role).ready));
    this.#fillAtRest(performance.now() + SPARE_AFTER_MS.most);
    this.#looking = setInterval(() => this.#look(), TICK_MS);
    this.#looking.unref();
  }

  /** The workers that are alive, serving or about to. */
  get pids(): number[] {
    return [...this.#workers].map((worker) => worker.pid);
  }

  /** Those of {@link pids} by role; `spare` has none yet, and `starting` does not serve either. */
  get pidsByRole(): Readonly<Record<string, readonly number[]>> {
    const byRole: Record<string, number[]> = {};
    for (const { pid, port, role = port === undefined ? 'starting' : 'spare' } of this.#workers) {
      byRole[role] ??= [];
      byRole[role].push(pid);
    }
    return byRole;
  }

  /**
   * Also applies to workers started later. A worker takes no further request before it has moved its clock. Resolves
   * when all running work has recorded the new time; a blocked worker does so later, or is killed.
   */
  async shiftClock(offsetMs: number): Promise<void> {
    await Promise.all(
      [...this.#workers].map((worker) => {
        const moved = worker.shiftClock(offsetMs);
        void worker.suspect().then(() => this.#serveWaiters());
        return moved;
      }),
    );
  }

  /** Waiting is bounded in the machine's time, independent of moved clocks. */
  acquire(spec: FunctionSpec, signal?: AbortSignal): Promise<WorkerLease> {
    return this.#acquire(spec, this.#roleOf(spec), signal);
  }

  /** A worker of the tasks, for calls that nobody waits for: workers of requests are left to callers that wait. */
  acquireAside(spec: FunctionSpec): Promise<WorkerLease> {
    return this.#acquire(spec, this.#options.roles ? TASKS : REQUESTS);
  }

  async #acquire(spec: FunctionSpec, role: WorkerRole, signal?: AbortSignal): Promise<WorkerLease> {
    const free = this.#place(spec, role, false);
    if (free) return free;
    const serving = [...this.#workers].some((worker) => worker.hasServed);
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiters.delete(waiter);
        clearTimeout(timer);
        clearTimeout(cold);
        signal?.removeEventListener('abort', onAbort);
      };
      const waiter: Waiter = {
        spec,
        role,
        asked: `${role} ${spec.name}`,
        askedLast: `${role} ${spec.name}, cold`,
        takesCold: false,
        grant(lease) {
          leave();
          resolve(lease);
        },
        refuse: (message) => fail(503, message),
      };
      const cold = setTimeout(() => {
        waiter.takesCold = true;
        this.#serveWaiters();
      }, COLD_AFTER_MS);
      cold.unref();
      const fail = (status: 503 | 504, message: string) => {
        leave();
        reject(new NoWorkerError(status, message));
      };
      const onAbort = () => fail(503, 'the request was aborted');
      const timer = setTimeout(
        () => (serving ? fail(504, 'no worker became free in time') : fail(503, 'no worker is alive')),
        serving ? spec.timeoutSeconds * 1000 : WAIT_FOR_WORKER_MS,
      );
      timer.unref();
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiters.add(waiter);
    });
  }

  /**
   * Takes no further request; requests that wait for a place are refused. Each worker ends when its requests in hand are
   * done or its grace is over. May be called more than once.
   */
  async retire(): Promise<void> {
    this.#stopping = true;
    clearInterval(this.#looking);
    for (const waiter of this.#waiters) waiter.refuse('the workers were replaced');
    const workers = [...this.#workers];
    for (const worker of workers) worker.kill('SIGTERM');
    await Promise.all(workers.map((worker) => worker.ended));
    this.#reaper?.close();
  }

  /** Like {@link retire}; workers alive after Cloud Run's grace period are killed. */
  async stop(): Promise<void> {
    const killer = setTimeout(() => {
      for (const worker of this.#workers) worker.kill('SIGKILL');
    }, GRACE_MS + 500);
    await this.retire();
    clearTimeout(killer);
  }

  /** Without a role it is a spare. */
  #spawn(role: WorkerRole | undefined): WorkerProcess {
    const worker = new WorkerProcess(this.#options);
    worker.role = role;
    this.#workers.add(worker);
    this.#reaper?.watch(worker.pid);
    let servedAt: number | undefined;
    worker.ready.then(
      () => {
        servedAt = performance.now();
        this.#hasServed = true;
        this.#serveWaiters();
        if (worker.role === undefined) this.#warmUpSoon(worker);
      },
      () => {},
    );
    void worker.ended.then((end) => {
      this.#workers.delete(worker);
      this.#reaper?.forget(worker.pid);
      if (!this.#stopping) this.#replace(worker, end, servedAt);
    });
    return worker;
  }

  #warmUpSoon(worker: WorkerProcess): void {
    setTimeout(() => {
      if (worker.role === undefined) worker.warmUp();
    }, WARM_UP_AFTER_MS).unref();
  }

  #replace(worker: WorkerProcess, end: WorkerEnd, servedAt: number | undefined): void {
    if (worker.isRetired) {
      this.#fill();
      return;
    }
    if (worker.isSpent) this.#isOneLost = true;
    const lived = servedAt !== undefined && performance.now() - servedAt > SHORT_LIFE_MS;
    this.#failuresInARow = lived ? 0 : this.#failuresInARow + 1;
    // Functions that cannot be loaded at the start cannot be a moment later either: `start` says why.
    if (!this.#hasServed && end.error !== undefined) return;
    // One early death may be chance or a test's SIGKILL; from the second on, it is the functions.
    const exponent = this.#failuresInARow - (servedAt === undefined ? 1 : 2);
    const pause = exponent < 0 ? 0 : Math.min(BACKOFF_MS.first * 2 ** exponent, BACKOFF_MS.most);
    this.#options.log(`${describeEnd(end, worker)}; starting another${pause > 0 ? ` in ${pause} ms` : ''}`);
    if (pause === 0) {
      this.#fill();
      return;
    }
    this.#paused += 1;
    // Nothing is started meanwhile, but the spare takes its place.
    this.#fill();
    setTimeout(() => {
      this.#paused -= 1;
      if (!this.#stopping) this.#fill();
    }, pause).unref();
  }

  /** As {@link #fill}, at the first rest, and at `latest` in the time of `performance`. What a death needs is started at once all the same. */
  #fillAtRest(latest: number): void {
    setTimeout(() => {
      if (this.#stopping) return;
      const isAtRest = [...this.#workers].every(({ idleMs }) => idleMs >= SPARE_AFTER_MS.rest);
      if (isAtRest || performance.now() >= latest) this.#fill();
      else this.#fillAtRest(latest);
    }, SPARE_AFTER_MS.rest).unref();
  }

  /** Starts what is missing: a spare takes the place of one that died, and another becomes the spare. */
  #fill(): void {
    const { workers, roles, keepsSpare } = this.#options;
    for (const role of roles ? [REQUESTS, TASKS] : [REQUESTS]) {
      for (let missing = crewOf(role, workers).wanted - this.#of(role).length; missing > 0; missing--) {
        const spare = this.#readySpare ?? this.#spares[0];
        if (spare) spare.role = role;
        else if (this.#paused === 0) this.#spawn(role);
      }
    }
    if (roles && keepsSpare) this.#spawnSpare();
    this.#serveWaiters();
  }

  /** Ends workers that are unfit or no longer needed. */
  #look(): void {
    this.#watchdog.look(this.#workers);
    for (const role of new Set([...this.#workers].flatMap(({ role }) => role ?? []))) {
      const crew = this.#of(role);
      const idle = crew.find((worker) => worker.idleMs > IDLE_MS && !worker.hangs);
      if (crew.length > crewOf(role, this.#options.workers).wanted) idle?.retire();
    }
    // A request that waits for room may get a process more now that all others hang.
    this.#serveWaiters();
  }

  #serveWaiters(): void {
    // Waiters behind one that found no place, and that ask for the same, find none either: a crowd is passed over, not tried.
    const full = new Set<string>();
    for (const waiter of this.#waiters) {
      const { spec, role, takesCold } = waiter;
      const asked = takesCold ? waiter.askedLast : waiter.asked;
      if (full.has(asked)) continue;
      const lease = this.#place(spec, role, takesCold);
      if (lease) waiter.grant(lease);
      else full.add(asked);
    }
  }

  get #spares(): WorkerProcess[] {
    return [...this.#workers].filter((worker) => worker.role === undefined);
  }

  get #readySpare(): WorkerProcess | undefined {
    return this.#spares.find(({ port }) => port !== undefined);
  }

  /**
   * For a run that must be alone and finds no spare, since that has just taken the place of the one that died: who took
   * the run over is loaded and idle. The spare that is being started takes its place in turn. Not after a death alone: a worker
   * of the tasks may have in it what an earlier request left, and one run would pay twice for what another did.
   */
  get #idleTaskWorker(): WorkerProcess | undefined {
    if (this.#isOneLost) return undefined;
    return this.#of(TASKS).find((worker) => worker.port !== undefined && worker.isIdle && !worker.hangs);
  }

  #of(role: WorkerRole): WorkerProcess[] {
    return [...this.#workers].filter((worker) => worker.role === role && !worker.isRetired);
  }

  #roleOf(spec: FunctionSpec): WorkerRole {
    return this.#options.roles ? roleOf(spec) : REQUESTS;
  }

  /** The least busy worker of the role with room for one more request of the function. */
  #place({ name, concurrency }: FunctionSpec, role: WorkerRole, takesCold: boolean): WorkerLease | undefined {
    const crew = this.#of(role);
    const bounds = crewOf(role, this.#options.workers);
    let best: WorkerProcess | undefined;
    for (const worker of crew) {
      if (worker.port === undefined || worker.isSpent || worker.inFlight(name) >= concurrency) continue;
      if (best === undefined || worker.isFreerThan(best)) best = worker;
    }
    if ((best === undefined || best.hangs) && this.#mayGrow(crew, bounds)) {
      // None while it is still starting: the request waits for it.
      best = this.#freshFor(crew, takesCold);
      if (best) {
        best.role = role;
        // Not here: it serves those who wait, and the one that this place is for may still be among them.
        queueMicrotask(() => {
          if (!this.#stopping) this.#fill();
        });
      }
    }
    if (best?.port === undefined) return undefined;
    best.isSpent = bounds.servesOnce && this.#options.roles;
    return this.#lease(best, best.port, name);
  }

  /** A spare that is loaded, else a worker of the tasks that is, else a spare that is not. */
  #freshFor(crew: readonly WorkerProcess[], takesCold: boolean): WorkerProcess | undefined {
    const spare = this.#readySpare;
    if (spare?.isWarm) return spare;
    const loaded = crew.length === 0 ? this.#idleTaskWorker : undefined;
    if (loaded) return loaded;
    // None can come back soon: after a death alone, or where no worker of the tasks is at work.
    const mayComeBack =
      crew.length === 0 && !this.#isOneLost && this.#of(TASKS).some((worker) => worker.hasServed);
    if (!takesCold && mayComeBack) return undefined;
    if (spare === undefined) this.#spawnSpare();
    return spare;
  }

  #spawnSpare(): void {
    if (this.#paused === 0 && this.#spares.length === 0) this.#spawn(undefined);
  }

  #mayGrow(crew: readonly WorkerProcess[], { most, growsWhenFull }: Crew): boolean {
    if (!this.#options.roles || crew.length >= most) return false;
    return growsWhenFull || (crew.length > 0 && crew.every((worker) => worker.hangs));
  }

  #lease(worker: WorkerProcess, port: number, name: string): WorkerLease {
    worker.count(name, 1);
    let isBroken = false;
    return {
      port,
      link: worker.link,
      release: () => {
        worker.count(name, -1);
        // One whose connection broke is dead, or still at the request that somebody gave up: then it ends when it was idle.
        if (worker.isSpent && !isBroken) {
          this.#isOneLost = false;
          worker.retire();
        }
        if (this.#waiters.size > 0) this.#serveWaiters();
      },
      broken: () => {
        isBroken = true;
        void worker.suspect().then(() => this.#serveWaiters());
      },
    };
  }
}
