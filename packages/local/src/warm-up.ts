/**
 * Warms up an idle local cloud: V8 interprets what it has seldom called, so the first dozens of runs take three times as long as later ones. An
 * idle worker executes runs that mean nothing, on servers of their own in the memory of this process, through everything that a user's run
 * passes: a gateway, the API, Cloud Tasks and Firestore. Each run waits until no request of a user has come for a while.
 *
 * Must not: touch the data, the counts or the log of the cloud.
 */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { startFirestoreServer } from '@cairn/local-firestore/server';
import { Agent, request } from '@cairn/local-kit/http/node-http';
import { randomTaskId, startTasksServer } from '@cairn/local-tasks/server';
import { CleanupStack } from './cleanup-stack.ts';
import { DEV_CLIENT_ID, writeDevClient } from './dev-client.ts';
import { startGateway } from './gateway/gateway.ts';
import { Forwarder, withoutHopHeaders } from './host/forward.ts';
import type { FunctionSpec, FunctionStore, QueueTrigger } from './host/function-spec.ts';
import { queueOf } from './host/queue-of.ts';
import { WARM_UP } from './host/workers/messages.ts';
import { NoWorkerError } from './host/workers/worker-lease.ts';
import type { WorkerPool } from './host/workers/worker-pool.ts';
import type { WorkerProcess } from './host/workers/worker-process.ts';
import { isShortLived } from './node-flags.ts';
import type { Setting } from './stand-ins.ts';

/** After as many, a further one saves less than it costs (docs/performance.md). */
const RUNS = 60;
/** Pause of the user's requests before the first run, and after a request. */
const IDLE_MS = 1_000;
const LOOK_EVERY_MS = 100;
/** Only a worker that is blocked or has ended takes longer. */
const RUN_LIMIT_MS = 10_000;

export type WarmWorker = Pick<
  WorkerProcess,
  'port' | 'link' | 'idleMs' | 'ended' | 'serveWarmUp' | 'endWarmUp'
>;

interface WarmUpOptions {
  readonly setting: Pick<Setting, 'projectId' | 'clock' | 'env' | 'dev' | 'log'>;
  readonly region: string;
  /** Location of the functions' runs: these runs have the same on another server. Undefined: there is no installation of Cairn. */
  readonly store: FunctionStore | undefined;
  /** Undefined: none is ready yet. */
  readonly worker: () => WarmWorker | undefined;
}

interface WarmUp {
  /** Resolves with the number of runs once no more will follow. */
  readonly ended: Promise<number>;
  /** Ends it; resolves when it has ended. */
  stop(): Promise<unknown>;
}

/** Begins once a worker is idle. A failure ends it: then the first requests are as slow as they would be without it. */
export function startWarmUp({ setting, region, store, worker }: WarmUpOptions): WarmUp {
  if (!store || isShortLived(setting.env)) return { ended: Promise.resolve(0), stop: async () => {} };
  const stopping = new AbortController();
  const ended = warmUp({ setting, region, store, worker, stopping });
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
  readonly stopping: AbortController;
}

async function warmUp(options: WarmingUp): Promise<number> {
  const { setting, stopping } = options;
  const { signal } = stopping;
  let runs = 0;
  const stack = new CleanupStack();
  try {
    const worker = await idleWorker(options.worker, signal);
    const dead = new AbortController();
    void worker.ended.then(() => {
      stopping.abort();
      dead.abort();
    });
    stack.defer(() => worker.endWarmUp());
    const url = await serve(worker, options, stack);
    if (url === undefined) return runs;
    const agent = new Agent({ keepAlive: true });
    stack.defer(() => agent.destroy());
    const api = { url, agent, key: `cairn_${DEV_CLIENT_ID}_${setting.dev.apiSecret}`, signal: dead.signal };
    for (; runs < RUNS; runs += 1) {
      await idle(worker, signal);
      const { runId } = await call(api, 'POST', '/v1/runs', START);
      await call(api, 'GET', `/v1/runs/${runId}?wait=${RUN_LIMIT_MS / 1_000}s`);
    }
  } catch (error) {
    if (!signal.aborted) setting.log(`the warm-up of the workers failed: ${String(error)}`);
  } finally {
    await stack.close();
  }
  return runs;
}

const START = JSON.stringify({ type: 'warm-up', input: {} });

async function idleWorker(find: WarmUpOptions['worker'], signal: AbortSignal): Promise<WarmWorker> {
  for (;;) {
    const worker = find();
    if (worker) return worker;
    await pause(signal);
  }
}

async function idle(worker: WarmWorker, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  // After a move of the clock it has no port until it has answered.
  while (worker.port === undefined || worker.idleMs < IDLE_MS) await pause(signal);
}

const pause = (signal: AbortSignal) => delay(LOOK_EVERY_MS, undefined, { signal, ref: false });

/** @returns the URL of the API; undefined: the worker has no installation of Cairn */
async function serve(
  worker: WarmWorker,
  { setting, region, store }: WarmingUp,
  stack: CleanupStack,
): Promise<string | undefined> {
  const { projectId, clock, dev } = setting;
  const pool = poolOf(worker);
  const forwarder = new Forwarder({ pool: () => pool });
  stack.defer(() => forwarder.close());
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
  if (!(await worker.serveWarmUp({ firestore: firestore.host, tasks: tasks.host, driveUrl })))
    return undefined;
  await writeDevClient({
    ...store,
    firestore: firestore.host,
    projectId,
    secret: dev.apiSecret,
    now: clock.now(),
  });
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
  timeoutSeconds: RUN_LIMIT_MS / 1_000,
  concurrency: 80,
  secrets: [],
  takesWhole: true,
});

/** Only this worker, which does not count these requests, so that it stays idle. */
function poolOf({ port = 0, link }: WarmWorker): Pick<WorkerPool, 'acquire'> {
  const nothing = () => {};
  let isBroken = false;
  const broken = () => {
    isBroken = true;
  };
  const lease = { port, link, isMovable: false, isShared: false, release: nothing, broken, late: nothing };
  return {
    async acquire() {
      if (isBroken) throw new NoWorkerError(503, 'the worker refuses connections');
      return lease;
    },
  };
}

interface Api {
  readonly url: string;
  readonly agent: InstanceType<typeof Agent>;
  readonly key: string;
  readonly signal: AbortSignal;
}

/** @throws Error with the status, unless it is 2xx */
async function call(api: Api, method: string, path: string, body = ''): Promise<{ readonly runId: string }> {
  const headers = {
    authorization: `Bearer ${api.key}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  };
  const signal = AbortSignal.any([api.signal, AbortSignal.timeout(2 * RUN_LIMIT_MS)]);
  const sent = request(api.url + path, { method, headers, agent: api.agent, signal });
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of answer.setEncoding('utf8')) text += chunk;
  const { statusCode = 0 } = answer;
  if (statusCode >= 300) throw new Error(`${method} ${path}: ${statusCode} ${text}`);
  return JSON.parse(text) as { runId: string };
}
