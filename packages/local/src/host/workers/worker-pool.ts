/**
 * Keeps the wanted number of workers of each role alive, with a spare that replaces one that died, and assigns each request
 * a worker of its function's role with room. Kills workers without a heartbeat. Owns restarts and waiting, not HTTP.
 */
import type { FunctionSpec } from '../function-spec.ts';
import { chooseWorker } from './choice.ts';
import { type Acquiring, NO_USER, type Wanted, type WorkerLease } from './lease.ts';
import { lowerPriority } from './priority.ts';
import { Reaper } from './reaper.ts';
import { REQUESTS, roleOf, sizeOf, TASKS, type WorkerRole } from './roles.ts';
import { Sharing } from './sharing.ts';
import { Waiters } from './waiters.ts';
import { Watchdog } from './watchdog.ts';
import { describeEnd, type WorkerEnd, type WorkerOptions, WorkerProcess } from './worker-process.ts';

export interface PoolOptions extends WorkerOptions {
  /** Workers for task-queue functions. */
  readonly workers: number;
  /** True if functions of different roles have different workers; otherwise one worker serves all. */
  readonly roles: boolean;
  /** False: an additional process is started when a request needs it, and loads while the request waits. */
  readonly keepsSpare: boolean;
  /** A worker without a heartbeat for this time is killed. */
  readonly watchdogMs: number;
  /** One line about a worker that ended unasked. */
  log(line: string): void;
}

/** Workers that die within this time after they began to serve count as broken; others are restarted immediately. */
const SHORT_LIFE_MS = 1_000;
const BACKOFF_MS = { first: 200, most: 5_000 };
const GRACE_MS = 10_000;
/** The first spare starts when no request is under way, because loading it takes a processor for a second. */
const SPARE_AFTER_MS = { rest: 200, most: 10_000 };
/** Delay before a ready spare loads the functions' libraries, so that workers that start with it come first. */
const WARM_UP_AFTER_MS = 1_000;
/** Interval at which workers are checked. */
const TICK_MS = 500;
/** A superfluous worker ends after this time without a request. */
const IDLE_MS = 30_000;

export class WorkerPool {
  readonly #options: PoolOptions;
  readonly #workers = new Set<WorkerProcess>();
  readonly #waiters = new Waiters((wanted) => this.#assign(wanted));
  readonly #reaper: Reaper | undefined;
  readonly #watchdog: Watchdog;
  readonly #sharing: Sharing;
  /** Requests in workers that they share with tasks. */
  readonly #sharedLeases = new Map<WorkerLease, WorkerProcess>();
  #checkTimer: NodeJS.Timeout | undefined;
  #failuresInARow = 0;
  /** True once any worker has served. */
  #hasServed = false;
  /** Number of workers whose restart is delayed. */
  #paused = 0;
  /** With roles: some requests do not share the workers of tasks. */
  #hasRequests = false;
  /** True if the last worker that serves one request died during it. */
  #isOneLost = false;
  #stopping = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#watchdog = new Watchdog({ ...options, tickMs: TICK_MS });
    this.#sharing = new Sharing(options.roles);
    // Without roles, a worker has to end processes of its own in order, and no body blocks it.
    this.#reaper = options.roles ? new Reaper() : undefined;
  }

  /** Resolves when every wanted worker serves; rejects with the reason if the first ones cannot. */
  async start(): Promise<void> {
    const { workers, roles } = this.#options;
    const first = roles ? Array.from({ length: workers }, () => TASKS) : [REQUESTS];
    await Promise.all(first.map((role) => this.#spawn(role).ready));
    this.#fillWhenIdle(performance.now() + SPARE_AFTER_MS.most);
    this.#checkTimer = setInterval(() => this.#check(), TICK_MS);
    this.#checkTimer.unref();
  }

  /** The workers that are alive, serving or about to. */
  get pids(): number[] {
    return [...this.#workers].map((worker) => worker.pid);
  }

  /** {@link pids} by role; also `spare`, and `starting` for those that do not serve yet. */
  get pidsByRole(): Readonly<Record<string, readonly number[]>> {
    const byRole: Record<string, number[]> = {};
    for (const { pid, port, role = port === undefined ? 'starting' : 'spare' } of this.#workers) {
      byRole[role] ??= [];
      byRole[role].push(pid);
    }
    return byRole;
  }

  /**
   * Also applies to workers started later. A worker gets no request before it has moved its clock. Resolves when all running
   * work has recorded the new time; a blocked worker does so later, or is killed.
   */
  async shiftClock(offsetMs: number): Promise<void> {
    await Promise.all(
      [...this.#workers].map((worker) => {
        const moved = worker.shiftClock(offsetMs);
        void worker.suspect().then(() => this.#waiters.serve());
        return moved;
      }),
    );
  }

  /** Limits the wait by the machine's time, not by the moved clock. */
  acquire(spec: FunctionSpec, acquiring: Acquiring = {}): Promise<WorkerLease> {
    return this.#acquire(spec, this.#roleOf(spec), acquiring);
  }

  /** A task worker, for background calls: request workers are kept for callers that wait. */
  acquireAside(spec: FunctionSpec): Promise<WorkerLease> {
    return this.#acquire(spec, this.#options.roles ? TASKS : REQUESTS, {});
  }

  async #acquire(
    spec: FunctionSpec,
    role: WorkerRole,
    { user = NO_USER, signal }: Acquiring,
  ): Promise<WorkerLease> {
    const free = this.#assign({ spec, role, user, takesCold: false });
    if (free) return free;
    const isServed = [...this.#workers].some((worker) => worker.hasServed);
    return this.#waiters.wait({ spec, role, user }, { isServed, signal });
  }

  /**
   * Accepts no further request and refuses waiting ones. Each worker ends when its current requests are done or its grace
   * period is over. Idempotent.
   */
  async retire(): Promise<void> {
    this.#stopping = true;
    clearInterval(this.#checkTimer);
    this.#waiters.refuseAll('the workers were replaced');
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

  /** @param role undefined for a spare */
  #spawn(role: WorkerRole | undefined): WorkerProcess {
    const worker = new WorkerProcess(this.#options);
    this.#setRole(worker, role);
    this.#workers.add(worker);
    this.#reaper?.watch(worker.pid);
    let servedAt: number | undefined;
    worker.ready.then(
      () => {
        servedAt = performance.now();
        this.#hasServed = true;
        this.#waiters.serve();
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
    if (worker.role === TASKS && servedAt !== undefined) this.#endSharing();
    const wasUseful = servedAt !== undefined && performance.now() - servedAt > SHORT_LIFE_MS;
    this.#failuresInARow = wasUseful ? 0 : this.#failuresInARow + 1;
    // Functions that cannot be loaded at the start are not tried again: `start` rejects with the reason.
    if (!this.#hasServed && end.error !== undefined) return;
    // One early death may be a SIGKILL; from the second on, the functions are at fault.
    const exponent = this.#failuresInARow - (servedAt === undefined ? 1 : 2);
    const pause = exponent < 0 ? 0 : Math.min(BACKOFF_MS.first * 2 ** exponent, BACKOFF_MS.most);
    this.#options.log(`${describeEnd(end, worker)}; starting another${pause > 0 ? ` in ${pause} ms` : ''}`);
    if (pause > 0) this.#paused += 1;
    // Starts nothing during a pause, but assigns the spare.
    this.#fill();
    if (pause === 0) return;
    setTimeout(() => {
      this.#paused -= 1;
      if (!this.#stopping) this.#fill();
    }, pause).unref();
  }

  /** Calls {@link #fill} when all workers are idle, or at `latest` in the time of `performance`. */
  #fillWhenIdle(latest: number): void {
    setTimeout(() => {
      if (this.#stopping) return;
      const isIdle = [...this.#workers].every(({ idleMs }) => idleMs >= SPARE_AFTER_MS.rest);
      if (isIdle || performance.now() >= latest) this.#fill();
      else this.#fillWhenIdle(latest);
    }, SPARE_AFTER_MS.rest).unref();
  }

  /** Replaces missing workers, by the spare first, and starts another spare. */
  #fill(): void {
    const { workers, roles, keepsSpare } = this.#options;
    for (const role of roles ? [TASKS, REQUESTS] : [REQUESTS]) {
      if (role === REQUESTS && roles && !this.#hasRequests) continue;
      for (let missing = sizeOf(role, workers).wanted - this.#of(role).length; missing > 0; missing--) {
        const spare = this.#readySpare ?? this.#spares[0];
        if (spare) this.#setRole(spare, role);
        else if (this.#paused === 0) this.#spawn(role);
      }
    }
    if (roles && keepsSpare) this.#spawnSpare();
    this.#waiters.serve();
  }

  /** Ends workers that are unfit or no longer needed. */
  #check(): void {
    this.#watchdog.check(this.#workers);
    const heldUp = this.#sharing.check(this.#of(TASKS));
    if (heldUp) {
      this.#suspect(heldUp, true);
      this.#endSharing(heldUp);
    }
    for (const role of new Set([...this.#workers].flatMap(({ role }) => role ?? []))) {
      const ofRole = this.#of(role);
      const idle = ofRole.find((worker) => worker.idleMs > IDLE_MS && !worker.hangs);
      if (ofRole.length > sizeOf(role, this.#options.workers).wanted) idle?.retire();
    }
    // A waiting request may get an additional process if all others hang.
    this.#waiters.serve();
  }

  get #spares(): WorkerProcess[] {
    return [...this.#workers].filter((worker) => worker.role === undefined);
  }

  get #readySpare(): WorkerProcess | undefined {
    return this.#spares.find(({ port }) => port !== undefined);
  }

  /**
   * For a run that must be alone, while the spare has just replaced the worker that died. The starting spare replaces this
   * one in turn. Not after a death alone: leftovers of an earlier request in a task worker could kill the run once more.
   */
  get #idleTaskWorker(): WorkerProcess | undefined {
    if (this.#isOneLost || this.#sharing.isOn) return undefined;
    return this.#of(TASKS).find((worker) => worker.port !== undefined && worker.isIdle && !worker.hangs);
  }

  #of(role: WorkerRole): WorkerProcess[] {
    return [...this.#workers].filter((worker) => worker.role === role && !worker.isRetired);
  }

  #roleOf(spec: FunctionSpec): WorkerRole {
    return this.#options.roles ? roleOf(spec) : REQUESTS;
  }

  /** See {@link chooseWorker}. */
  #assign({ spec, role: ownRole, user, takesCold }: Wanted): WorkerLease | undefined {
    const { workers, roles } = this.#options;
    const role = this.#servedBy(ownRole, spec);
    const ofRole = this.#of(role);
    const { most, growsWhenFull, servesOnce } = sizeOf(role, workers);
    const facts = ofRole.map((worker) => worker.factsFor(spec, user));
    const hasSpare = this.#readySpare !== undefined;
    const choice = chooseWorker(
      facts,
      roles ? { most, growsWhenFull, hasSpare } : { most: 1, growsWhenFull: false, hasSpare },
    );
    if (choice === 'wait') return undefined;
    let best: WorkerProcess | undefined;
    if (choice === 'additional') {
      // Undefined while it is still starting: the request waits.
      best = this.#additionalWorker(ofRole, takesCold);
      if (best) {
        this.#setRole(best, role);
        // Deferred, because it serves waiters, and the one of this assignment may still be among them.
        queueMicrotask(() => {
          if (!this.#stopping) this.#fill();
        });
      }
    } else best = ofRole[choice];
    if (best?.port === undefined) return undefined;
    best.isSpent = servesOnce && roles;
    return this.#lease(best, best.port, { spec, user, role: ownRole });
  }

  /** A loaded spare, else a loaded task worker, else a spare that is not loaded. */
  #additionalWorker(ofRole: readonly WorkerProcess[], takesCold: boolean): WorkerProcess | undefined {
    const spare = this.#readySpare;
    if (spare?.isWarm) return spare;
    const loaded = ofRole.length === 0 ? this.#idleTaskWorker : undefined;
    if (loaded) return loaded;
    // After a death alone, or without a task worker that has served, none becomes idle soon.
    const mayComeBack =
      ofRole.length === 0 &&
      !this.#isOneLost &&
      !this.#sharing.isOn &&
      this.#of(TASKS).some((worker) => worker.hasServed);
    if (!takesCold && mayComeBack) return undefined;
    if (spare === undefined) this.#spawnSpare();
    return spare;
  }

  #spawnSpare(): void {
    if (this.#paused === 0 && this.#spares.length === 0) this.#spawn(undefined);
  }

  #lease(worker: WorkerProcess, port: number, wanted: Omit<Wanted, 'takesCold'>): WorkerLease {
    worker.count(wanted, 1);
    let isBroken = false;
    const isShared = this.#sharing.isOn && wanted.role === REQUESTS && worker.role === TASKS;
    const lease: WorkerLease = {
      port,
      link: worker.link,
      isMovable: !worker.isSpent,
      isShared,
      release: async () => {
        this.#sharedLeases.delete(lease);
        // A worker with a broken connection is dead, or busy with an aborted request: then it ends once it is idle.
        if (worker.isSpent && !isBroken) {
          this.#isOneLost = false;
          worker.retire();
        }
        // Until the worker answers, the aborted request may block it.
        if (isBroken) await worker.suspect();
        worker.count(wanted, -1);
        this.#waiters.serve();
      },
      broken: () => {
        isBroken = true;
        this.#suspect(worker);
      },
      late: () => {
        this.#suspect(worker, true);
        if (worker.role === TASKS && worker.runsTasks) this.#endSharing(worker);
      },
    };
    if (isShared) this.#sharedLeases.set(lease, worker);
    return lease;
  }

  /** Gives requests a worker of their own from now on. Those in the worker that a body holds up go elsewhere if that is possible. */
  #endSharing(heldUp?: WorkerProcess): void {
    if (!this.#sharing.end()) return;
    for (const worker of this.#of(TASKS)) this.#setRole(worker, TASKS);
    this.#hasRequests = true;
    // The spare is for what is under way.
    if (this.#paused === 0 && this.#of(REQUESTS).length === 0) this.#spawn(REQUESTS);
    this.#fill();
    for (const [lease, worker] of this.#sharedLeases) if (worker === heldUp) lease.onBlocked?.();
  }

  #setRole(worker: WorkerProcess, role: WorkerRole | undefined): void {
    worker.role = role;
    const runsOnlyBodies = role !== undefined && role !== REQUESTS && !(role === TASKS && this.#sharing.isOn);
    // A process that could not be started has no id, and 0 would be this process.
    if (runsOnlyBodies && worker.pid > 0) lowerPriority(worker.pid);
  }

  /**
   * Requests that small frames can carry go to the workers of tasks while these are shared, and until the first of their own serves; others,
   * which no other worker could repeat, start one of their own.
   */
  #servedBy(role: WorkerRole, { takesWhole }: FunctionSpec): WorkerRole {
    if (role !== REQUESTS || !this.#options.roles) return role;
    if (takesWhole && (this.#sharing.isOn || !this.#of(REQUESTS).some(({ hasServed }) => hasServed)))
      return TASKS;
    if (!this.#hasRequests) {
      this.#hasRequests = true;
      // Deferred, because it assigns waiting requests, of which this one may be the first.
      queueMicrotask(() => {
        if (!this.#stopping) this.#fill();
      });
    }
    return REQUESTS;
  }

  #suspect(worker: WorkerProcess, isLate = false): void {
    void worker.suspect(isLate).then(() => this.#waiters.serve());
  }
}
