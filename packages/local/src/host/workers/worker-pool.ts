/**
 * Keeps the wanted number of workers of each role alive, with a spare that replaces one that died, and assigns each request
 * a worker of its function's role with room. Kills workers without a heartbeat. Owns restarts and waiting, not HTTP.
 */
import { isShortLived } from '../../node-flags.ts';
import type { FunctionSpec } from '../function-spec.ts';
import { Blockers } from './blockers.ts';
import { chooseWorker } from './choice.ts';
import { Loading } from './loading.ts';
import { OrphanKiller } from './orphan-killer.ts';
import type { PoolOptions } from './pool-options.ts';
import { lowerPriority } from './priority.ts';
import { Restarts } from './restarts.ts';
import { REQUESTS, roleOf, sizeOf, TASKS, type WorkerRole } from './roles.ts';
import { Sharing } from './sharing.ts';
import { Waiters } from './waiters.ts';
import { Watchdog } from './watchdog.ts';
import { type Acquiring, NO_USER, type Wanted, type WorkerLease } from './worker-lease.ts';
import { describeEnd, pidsByRole, type WorkerEnd, WorkerProcess } from './worker-process.ts';

const GRACE_MS = 10_000;
/** The first spare starts once all workers were idle for `idle` ms, because loading occupies a processor for a second, but after `latest` ms at most. */
const FIRST_SPARE_MS = { idle: 200, latest: 10_000 };
/** Interval at which workers are checked. */
const TICK_MS = 500;
/** A superfluous worker ends after this time without a request. */
const IDLE_MS = 30_000;

export class WorkerPool {
  readonly #options: PoolOptions;
  readonly #workers = new Set<WorkerProcess>();
  readonly #waiters = new Waiters((wanted) => this.#assign(wanted));
  readonly #orphanKiller: OrphanKiller | undefined;
  readonly #watchdog: Watchdog;
  readonly #sharing: Sharing;
  readonly #blockers = new Blockers();
  readonly #loading: Loading;
  #checkTimer: NodeJS.Timeout | undefined;
  readonly restarts = new Restarts();
  /** True once any worker has served. */
  #hasServed = false;
  /** Number of workers whose restart is delayed. */
  #paused = 0;
  /** With roles: true if some requests do not share task workers. */
  #hasRequests = false;
  /** True if the last worker that served one request died during it. */
  #hasLostLoneWorker = false;
  #stopping = false;

  constructor(options: PoolOptions) {
    this.#loading = new Loading(!isShortLived(options.env), () => performance.now());
    this.#options = { ...options, onLoaded: this.#loading.knowing(options.onLoaded) };
    this.#watchdog = new Watchdog({ ...options, tickMs: TICK_MS });
    const { roles, env } = options;
    // Sharing needs frames, because an HTTP request would wait for the body that blocks its worker.
    this.#sharing = new Sharing(roles && env.CAIRN_WIRE_HOSTS !== '');
    // Without roles no body blocks a worker, and it must end its child processes itself.
    this.#orphanKiller = roles ? new OrphanKiller() : undefined;
  }

  /** Resolves when every wanted worker serves; rejects with the reason if the first ones cannot. */
  async start(): Promise<void> {
    const { workers, roles } = this.#options;
    const first = roles ? Array.from({ length: workers }, () => TASKS) : [REQUESTS];
    await Promise.all(first.map((role) => this.#spawn(role).ready));
    this.#fillWhenIdle(performance.now() + FIRST_SPARE_MS.latest);
    this.#checkTimer = setInterval(() => this.#check(), TICK_MS).unref();
  }

  /** The workers that are alive, including those that do not serve yet. */
  get pids(): number[] {
    return [...this.#workers].map((worker) => worker.pid);
  }

  /** Time in ms that all workers but spares have been idle. */
  get idleMs(): number {
    return Math.min(...[...this.#workers].map(({ role, idleMs }) => (role ? idleMs : Infinity)));
  }

  /** Lets idle workers load the libraries of a first request, which {@link Loading} decides. */
  loadIdleWorkers(): void {
    if (this.#options.roles) this.#loading.check([...this.#workers]);
  }

  /** {@link pids} by role; also `spare`, and `starting` for those that do not serve yet. */
  get pidsByRole(): Readonly<Record<string, readonly number[]>> {
    return pidsByRole(this.#workers);
  }

  /**
   * Also applies to workers started later. A worker gets no request before it has moved its clock. Resolves when all running
   * work has recorded the new time; a blocked worker does so later, or is killed.
   */
  async shiftClock(offsetMs: number): Promise<void> {
    const moved = [...this.#workers].map((worker) => worker.shiftClock(offsetMs));
    for (const worker of this.#workers) this.#suspect(worker);
    await Promise.all(moved);
  }

  /** Limits the wait by the machine's time, not by the moved clock. */
  acquire(spec: FunctionSpec, acquiring: Acquiring = {}): Promise<WorkerLease> {
    return this.#acquire(spec, this.#roleOf(spec), acquiring);
  }

  /** Acquires a task worker for background calls, so that request workers stay free for callers that wait. */
  acquireAside(spec: FunctionSpec): Promise<WorkerLease> {
    return this.#acquire(spec, this.#options.roles ? TASKS : REQUESTS, {});
  }

  async #acquire(
    spec: FunctionSpec,
    role: WorkerRole,
    { user = NO_USER, byFrames = false, signal }: Acquiring,
  ): Promise<WorkerLease> {
    this.#loading.begin(role);
    const wanted = { spec, role, user, byFrames };
    const free = this.#assign({ ...wanted, takesCold: false });
    if (free) return free;
    const isServed = [...this.#workers].some((worker) => worker.hasServed);
    return this.#waiters.wait(wanted, { isServed, signal });
  }

  /**
   * Accepts no further request and refuses waiting ones. Each worker ends when its current requests are done or its grace
   * period is over. Idempotent.
   */
  async retire(): Promise<void> {
    this.#stopping = true;
    clearInterval(this.#checkTimer);
    this.#waiters.refuseAll('the workers were replaced');
    for (const worker of this.#workers) worker.kill('SIGTERM');
    await Promise.all([...this.#workers].map((worker) => worker.ended));
    this.#orphanKiller?.close();
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
    this.#orphanKiller?.watch(worker.pid);
    let servedAt: number | undefined;
    const onReady = () => {
      servedAt = performance.now();
      this.#hasServed = true;
      this.#waiters.serve();
    };
    worker.ready.then(onReady, () => {});
    void worker.ended.then((end) => {
      this.#workers.delete(worker);
      this.#orphanKiller?.forget(worker.pid);
      if (!this.#stopping) this.#replace(worker, end, servedAt);
    });
    return worker;
  }

  #replace(worker: WorkerProcess, end: WorkerEnd, servedAt: number | undefined): void {
    if (worker.isRetired) {
      this.#fill();
      return;
    }
    if (worker.isSpent) this.#hasLostLoneWorker = true;
    if (worker.role === TASKS && servedAt !== undefined) this.#endSharing();
    const pause = this.restarts.pauseAfter(end, servedAt);
    // Functions that cannot be loaded at the start are not tried again: `start` rejects with the reason.
    if (!this.#hasServed && end.error !== undefined) return;
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
      if (this.idleMs >= FIRST_SPARE_MS.idle || performance.now() >= latest) this.#fill();
      else this.#fillWhenIdle(latest);
    }, FIRST_SPARE_MS.idle).unref();
  }

  /** Replaces missing workers, by the spare first, and starts another spare. */
  #fill(): void {
    const { workers, roles, keepsSpare } = this.#options;
    for (const role of roles ? [TASKS, REQUESTS] : [REQUESTS]) {
      if (role === REQUESTS && roles && !this.#hasRequests) continue;
      for (let missing = sizeOf(role, workers).wanted - this.workersOf(role).length; missing > 0; missing--) {
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
    this.#blockers.check();
    this.loadIdleWorkers();
    // Deferred, so that answers that arrived while this process was busy are read first.
    setImmediate(() =>
      setImmediate(() => {
        for (const worker of this.#sharing.check(this.workersOf(TASKS))) this.#moveRequestsFrom(worker);
      }),
    );
    for (const role of new Set([...this.#workers].flatMap(({ role }) => role ?? []))) {
      const ofRole = this.workersOf(role);
      const idle = ofRole.find((worker) => worker.hasServed && worker.idleMs > IDLE_MS && !worker.hangs);
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
   * An idle task worker for a run that must be alone, when the spare has just replaced a worker that died; the next spare replaces this
   * worker in turn. Undefined after a run died alone, because leftovers of earlier requests in a task worker could kill it once more.
   */
  get #idleTaskWorker(): WorkerProcess | undefined {
    if (this.#hasLostLoneWorker || this.#sharing.isOn) return undefined;
    return this.workersOf(TASKS).find(
      (worker) => worker.port !== undefined && worker.isIdle && !worker.hangs,
    );
  }

  workersOf(role: WorkerRole): WorkerProcess[] {
    return [...this.#workers].filter((worker) => worker.role === role && !worker.isRetired);
  }

  #roleOf(spec: FunctionSpec): WorkerRole {
    return this.#options.roles ? roleOf(spec) : REQUESTS;
  }

  /** See {@link chooseWorker}. */
  #assign(wanted: Wanted): WorkerLease | undefined {
    const { spec, user, takesCold } = wanted;
    const { workers, roles } = this.#options;
    const role = this.#servedBy(wanted);
    const ofRole = this.workersOf(role);
    const { most, growsWhenFull, servesOnce } = sizeOf(role, workers);
    const facts = ofRole.map((worker) => ({
      ...worker.factsFor(spec, user),
      ...this.#blockers.companyIn(worker, user),
    }));
    const known = { hasSpare: this.#readySpare !== undefined, isBlocker: this.#blockers.has(user) };
    const size = roles ? { most, growsWhenFull } : { most: 1, growsWhenFull: false };
    const choice = chooseWorker(facts, { ...size, ...known });
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
    return this.#lease(best, best.port, wanted);
  }

  /** A loaded spare, else a loaded task worker, else a spare that is not loaded. */
  #additionalWorker(ofRole: readonly WorkerProcess[], takesCold: boolean): WorkerProcess | undefined {
    const spare = this.#readySpare;
    if (spare?.isWarm) return spare;
    const loaded = ofRole.length === 0 ? this.#idleTaskWorker : undefined;
    if (loaded) return loaded;
    // No task worker becomes idle soon after a run died alone, or before one has served.
    const mayComeBack =
      ofRole.length === 0 &&
      !this.#hasLostLoneWorker &&
      !this.#sharing.isOn &&
      this.workersOf(TASKS).some((worker) => worker.hasServed);
    if (!takesCold && mayComeBack) return undefined;
    if (spare === undefined) this.#spawnSpare();
    return spare;
  }

  #spawnSpare(): void {
    if (this.#paused === 0 && this.#spares.length === 0) this.#spawn(undefined);
  }

  #lease(worker: WorkerProcess, port: number, wanted: Wanted): WorkerLease {
    worker.count(wanted, 1);
    let isBroken = false;
    let isLate = false;
    const isRequest = wanted.role === REQUESTS;
    const isShared = isRequest && worker.role === TASKS;
    // A request that shares a worker with bodies runs none itself, so it cannot block the worker.
    const stay = this.#blockers.enter(worker, isShared ? NO_USER : wanted.user);
    const lease: WorkerLease = {
      port,
      link: worker.link,
      isMovable: !worker.isSpent,
      isShared,
      release: async () => {
        this.#sharing.leave(lease);
        this.#blockers.leave(worker, stay, !isBroken && !isLate);
        // A worker with a broken connection is dead or still busy with an aborted request; a busy one ends once it is idle.
        if (worker.isSpent && !isBroken) {
          this.#hasLostLoneWorker = false;
          worker.retire();
        }
        // The aborted request may block the worker until it answers.
        if (isBroken) await worker.suspect();
        worker.count(wanted, -1);
        this.#waiters.serve();
      },
      broken: () => {
        isBroken = true;
        this.#suspect(worker);
      },
      late: () => {
        isLate = true;
        // The task that was not taken does not count. A worker without a body may just be slow.
        const runsBody = worker.role === TASKS && worker.tasks > (isRequest ? 0 : 1);
        if (runsBody) this.#moveRequestsFrom(worker);
        else this.#suspect(worker, true);
      },
    };
    if (isShared) this.#sharing.enter(lease, worker);
    return lease;
  }

  /** Moves requests from a worker that a body blocks to others, and gives requests their own worker from now on. */
  #moveRequestsFrom(worker: WorkerProcess): void {
    this.#suspect(worker, true);
    this.#endSharing();
    this.#sharing.moveRequests(worker);
  }

  #endSharing(): void {
    if (this.#stopping || !this.#sharing.end()) return;
    for (const worker of this.workersOf(TASKS)) this.#setRole(worker, TASKS);
    this.#hasRequests = true;
    // A ready spare serves requests at once: no body runs in it.
    this.#fill();
    this.workersOf(REQUESTS)[0]?.ready.then(
      () => this.#sharing.moveRequests(),
      () => {},
    );
  }

  #setRole(worker: WorkerProcess, role: WorkerRole | undefined): void {
    worker.role = role;
    const runsOnlyBodies = role !== undefined && role !== REQUESTS && !(role === TASKS && this.#sharing.isOn);
    // A process that could not be started has no id, and the id 0 means this process.
    if (runsOnlyBodies && worker.pid > 0) lowerPriority(worker.pid);
  }

  /**
   * Requests by frames go to task workers while these are shared, and until the first request worker serves. Other requests would wait for
   * a body that blocks a task worker, so they start a request worker.
   */
  #servedBy({ role, byFrames }: Wanted): WorkerRole {
    if (role !== REQUESTS || !this.#options.roles) return role;
    if (byFrames && (this.#sharing.isOn || !this.workersOf(REQUESTS).some(({ hasServed }) => hasServed)))
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
