/**
 * The cost of a door before it answers, by the meter of the local cloud: one commit and one task, and no read. The queue is paused, and
 * only documents and tasks of the request itself are counted: scheduled functions and refreshed configuration read and write beside it.
 */
import { CloudTasksClient } from '@google-cloud/tasks';
import { credentials } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { control } from '../../../packages/local/src/cloud-process.ts';
import { startTestCloud, type TestCloud } from '../support.ts';
import { api, github, type Source, slack } from './sources.ts';

interface Meter {
  readonly firestore: {
    readonly byRun: Readonly<Record<string, { commits: number; reads: number; writes: number } | undefined>>;
    readonly byCollection: Readonly<Record<string, { reads: number; writes: number } | undefined>>;
  };
}

let cloud: TestCloud;
let tasks: CloudTasksClient;
let queue: string;
beforeAll(async () => {
  // A scan reads the plans of all workflows: none is due within the usual time of this test.
  cloud = await startTestCloud('memory', { tickSeconds: 60 });
  const { ready } = cloud;
  const [apiEndpoint = '', port] = ready.tasks.split(':');
  // The client looks for Google's metadata server unless told that there is none.
  process.env.METADATA_SERVER_DETECTION ??= 'none';
  const sslCreds = credentials.createInsecure();
  tasks = new CloudTasksClient({
    projectId: ready.projectId,
    apiEndpoint,
    port: Number(port),
    sslCreds,
  });
  queue = tasks.queuePath(ready.projectId, 'us-central1', 'drive');
  await tasks.pauseQueue({ name: queue });
});
afterAll(async () => {
  await tasks.close();
  await cloud.stop();
});

/** Collections that a request may read and nothing else does meanwhile. */
const OWN = ['gwi_idempotency', 'gwi_plans', 'gwi_waits'];

interface Counted {
  readonly commits: number;
  readonly reads: number;
  readonly recordsWritten: number;
  readonly tasks: number;
}

async function counted(runId: string): Promise<Counted> {
  const { firestore } = await control<Meter>(cloud.ready, 'GET', '/meter');
  const { byRun, byCollection } = firestore;
  const reads = OWN.map((name) => byCollection[name]?.reads ?? 0);
  return {
    commits: byRun[runId]?.commits ?? 0,
    reads: reads.reduce((sum, count) => sum + count, byRun[runId]?.reads ?? 0),
    recordsWritten: byCollection.gwi_idempotency?.writes ?? 0,
    tasks: await tasksOf(runId),
  };
}

async function tasksOf(runId: string): Promise<number> {
  if (runId === '') return 0;
  const [waiting] = await tasks.listTasks({ parent: queue, responseView: 'FULL' });
  const bodies = waiting.map(({ httpRequest }) => Buffer.from(httpRequest?.body ?? '').toString());
  return bodies.filter((body) => body.includes(runId)).length;
}

/** `known`: the run that the request made before; of the first request nothing is counted for its run yet. */
async function costOf(source: Source, key: string, known = '') {
  const before = await counted(known);
  const { status, runId = '' } = await source.send(cloud.ready, key);
  const after = await counted(runId);
  const names = Object.keys(before) as (keyof Counted)[];
  const cost = Object.fromEntries(names.map((name) => [name, after[name] - before[name]]));
  return { status, runId, cost };
}

const NOTHING = { commits: 0, reads: 0, recordsWritten: 0, tasks: 0 };
/** A minute later, or at another instance, the record has to be read. */
const A_LOOK = { ...NOTHING, reads: 1 };

describe('before it answers', () => {
  test.each([
    // Record, run and first event; from GitHub also a record of what happened, by whatever name it is delivered.
    { source: api, what: 'a call of the API', writes: 3, records: 1 },
    { source: github, what: 'a webhook', writes: 4, records: 2 },
    { source: slack, what: 'a slash command', writes: 3, records: 1 },
  ])(
    '$what makes one commit of $writes writes and one task, and reads nothing',
    async ({ source, writes, records }) => {
      // The first request of an instance also looks who calls.
      await source.send(cloud.ready, '0-0');
      const first = await costOf(source, '1-1');
      const cost = { commits: 1, reads: 0, recordsWritten: records, tasks: 1 };
      expect(first).toMatchObject({ status: source.made, cost });
      const { firestore } = await control<Meter>(cloud.ready, 'GET', '/meter');
      expect(firestore.byRun[first.runId]).toMatchObject({ commits: 1, writes });
      const again = await costOf(source, '1-1', first.runId);
      expect(again).toMatchObject({ status: source.again, runId: first.runId });
      expect([NOTHING, A_LOOK]).toContainEqual(again.cost);
    },
  );
});
