/**
 * What a door does before it answers, by the meter of the local cloud: one commit and one task, and no read. Nothing is
 * driven meanwhile, so that what is counted is the door's.
 */
import { CloudTasksClient } from '@google-cloud/tasks';
import { credentials } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { control } from '../../../local/cloud-process.ts';
import { startTestCloud, type TestCloud } from '../support.ts';
import { api, github, type Source, slack } from './sources.ts';

interface Meter {
  readonly firestore: {
    readonly byCall: Readonly<Record<string, { readonly calls: number } | undefined>>;
    readonly byRun: Readonly<Record<string, { readonly commits: number; readonly writes: number }>>;
    readonly byCollection: Readonly<
      Record<string, { readonly reads: number; readonly writes: number } | undefined>
    >;
  };
  readonly tasks: { readonly created: number };
}

let cloud: TestCloud;
beforeAll(async () => {
  cloud = await startTestCloud('memory');
  const { ready } = cloud;
  const [apiEndpoint = '', port] = ready.tasks.split(':');
  // The client looks for Google's metadata server unless told that there is none.
  process.env.METADATA_SERVER_DETECTION ??= 'none';
  const sslCreds = credentials.createInsecure();
  const tasks = new CloudTasksClient({
    projectId: ready.projectId,
    apiEndpoint,
    port: Number(port),
    sslCreds,
  });
  await tasks.pauseQueue({ name: tasks.queuePath(ready.projectId, 'us-central1', 'drive') });
  await tasks.close();
});
afterAll(() => cloud.stop());

/** What was done so far, but for what the scheduled functions do each minute: look, and leave one write as a sign of life. */
async function counted() {
  const { firestore, tasks } = await control<Meter>(cloud.ready, 'GET', '/meter');
  const { byCall, byCollection } = firestore;
  return {
    commits: (byCall.Commit?.calls ?? 0) - (byCollection.gwi_config?.writes ?? 0),
    reads: byCall.BatchGetDocuments?.calls ?? 0,
    recordsRead: byCollection.gwi_idempotency?.reads ?? 0,
    tasks: tasks.created,
  };
}

async function costOf(source: Source, key: string) {
  const before = await counted();
  const { status, runId = '' } = await source.send(cloud.ready, key);
  const after = await counted();
  const names = Object.keys(before) as (keyof typeof before)[];
  const cost = Object.fromEntries(names.map((name) => [name, after[name] - before[name]]));
  return { status, runId, cost };
}

const ONCE = { commits: 1, reads: 0, recordsRead: 0, tasks: 1 };
const NOTHING = { commits: 0, reads: 0, recordsRead: 0, tasks: 0 };
/** A minute later, or at another instance, the record has to be read. */
const A_LOOK = { ...NOTHING, reads: 1, recordsRead: 1 };

describe('before it answers', () => {
  test.each([
    // Record, run and first event; from GitHub also a record of what happened, by whatever name it is delivered.
    { source: api, what: 'a call of the API', writes: 3 },
    { source: github, what: 'a webhook', writes: 4 },
    { source: slack, what: 'a slash command', writes: 3 },
  ])(
    '$what makes one commit of $writes writes and one task, and reads nothing',
    async ({ source, writes }) => {
      // The first request of an instance also looks who calls.
      await source.send(cloud.ready, '0-0');
      const first = await costOf(source, '1-1');
      expect(first).toMatchObject({ status: source.made, cost: ONCE });
      const { firestore } = await control<Meter>(cloud.ready, 'GET', '/meter');
      expect(firestore.byRun[first.runId]).toMatchObject({ commits: 1, writes });
      const again = await costOf(source, '1-1');
      expect(again).toMatchObject({ status: source.again, runId: first.runId });
      expect([NOTHING, A_LOOK]).toContainEqual(again.cost);
    },
  );
});
