/**
 * One worker process, in the cloud process: spawning, handshake, requests in flight, and end. The pool decides when a worker is
 * started and which request it gets.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { FrameClient } from '@cairn/local-kit/wire/frame-client';
import { nodeFlags } from '../../node-flags.ts';
import type { FunctionSpec } from '../function-spec.ts';
import { openLink } from '../link/open-link.ts';
import type { Responsiveness, WorkerFacts } from './choice.ts';
import { type FromWorker, fromWorker, type ToWorker, type WarmUpServers } from './messages.ts';
import { Probes } from './probes.ts';
import { hasRoom, REQUESTS, type WorkerRole } from './roles.ts';
import { memoryLimitMib } from './watchdog.ts';
import { NO_USER, type Wanted } from './worker-lease.ts';

/** Loads the functions and serves them itself. */
const WORKER_MAIN = fileURLToPath(new URL('./worker.ts', import.meta.url));

export interface WorkerOptions {
  /** Another main that exchanges the messages of `messages.ts`; default: `worker.ts`. */
  readonly workerMain?: string | undefined;
  readonly module: string;
  readonly region: string;
  readonly env: Readonly<Record<string, string>>;
  /** Values of secrets that are known before the functions are loaded; only declared ones are kept. */
  readonly secrets?: Readonly<Record<string, string>> | undefined;
  clockOffsetMs(): number;
  readonly output: OutputTarget;
  /** Grace period in ms of current requests when it ends; default: that of Cloud Run. */
  readonly graceMs?: number | undefined;
  /**
   * Called with the loaded functions and the names of their parameters without a value; returns environment variables that are set
   * before they serve.
   */
  onLoaded(functions: readonly FunctionSpec[], unset: readonly string[]): Readonly<Record<string, string>>;
}

/** Destination of the functions' output: a file descriptor, or a function that takes lines. */
type OutputTarget = number | ((line: string) => void);

/** End of a worker. `error` is set if it could not load or serve the functions. */
export interface WorkerEnd {
  readonly pid: number;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly error: string | undefined;
}

/** The module of the functions is at fault; the message is for its author. */
export class FunctionsNotLoadedError extends Error {
  override readonly name = 'FunctionsNotLoadedError';
}

function failureOf(end: WorkerEnd): Error {
  const message = describeEnd(end);
  return end.error === undefined ? new Error(message) : new FunctionsNotLoadedError(message);
}

/** Much longer than most work between two turns of an event loop. */
const LATE_AFTER_MS = 500;
/** Three heartbeats: longer than a garbage collection, shorter than a lease. Counted as {@link WorkerProcess.silentMs} is. */
const HANGS_AFTER_MS = 3_000;

export class WorkerProcess {
  readonly #child: ChildProcess;
  /** Numbers of requests in flight by function, and by function and user. */
  readonly #inFlight = new Map<string, number>();
  /** Undefined for a spare. */
  role: WorkerRole | undefined;
  /** True from a request that it did not take in time until it responds again. */
  #isLate = false;
  /** The probe that it has not answered yet. */
  #probe: { readonly sentAt: number; readonly over: Promise<void> } | undefined;
  /** True once a worker that serves one request has got it. */
  isSpent = false;
  #load = 0;
  #idleSince = performance.now();
  #silentMs = 0;
  #hasServed = false;
  #isWarm = false;
  #isToldToLoad = false;
  #retired = false;
  #isKilled = false;
  #memoryLimitMib = memoryLimitMib([]);
  #error: string | undefined;
  #port: number | undefined;
  #link: FrameClient | undefined;
  readonly #probes = new Probes(() => this.#send({ kind: 'are-you-alive' }));
  /** Requests and tasks in flight. */
  #underWay = { requests: 0, tasks: 0 };
  /** True once a task has ended, so that the worker has loaded what tasks need. */
  #hasEndedTask = false;
  /** True if a request was assigned since the last check. */
  #hadRequest = false;
  #answerTime: number | 'missing' | undefined;
  /** Callbacks of unanswered moves of the clock. */
  readonly #onMoved: (() => void)[] = [];
  #onServesWarmUp: ((isServing: boolean) => void) | undefined;
  /** Settles with the port, or rejects if the worker ends first. */
  readonly ready: Promise<number>;
  readonly ended: Promise<WorkerEnd>;

  constructor(options: WorkerOptions) {
    const { module, region, env, secrets, output, workerMain = WORKER_MAIN } = options;
    const to = typeof output === 'number' ? output : 'pipe';
    this.#child = fork(workerMain, {
      execArgv: [...nodeFlags(env), ...typeFlags(module)],
      // Standard output of the cloud process belongs to `--json`.
      stdio: ['ignore', to, to, 'ipc'],
    });
    if (typeof output !== 'number') {
      for (const input of [this.#child.stdout, this.#child.stderr])
        if (input) createInterface({ input }).on('line', output);
    }
    this.ended = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => {
        this.#port = undefined;
        this.#probes.forget();
        resolve({ pid: this.pid, code, signal, error: this.#error });
      });
    });
    this.ready = new Promise((resolve, reject) => {
      this.#child.on('message', (sent: unknown) => {
        const message = fromWorker(sent);
        if (message === undefined || (this.#hasServed && isOfStart(message))) return;
        if (message.kind === 'loaded') {
          this.#memoryLimitMib = memoryLimitMib(message.functions);
          this.#send({ kind: 'serve', env: options.onLoaded(message.functions, message.unset ?? []) });
        }
        this.#silentMs = 0;
        this.#isLate = false;
        if (message.kind === 'warm') this.#isWarm = true;
        if (message.kind === 'serves-warm-up') this.#onServesWarmUp?.(message.isServing);
        if (message.kind === 'alive') this.#probes.answeredByChannel();
        if (message.kind === 'clock-moved') this.#onMoved.shift()?.();
        if (message.kind === 'failed') this.#error = message.error;
        if (message.kind === 'ready') {
          this.#port = message.port;
          this.#hasServed = true;
          this.#idleSince = performance.now();
          if (message.hasLink) void openLink(message.port).then((link) => this.#linked(link));
          resolve(message.port);
        }
      });
      this.#child.once('error', reject);
      void this.ended.then((end) => reject(failureOf(end)));
    });
    this.ready.catch(() => {});
    const { graceMs } = options;
    const clockOffsetMs = options.clockOffsetMs();
    this.#send({ kind: 'load', module, region, env, secrets, clockOffsetMs, graceMs });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Undefined while the worker does not serve: before its start, after its end, and while it is suspected to be dead. */
  get port(): number | undefined {
    return this.#port;
  }

  /** Link for requests by frames; undefined until it is open, and for a worker without it. */
  get link(): FrameClient | undefined {
    return this.#link;
  }

  /** True once it has loaded the libraries of a first request. */
  get isWarm(): boolean {
    return this.#isWarm;
  }

  get hasServed(): boolean {
    return this.#hasServed;
  }

  /** True if it got SIGTERM because it was superfluous. */
  get isRetired(): boolean {
    return this.#retired;
  }

  /** True if the process was killed but has not ended yet. */
  get isKilled(): boolean {
    return this.#isKilled;
  }

  /** Limit above which the process is killed. */
  get memoryLimitMib(): number {
    return this.#memoryLimitMib;
  }

  retire(): void {
    this.#retired = true;
    this.kill('SIGTERM');
  }

  factsFor(
    { name, concurrency }: FunctionSpec,
    user: string,
  ): Omit<WorkerFacts, 'servesOthers' | 'servesBlocker'> {
    const own = this.#inFlight.get(keyOf(name, user)) ?? 0;
    const all = this.#inFlight.get(name) ?? 0;
    return {
      state: this.#responsiveness,
      hasRoom: !this.isSpent && hasRoom(concurrency, { own, all }),
      load: this.#load,
      servesUser: own > 0 && user !== NO_USER,
    };
  }

  get #responsiveness(): Responsiveness {
    if (!this.#hasServed) return 'starting';
    if (this.hangs) return 'blocked';
    const probedMs = performance.now() - (this.#probe?.sentAt ?? performance.now());
    if (this.#isLate || probedMs > LATE_AFTER_MS) return 'late';
    // `starting` also during a probe, for example after a move of the clock; it is soon answered.
    return this.#port === undefined ? 'starting' : 'responding';
  }

  count({ spec: { name }, user, role }: Omit<Wanted, 'takesCold'>, by: 1 | -1): void {
    this.#load += by;
    this.#idleSince = performance.now();
    this.#underWay[role === REQUESTS ? 'requests' : 'tasks'] += by;
    if (role === REQUESTS) this.#hadRequest = true;
    else if (by < 0) this.#hasEndedTask = true;
    for (const key of [name, keyOf(name, user)]) {
      const count = (this.#inFlight.get(key) ?? 0) + by;
      if (count === 0) this.#inFlight.delete(key);
      else this.#inFlight.set(key, count);
    }
  }

  get isIdle(): boolean {
    return this.#load === 0;
  }

  /** Time in ms that it has been idle. */
  get idleMs(): number {
    return this.#load > 0 ? 0 : performance.now() - this.#idleSince;
  }

  /**
   * Time in ms without a heartbeat, counted in checks ({@link silentFor}), so that a pause of this process does not count. 0 until it
   * serves, because loading may take long.
   */
  get silentMs(): number {
    return this.#silentMs;
  }

  /** Adds a check after `tickMs` to {@link silentMs} and returns the sum. */
  silentFor(tickMs: number): number {
    this.#silentMs = this.#hasServed ? this.#silentMs + tickMs : 0;
    return this.#silentMs;
  }

  /**
   * Time in ms that it has answered nothing while it sent heartbeats, counted like {@link silentMs}. 0 if it does not serve or is
   * ending.
   */
  unansweredFor(tickMs: number): number {
    return this.#hasServed && !this.#retired ? this.#probes.unansweredFor(tickMs, !this.hangs) : 0;
  }

  /** True if it was stopped, or its event loop is blocked. */
  get hangs(): boolean {
    return this.#silentMs > HANGS_AFTER_MS;
  }

  /** Makes it load the libraries of a first request. Idempotent. */
  warmUp(): void {
    if (this.#isToldToLoad) return;
    this.#isToldToLoad = true;
    this.#send({ kind: 'warm-up' });
  }

  /** Makes it serve the functions of a warm-up. Resolves with false if it has none or has ended. */
  serveWarmUp(servers: WarmUpServers): Promise<boolean> {
    const answered = new Promise<boolean>((resolve) => {
      this.#onServesWarmUp = resolve;
    });
    this.#send({ kind: 'serve-warm-up', servers });
    return Promise.race([answered, this.ended.then(() => false)]);
  }

  endWarmUp(): void {
    this.#send({ kind: 'end-warm-up' });
  }

  /** Resolves when its active work has recorded the new time, or when it has ended. */
  async shiftClock(offsetMs: number): Promise<void> {
    const moved = new Promise<void>((resolve) => {
      this.#onMoved.push(resolve);
    });
    this.#send({ kind: 'clock', offsetMs });
    await Promise.race([moved, this.ended]);
  }

  /**
   * Assigns it no request until it has answered a probe. Call this after a connection broke, because the port of a dying process may still
   * accept connections; after it was late (`isLate`); or after a change that the next request must see. Resolves when it serves again or
   * has ended.
   */
  async suspect(isLate = false): Promise<void> {
    this.#isLate ||= isLate;
    const port = this.#port;
    if (port !== undefined) {
      this.#port = undefined;
      const answered = new Promise<void>((resolve) => {
        this.#probes.ask(() => {
          this.#port = port;
          this.#probe = undefined;
          resolve();
        });
      });
      const over = Promise.race([answered, this.ended.then(() => {})]);
      this.#probe = { sentAt: performance.now(), over };
    }
    await this.#probe?.over;
  }

  /** Number of tasks in flight, whose bodies may block it. */
  get tasks(): number {
    return this.#underWay.tasks;
  }

  /** True if tasks are in flight, and requests are or were since the last call. */
  takeServedBoth(): boolean {
    const hadRequest = this.#hadRequest || this.#underWay.requests > 0;
    this.#hadRequest = false;
    return hadRequest && this.#hasEndedTask && this.tasks > 0 && this.#port !== undefined;
  }

  /** Sends a probe; {@link takeAnswerTime} returns the time until its answer. */
  timeAnswer(): void {
    const sentAt = performance.now();
    this.#answerTime = 'missing';
    this.#probes.ask(() => {
      this.#answerTime = performance.now() - sentAt;
    });
  }

  /** Time in ms of the last {@link timeAnswer}; undefined if there is none or it was already taken. */
  takeAnswerTime(): number | 'missing' | undefined {
    const answer = this.#answerTime;
    this.#answerTime = undefined;
    return answer;
  }

  kill(signal: NodeJS.Signals): void {
    this.#isKilled ||= signal === 'SIGKILL';
    this.#child.kill(signal);
  }

  #linked(link: FrameClient | undefined): void {
    this.#link = link;
    if (link) this.#probes.useLink(link);
    void this.ended.then(() => link?.close());
  }

  #send(message: ToWorker): void {
    // A closed channel means that the worker is ending, which `ended` reports.
    if (this.#child.connected) this.#child.send(message, () => {});
  }
}

/** Messages that a worker sends only before it serves. */
const isOfStart = ({ kind }: FromWorker) => kind === 'loaded' || kind === 'ready';

const keyOf = (functionName: string, user: string) => `${functionName} ${user}`;

/** Process ids by role; also `spare`, and `starting` for those that do not serve yet. */
export function pidsByRole(workers: ReadonlySet<WorkerProcess>): Readonly<Record<string, readonly number[]>> {
  const byRole: Record<string, number[]> = {};
  for (const { pid, port, role = port === undefined ? 'starting' : 'spare' } of workers) {
    byRole[role] ??= [];
    byRole[role].push(pid);
  }
  return byRole;
}

/** A Node before 22.18 strips types only with a flag. */
function typeFlags(module: string): string[] {
  return /\.m?ts$/.test(module) && !process.features.typescript ? ['--experimental-strip-types'] : [];
}

/** One line for a spare that could not be loaded, because other workers report the stack. */
export function describeEnd({ pid, code, signal, error }: WorkerEnd, worker?: WorkerProcess): string {
  if (error !== undefined && worker && worker.role === undefined)
    return `a spare worker could not load the functions (${error.split('\n', 1)[0]})`;
  if (error !== undefined) return `the functions could not be loaded:\n${error}`;
  return signal ? `worker ${pid} was ended by ${signal}` : `worker ${pid} exited with code ${code}`;
}
