/**
 * The functions host: an HTTP front that serves every exported function at `/{functionName}`, the workers behind it, and direct
 * dispatches from the task queue. Owns the codebase of each function.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { KEEP_ALIVE_MS } from '@cairn/local-kit/http/keep-alive';
import { listenOnLoopback } from '@cairn/local-kit/http/listen';
import { refusedCaller } from '@cairn/local-kit/http/loopback';
import { createServer } from '@cairn/local-kit/http/node-http';
import { answerExpectations, refuse } from '@cairn/local-kit/http/problem';
import { readTarget } from '@cairn/local-kit/http/target';
import { answerUnreadable } from '@cairn/local-kit/http/unreadable';
import type { MovableClock } from '@cairn/local-kit/time/clock';
import type { DispatchRequest, DispatchResult } from '@cairn/local-tasks/attempt';
import { dispatchOverHttp } from '@cairn/local-tasks/over-http';
import { isScheduled } from '../scheduler/scheduled-call.ts';
import { withoutHopHeaders } from './forward.ts';
import type { FunctionSpec } from './function-spec.ts';
import { splitPath } from './request-shape.ts';
import { type Codebase, ServedCodebase, type StartWorkers } from './served-codebase.ts';
import type { WorkerProcess } from './workers/worker-process.ts';

interface HostOptions {
  readonly codebases: readonly Codebase[];
  /** Default: the workers run the functions themselves. */
  readonly workerMain?: string | undefined;
  /** Number of processes for task-queue functions; all others share another one. */
  readonly workers: number;
  /** Keeps a loaded spare worker, which replaces one that dies; default: true. */
  readonly keepsSpare?: boolean | undefined;
  /** A worker without a heartbeat for this time is killed. */
  readonly watchdogMs: number;
  readonly region: string;
  readonly clock: MovableClock;
  /** Destination of the functions' output: a file descriptor, or a function that takes lines. */
  readonly output: number | ((line: string, codebase: string) => void);
  /** Grace period in ms of a worker's requests when it is replaced; default: that of Cloud Run. */
  readonly graceMs?: number | undefined;
  /** Port of the front. Default: the earlier one, or a free one. */
  readonly port?: number | undefined;
  /**
   * Previous ports of the functions with this data, the latest last, which is used again if it is free. Tasks that name any of
   * them are for these functions.
   */
  readonly formerPorts: readonly number[];
  log(line: string): void;
}

export interface FunctionsHost {
  /** Functions are at `{url}/{functionName}`. Known before any worker runs, because workers receive it. */
  readonly url: string;
  readonly port: number;
  readonly functions: ReadonlyMap<string, FunctionSpec>;
  readonly workerPids: readonly number[];
  /** The workers' process ids by role. */
  readonly workerPidsByRole: Readonly<Record<string, readonly number[]>>;
  /** The {@link ServedCodebase.warmWorker} of the first codebase that has one. */
  readonly warmWorker: WorkerProcess | undefined;
  /** Time in ms that all workers but spares have been idle. */
  readonly idleMs: number;
  /** Lets idle workers load the libraries of a first request now instead of at the next check. */
  loadIdleWorkers(): void;
  /** Number of tasks and messages passed to workers so far, without calls by schedules. */
  readonly dispatches: number;
  /** Resolves when all workers of the codebase serve, see {@link ServedCodebase.start}. */
  startWorkers(codebase: string, start: StartWorkers): Promise<boolean>;
  /** Sends a task's request: directly to a worker if the URL is of this host, else over HTTP. */
  dispatch(request: DispatchRequest): Promise<DispatchResult>;
  /** Lets this function answer the request; it sees the unchanged path. */
  serve(functionName: string, request: IncomingMessage, response: ServerResponse): void;
  /** Stops the workers gracefully, then the front. Idempotent. */
  stop(): Promise<void>;
}

export async function startFunctionsHost(options: HostOptions): Promise<FunctionsHost> {
  const {
    codebases,
    workerMain,
    workers,
    keepsSpare = true,
    watchdogMs,
    region,
    clock,
    output,
    graceMs,
    log,
  } = options;
  const served = new Map(
    codebases.map(({ name, module, isPlain = false }): [string, ServedCodebase] => {
      // With another main there is one process, which starts its own processes for the functions.
      const roles = workerMain === undefined && !isPlain;
      const to = typeof output === 'number' ? output : (line: string) => output(line, name);
      const common = { workerMain, workers, roles, keepsSpare, watchdogMs, region, output: to, graceMs, log };
      return [name, new ServedCodebase({ ...common, module, clockOffsetMs: clock.offsetMs })];
    }),
  );
  const all = [...served.values()];
  /** The first codebase with a function of this name. Firebase refuses a second function of the same name. */
  const codebaseOf = (name: string) => all.find(({ functions }) => functions.has(name));

  /** Resolves when active runs have sent a heartbeat after the last move of the clock. */
  let settled: Promise<unknown> = Promise.resolve();
  let isStarted = false;
  let dispatches = 0;
  let stopping: Promise<void> | undefined;

  function answer(name: string, path: string, request: IncomingMessage, response: ServerResponse): void {
    const codebase = codebaseOf(name);
    const spec = codebase?.functions.get(name);
    if (!isStarted) refuse(response, 503, 'the functions are starting');
    else if (codebase === undefined || spec === undefined)
      refuse(response, 404, `no function named '${name}'`);
    else {
      const headers = withForwardedFor(request);
      codebase.forwarder.forward({ spec, path, headers, request, response }).catch((error: unknown) => {
        log(`a request failed: ${String(error)}`);
        refuse(response, 500, 'the local functions host failed');
      });
    }
  }

  const front = createServer((request, response) => {
    readTarget(request);
    // In production the platform checks callers of private functions.
    const refused = refusedCaller(request.headers, 'local pages');
    if (refused !== undefined) return refuse(response, 403, refused);
    const { name, rest } = splitPath(request.url ?? '/');
    answer(name, rest, request, response);
  });
  answerUnreadable(front);
  answerExpectations(front);
  front.requestTimeout = 0;
  front.keepAliveTimeout = KEEP_ALIVE_MS;
  const port =
    options.port === undefined
      ? await listenOrElsewhere(front, options.formerPorts.at(-1) ?? 0)
      : await listenOnLoopback(front, options.port);
  const url = urlOf(port);
  const ownUrls = [...new Set([port, ...options.formerPorts])].map((own) => `${urlOf(own)}/`);
  clock.onAdvance((offsetMs) => {
    settled = Promise.all([settled, ...all.map((codebase) => codebase.shiftClock(offsetMs))]);
  });

  return {
    url,
    port,
    get functions() {
      return new Map(all.toReversed().flatMap(({ functions }) => [...functions]));
    },
    get workerPids() {
      return all.flatMap(({ pids }) => pids);
    },
    get workerPidsByRole() {
      return byRole(all.map(({ pidsByRole }) => pidsByRole));
    },
    get warmWorker() {
      return all.find(({ warmWorker }) => warmWorker)?.warmWorker;
    },
    get idleMs() {
      return Math.min(...all.map(({ idleMs }) => idleMs));
    },
    loadIdleWorkers() {
      for (const one of all) one.loadIdleWorkers();
    },
    get dispatches() {
      return dispatches;
    },
    async startWorkers(codebase, start) {
      isStarted = true;
      return (await served.get(codebase)?.start(start)) ?? false;
    },
    async dispatch(request) {
      if (!isScheduled(request.headers)) dispatches += 1;
      const own = ownUrls.find((base) => request.url.startsWith(base));
      if (!isStarted || own === undefined) return dispatchOverHttp(request);
      const { name, rest } = splitPath(request.url.slice(own.length - 1));
      const codebase = codebaseOf(name);
      const spec = codebase?.functions.get(name);
      if (codebase === undefined || spec === undefined)
        return { kind: 'answered', status: 404, retryAfter: undefined };
      // Otherwise a scan, or a task that the move made due, would take over every active run.
      await settled;
      if (request.signal.aborted) return { kind: 'unreachable', reason: 'abandoned' };
      return codebase.forwarder.dispatch(spec, rest, request);
    },
    serve: (name, request, response) => answer(name, request.url ?? '/', request, response),
    stop() {
      stopping ??= (async () => {
        front.close();
        await Promise.all(all.map((codebase) => codebase.stop()));
        front.closeAllConnections();
      })();
      return stopping;
    },
  };
}

function byRole(parts: readonly Readonly<Record<string, readonly number[]>>[]): Record<string, number[]> {
  const merged: Record<string, number[]> = {};
  for (const [role, pids] of parts.flatMap((part) => Object.entries(part)))
    merged[role] = [...(merged[role] ?? []), ...pids];
  return merged;
}

const urlOf = (port: number) => `http://127.0.0.1:${port}`;

/** Listens on the wanted port or, if that is taken, on any. */
function listenOrElsewhere(server: Server, wanted: number): Promise<number> {
  return listenOnLoopback(server, wanted).catch((error: unknown) => {
    if (wanted === 0) throw error;
    return listenOnLoopback(server);
  });
}

/** The caller's headers, and those that a load balancer adds: address and scheme of the caller. */
function withForwardedFor(request: IncomingMessage) {
  const headers = withoutHopHeaders(request.headers);
  const before = headers['x-forwarded-for'];
  const caller = request.socket.remoteAddress ?? 'unknown';
  headers['x-forwarded-for'] = before ? `${String(before)}, ${caller}` : caller;
  headers['x-forwarded-proto'] = 'http';
  return headers;
}
