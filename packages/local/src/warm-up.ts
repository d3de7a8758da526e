/**
 * Warms up an idle local cloud. V8 interprets code that it has seldom called, so each of the first dozens of runs takes up to three times
 * as long as later ones. One worker executes no-op runs through a separate gateway, API, Cloud Tasks and Firestore in the memory of this
 * process. Each run starts only after no worker has had a request for a while.
 *
 * Must not: touch the data, the counts or the log of the cloud.
 */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from '@cairn/local-kit/http/node-http';
import { randomTaskId, startTasksServer } from '@cairn/local-tasks/server';
import { CleanupStack } from './cleanup-stack.ts';
import { DEV_CLIENT_ID, writeDevClient } from './dev-client.ts';
import { startGateway } from './gateway/gateway.ts';
import { Forwarder, withoutHopHeaders } from './host/forward.ts';
import type { FunctionSpec, FunctionStore, QueueTrigger } from './host/function-spec.ts';
import type { FunctionsHost } from './host/host.ts';
import { queueOf } from './host/queue-of.ts';
import { WARM_UP } from './host/workers/messages.ts';
import { NoWorkerError } from './host/workers/worker-lease.ts';
import type { WorkerPool } from './host/workers/worker-pool.ts';
import type { WorkerProcess } from './host/workers/worker-process.ts';
import { isShortLived } from './node-flags.ts';
import type { Setting } from './stand-ins.ts';

/** Number of runs after which a further one saves less than it costs. */
const RUNS = 200;
/** Enough concurrent runs to keep both processes busy, but few enough that a user's request does not wait long for them. */
const AT_ONCE = 8;
/** Time without requests before the first run, so that the warm-up does not delay the rest of the start. */
const IDLE_MS = 200;
/** Time without requests after a user's request, because the user may soon send another. */
const PAUSE_MS = 500;
const LOOK_EVERY_MS = 50;
/** Time limit of the warm-up. By then a cloud that is never idle was warmed up by its users' requests. */
const LIMIT_MS = 60_000;
/** Time limit of a run; only a worker that is blocked or has ended takes longer. */
const RUN_LIMIT_S = 10;
/** Time in which the end of a worker is noticed after its connection broke. */
const END_NOTICED_MS = 2_000;

type Worker = Pick<WorkerProcess, 'port' | 'link' | 'ended' | 'serveWarmUp' | 'endWarmUp'>;

export interface WarmUpHost extends Pick<FunctionsHost, 'idleMs' | 'loadIdleWorkers'> {
  readonly warmWorker: Worker | undefined;
}

interface WarmUpOptions {
  readonly setting: Pick<Setting, 'projectId' | 'clock' | 'env' | 'dev' | 'log'>;
  readonly region: string;
  /** Location of the functions' runs, which these runs use on another server. Undefined without an installation of Cairn. */
  readonly store: FunctionStore | undefined;
  readonly host: WarmUpHost;
  /** Epoch ms of the machine's clock, which is never moved. */
  machineNow(): number;
}

interface WarmUp {
  /** Resolves with the number of runs once no more will follow. Never rejects. */
  readonly ended: Promise<number>;
  /** Ends it; resolves when it has ended. */
  stop(): Promise<unknown>;
}

/** Begins once a worker is idle. A failure ends it; then the first requests are as slow as without it. */
export function startWarmUp(options: WarmUpOptions): WarmUp {
  const { setting, store } = options;
  if (!store || isShortLived(setting.env)) return { ended: Promise.resolve(0), stop: async () => {} };
  const stopping = new AbortController();
  const ended = warmUp({ ...options, store, signal: stopping.signal });
  return {
    ended,
    stop() {
      stopping.abort();
      return ended;
    },
  };
}

interface WarmingUp extends WarmUpOptions {
  readonly store: FunctionStore;
  /** Aborted: no further run begins. */
  readonly signal: AbortSignal;
}

async function warmUp(options: WarmingUp): Promise<number> {
  const { setting, host, signal } = options;
  const failed = (error: unknown) =>
    setting.log(`the warm-up failed, so the first runs are slower: ${String(error)}`);
  const until = performance.now() + LIMIT_MS;
  /** Aborted when the worker has ended, or a run has failed. */
  const over = new AbortController();
  /** Returns the warm worker once all workers were idle for `ms`; undefined if no further run must begin. */
  const idleFor = async (ms: number) => {
    while (!signal.aborted && !over.signal.aborted && performance.now() < until) {
      if (host.warmWorker && host.idleMs >= ms) return host.warmWorker;
      host.loadIdleWorkers();
      await delay(LOOK_EVERY_MS, undefined, { signal, ref: false }).catch(() => {});
    }
    return undefined;
  };
  const worker = await idleFor(IDLE_MS);
  if (!worker) return 0;
  const idleSince = performance.now() - IDLE_MS;
  void worker.ended.then(() => over.abort());
  const stack = new CleanupStack();
  stack.defer(() => worker.endWarmUp());
  let runs = 0;
  try {
    const url = await serve(worker, options, stack);
    if (url === undefined) return runs;
    const agent = new Agent({ keepAlive: true });
    stack.defer(() => agent.destroy());
    const api = { url, agent, key: `cairn_${DEV_CLIENT_ID}_${setting.dev.apiSecret}`, signal: over.signal };
    let begun = 0;
    const caller = async () => {
      const pauseMs = () => Math.min(PAUSE_MS, performance.now() - idleSince);
      while (begun < RUNS && (await idleFor(pauseMs())) === worker) {
        // Another loop may have started the last run meanwhile.
        if (begun === RUNS) return;
        begun += 1;
        await completed(api);
        runs += 1;
      }
    };
    const callers = Array.from({ length: AT_ONCE }, caller);
    stack.defer(() => Promise.allSettled(callers));
    stack.defer(() => over.abort());
    await Promise.all(callers);
  } catch (error) {
    const isDead = worker.ended.then(() => true);
    if (!(await Promise.race([isDead, delay(END_NOTICED_MS, false, { ref: false })]))) failed(error);
  } finally {
    await stack.close().catch(failed);
  }
  return runs;
}

const START = JSON.stringify({ type: 'warm-up', input: {} });

/** @returns the URL of the API; undefined if the worker has no installation of Cairn */
async function serve(
  worker: Worker,
  { setting, region, store, machineNow }: WarmingUp,
  stack: CleanupStack,
): Promise<string | undefined> {
  const { projectId, clock, dev } = setting;
  const pool = poolOf(worker);
  const forwarder = new Forwarder({ pool: () => pool });
  stack.defer(() => forwarder.close());
  const { startFirestoreServer } = await import('@cairn/local-firestore/server');
  const firestore = await startFirestoreServer({
    storage: { kind: 'memory' },
    clock: clock.now,
    awaitsIndexes: true,
  });
  stack.defer(() => firestore.stop());
  firestore.useIndexes(store.indexes);
  const drive = specOf(WARM_UP.drive, QUEUE, region);
  const tasks = await startTasksServer({
    storage: { kind: 'memory' },
    clock,
    dispatch: (task) => forwarder.dispatch(drive, '/', task),
    freshTaskId: randomTaskId,
  });
  stack.defer(() => tasks.stop());
  const queue = { ...drive, name: QUEUE_NAME };
  tasks.ensureQueue(queueOf(projectId, queue, QUEUE));
  const driveUrl = `http://127.0.0.1/${QUEUE_NAME}`;
  const { database, collectionPrefix } = store;
  const servers = {
    firestore: firestore.host,
    tasks: tasks.host,
    region,
    database,
    collectionPrefix,
    driveUrl,
  };
  if (!(await worker.serveWarmUp(servers))) return undefined;
  await writeDevClient({ ...servers, projectId, secret: dev.apiSecret, now: machineNow() });
  const api = specOf(WARM_UP.api, { kind: 'https' }, region);
  const gateway = await startGateway({
    port: 0,
    now: clock.now,
    rewrites: () => [{ functionName: WARM_UP.api, matches: () => true }],
    serve: (_, incoming, response) =>
      void forwarder.forward({
        spec: api,
        path: incoming.url ?? '/',
        headers: withoutHopHeaders(incoming.headers),
        request: incoming,
        response,
      }),
  });
  stack.defer(() => gateway.stop(0));
  tasks.start();
  return gateway.url;
}

const QUEUE_NAME = 'warm-up';
const QUEUE: QueueTrigger = {
  kind: 'task-queue',
  retry: {
    maxAttempts: 1,
    maxRetrySeconds: undefined,
    minBackoffSeconds: undefined,
    maxBackoffSeconds: undefined,
    maxDoublings: undefined,
  },
  rates: { maxDispatchesPerSecond: 500, maxConcurrentDispatches: undefined },
};

const specOf = (name: string, trigger: FunctionSpec['trigger'], region: string): FunctionSpec => ({
  name,
  region,
  trigger,
  timeoutSeconds: 3 * RUN_LIMIT_S,
  concurrency: 80,
  secrets: [],
  takesWhole: true,
});

/** A pool of this worker only, which does not count these requests, so that it stays idle. */
function poolOf(worker: Worker): Pick<WorkerPool, 'acquire'> {
  const nothing = () => {};
  return {
    async acquire() {
      const { port, link } = worker;
      // HTTP requests would reach functions of the codebase.
      if (port === undefined || !link?.isOpen) throw new NoWorkerError(503, 'the worker has ended');
      return {
        port,
        link,
        isMovable: false,
        isShared: false,
        release: nothing,
        broken: nothing,
        late: nothing,
      };
    },
  };
}

interface Api {
  readonly url: string;
  readonly agent: InstanceType<typeof Agent>;
  readonly key: string;
  readonly signal: AbortSignal;
}

/** Starts a run, and waits until it is completed. @throws Error if it is not */
async function completed(api: Api): Promise<void> {
  const { runId } = await call(api, 'POST', '/v1/runs', START);
  const { status } = await call(api, 'GET', `/v1/runs/${runId}?wait=${RUN_LIMIT_S}s`);
  if (status !== 'completed') throw new Error(`a run is ${status} after ${RUN_LIMIT_S} s`);
}

interface RunAnswer {
  readonly runId: string;
  readonly status: string;
}

/** @throws Error with the status, unless it is 2xx */
async function call(api: Api, method: string, path: string, body = ''): Promise<RunAnswer> {
  const headers = {
    authorization: `Bearer ${api.key}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  };
  const signal = AbortSignal.any([api.signal, AbortSignal.timeout(2_000 * RUN_LIMIT_S)]);
  const sent = request(api.url + path, { method, headers, agent: api.agent, signal });
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of answer.setEncoding('utf8')) text += chunk;
  const { statusCode = 0 } = answer;
  if (statusCode >= 300) throw new Error(`${method} ${path}: ${statusCode} ${text}`);
  return JSON.parse(text) as RunAnswer;
}
