/**
 * The functions host: an HTTP front at which every exported function is reachable as `/{functionName}`, the
 * workers behind it, and the short way by which the task queue reaches them. Owns the table of functions.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { refusedCaller } from '@cairn/local-kit/http/loopback';
import { answerExpectations, refuse } from '@cairn/local-kit/http/problem';
import { answerUnreadable } from '@cairn/local-kit/http/unreadable';
import type { MovableClock } from '@cairn/local-kit/time/clock';
import type { DispatchOutcome, DispatchRequest } from '@cairn/local-tasks/attempt';
import { dispatchOverHttp } from './external-dispatch.ts';
import { Forwarder, withoutHopHeaders } from './forward.ts';
import type { FunctionSpec } from './function-spec.ts';
import { splitPath } from './request-shape.ts';
import { WorkerPool } from './workers/worker-pool.ts';

export interface HostOptions {
  readonly module: string;
  /** Left out: the workers run the functions themselves. */
  readonly workerMain?: string | undefined;
  /** For task-queue functions; the others have one of their own. */
  readonly workers: number;
  /** A worker that gives no sign of life for so long is killed. */
  readonly watchdogMs: number;
  readonly region: string;
  readonly clock: MovableClock;
  readonly output: number;
  /**
   * Ports this data's functions had before, the latest last. That one is taken again if it is free; tasks that
   * name any of them are meant for these functions.
   */
  readonly formerPorts: readonly number[];
  log(line: string): void;
}

export interface StartWorkers {
  readonly env: Readonly<Record<string, string>>;
  /** Called once, with the functions the module exports; answers with the values of their secrets. */
  onFunctions(functions: readonly FunctionSpec[]): Readonly<Record<string, string>>;
}

export interface FunctionsHost {
  /** Functions are at `{url}/{functionName}`. Known before any worker runs: workers are told of it. */
  readonly url: string;
  readonly port: number;
  readonly functions: ReadonlyMap<string, FunctionSpec>;
  readonly workerPids: readonly number[];
  /** The same by what they serve. */
  readonly workerPidsByRole: Readonly<Record<string, readonly number[]>>;
  /** Resolves when all workers serve. */
  startWorkers(start: StartWorkers): Promise<void>;
  /** Sends a task's request: to a worker directly if the URL is one of this host's, over HTTP otherwise. */
  dispatch(request: DispatchRequest): Promise<DispatchOutcome>;
  /** Answers the request by this function, which sees the request's own path. */
  serve(functionName: string, request: IncomingMessage, response: ServerResponse): void;
  /** Ends the workers in peace, then the front. May be called more than once. */
  stop(): Promise<void>;
}

export async function startFunctionsHost(options: HostOptions): Promise<FunctionsHost> {
  const { module, workerMain, workers, watchdogMs, region, clock, output, log } = options;
  const functions = new Map<string, FunctionSpec>();
  let running: { readonly pool: WorkerPool; readonly forwarder: Forwarder } | undefined;

  /** When the runs under way have shown under the last moved clock that they are alive. */
  let settled: Promise<unknown> = Promise.resolve();
  let stopping: Promise<void> | undefined;

  function answer(name: string, path: string, request: IncomingMessage, response: ServerResponse): void {
    const spec = functions.get(name);
    if (running === undefined) refuse(response, 503, 'the functions are starting');
    else if (spec === undefined) refuse(response, 404, `no function named '${name}'`);
    else {
      const headers = withForwardedFor(request);
      running.forwarder.forward({ spec, path, headers, request, response }).catch((error: unknown) => {
        log(`a request failed: ${String(error)}`);
        refuse(response, 500, 'the local functions host failed');
      });
    }
  }

  const front = createServer((request, response) => {
    // No platform stands in front of this port and asks who calls, as it does for private functions in production.
    const refused = refusedCaller(request.headers, 'local pages');
    if (refused !== undefined) return refuse(response, 403, refused);
    const { name, rest } = splitPath(request.url ?? '/');
    answer(name, rest, request, response);
  });
  answerUnreadable(front);
  answerExpectations(front);
  front.requestTimeout = 0;
  const port = await listen(front, options.formerPorts.at(-1) ?? 0);
  const url = urlOf(port);
  const ownUrls = [...new Set([port, ...options.formerPorts])].map((own) => `${urlOf(own)}/`);

  return {
    url,
    port,
    functions,
    get workerPids() {
      return running?.pool.pids ?? [];
    },
    get workerPidsByRole() {
      return running?.pool.pidsByRole ?? {};
    },
    async startWorkers({ env, onFunctions }) {
      let secrets: Readonly<Record<string, string>> | undefined;
      const pool = new WorkerPool({
        module,
        workerMain,
        workers,
        // Another main is one process that has others run the functions.
        roles: workerMain === undefined,
        watchdogMs,
        region,
        output,
        env,
        clockOffsetMs: clock.offsetMs,
        log,
        onLoaded(specs) {
          for (const spec of specs) functions.set(spec.name, spec);
          secrets ??= onFunctions(specs);
          return secrets;
        },
      });
      clock.onAdvance((offsetMs) => {
        settled = Promise.all([settled, pool.shiftClock(offsetMs)]);
      });
      running = { pool, forwarder: new Forwarder({ pool }) };
      await pool.start();
    },
    async dispatch(request) {
      const own = ownUrls.find((base) => request.url.startsWith(base));
      if (running === undefined || own === undefined) return dispatchOverHttp(request);
      const { name, rest } = splitPath(request.url.slice(own.length - 1));
      const spec = functions.get(name);
      if (spec === undefined) return { kind: 'answered', status: 404, retryAfter: undefined };
      // A scan, or a task that the move made due, would take every run under way for dead.
      await settled;
      if (request.signal.aborted) return { kind: 'unreachable', reason: 'abandoned' };
      return running.forwarder.dispatch(spec, rest, request);
    },
    serve: (name, request, response) => answer(name, request.url ?? '/', request, response),
    stop() {
      stopping ??= (async () => {
        front.close();
        await running?.pool.stop();
        running?.forwarder.close();
        front.closeAllConnections();
      })();
      return stopping;
    },
  };
}

const urlOf = (port: number) => `http://127.0.0.1:${port}`;

/** Listens on the wanted port or, if that is taken, on any. Returns which. */
async function listen(server: Server, wanted: number): Promise<number> {
  try {
    return await new Promise<number>((resolve, reject) => {
      server.once('error', reject);
      server.listen(wanted, '127.0.0.1', () => {
        server.off('error', reject);
        resolve((server.address() as AddressInfo).port);
      });
    });
  } catch (error) {
    if (wanted === 0) throw error;
    return listen(server, 0);
  }
}

/** The caller's headers, with what a load balancer adds: who called, by which scheme. */
function withForwardedFor(request: IncomingMessage) {
  const headers = withoutHopHeaders(request.headers);
  const before = headers['x-forwarded-for'];
  const caller = request.socket.remoteAddress ?? 'unknown';
  headers['x-forwarded-for'] = before ? `${String(before)}, ${caller}` : caller;
  headers['x-forwarded-proto'] = 'http';
  return headers;
}
