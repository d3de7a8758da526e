#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
/** `local-tasks`: the Cloud Tasks server alone. It sends tasks to the addresses that they name. */
import { FlagError, type FlagValues, serve } from '@cairn/local-kit/command/serve';
import { movableClock } from '@cairn/local-kit/time/clock';
import { dispatchOverHttp } from './dispatch/over-http.ts';
import { burstFor, DEFAULT_RATE_LIMITS, DEFAULT_RETRY, type QueueConfig } from './model.ts';

const DEFAULT_PROJECT = 'demo-project';
const DEFAULT_LOCATION = 'us-central1';
/** The form of queue names in Cloud Tasks. */
const QUEUE_ID = /^[A-Za-z0-9-]{1,100}$/;

await serve(
  {
    name: 'local-tasks',
    summary: 'Serves Cloud Tasks on this machine until it is interrupted.',
    variable: 'CLOUD_TASKS_EMULATOR_HOST',
    flags: [
      { name: 'queue', value: 'NAME', help: 'a queue to create if it does not exist', multiple: true },
      { name: 'location', value: 'REGION', help: `of the queues (default ${DEFAULT_LOCATION})` },
      {
        name: 'functions',
        value: 'URL',
        help: 'target of firebase-admin tasks without a URL: tasks of queue Q go to URL/Q',
      },
      { name: 'app-engine', value: 'URL', help: 'the app that tasks for App Engine are sent to' },
    ],
    async start({ port, data, sync, project = DEFAULT_PROJECT }, values) {
      const { randomTaskId, startTasksServer } = await import('./server.ts');
      const parent = `projects/${project}/locations/${values.one('location') ?? DEFAULT_LOCATION}`;
      const queues = values.all('queue').map((id) => queueOf(parent, id));
      const functions = urlOf(values, 'functions', 'http://127.0.0.1:5001/demo/us-central1');
      const app = urlOf(values, 'app-engine', 'http://127.0.0.1:8080');
      const server = await startTasksServer({
        storage: data === undefined ? { kind: 'memory' } : { kind: 'sqlite', file: data, sync },
        port,
        clock: movableClock(Date.now),
        dispatch: dispatchOverHttp,
        freshTaskId: randomTaskId,
        ...(app !== undefined && { appEngineUrl: app }),
        ...(functions !== undefined && { functionUrl: (name) => `${functions}/${name}` }),
      });
      for (const queue of queues) server.ensureQueue(queue);
      server.start();
      return server;
    },
  },
  process.argv.slice(2),
);

/** With the defaults of Cloud Tasks. */
function queueOf(parent: string, id: string): QueueConfig {
  if (!QUEUE_ID.test(id))
    throw new FlagError(`--queue must be up to 100 letters, digits and hyphens, not '${id}'`);
  return {
    name: `${parent}/queues/${id}`,
    state: 'running',
    purgedAt: undefined,
    rateLimits: {
      ...DEFAULT_RATE_LIMITS,
      maxBurstSize: burstFor(DEFAULT_RATE_LIMITS.maxDispatchesPerSecond),
    },
    retry: DEFAULT_RETRY,
  };
}

function urlOf(values: FlagValues, flag: string, example: string): string | undefined {
  const url = values.one(flag);
  if (url !== undefined && (!/^https?:$/.test(URL.parse(url)?.protocol ?? '') || /[?#]/.test(url)))
    throw new FlagError(
      `--${flag} must be a URL without a query or fragment such as ${example}, not '${url}'`,
    );
  return url?.replace(/\/+$/, '');
}
