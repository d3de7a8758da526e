/**
 * Cost of a request before it is answered, by the meter of the local cloud: one commit and one task, and no read. The queue is
 * paused, so that nothing else reads or writes.
 */
import { CloudTasksClient } from '@google-cloud/tasks';
import { credentials } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { control } from '../../../packages/local/src/cloud-process.ts';
import { api, github, type Source, slack } from '../entry-points/sources.ts';
import type { CloudStage } from '../support.ts';

interface Meter {
  readonly firestore: {
    readonly byRun: Readonly<Record<string, { commits: number; reads: number; writes: number } | undefined>>;
    readonly byCollection: Readonly<Record<string, { reads: number; writes: number } | undefined>>;
  };
}

interface Counted {
  readonly commits: number;
  readonly reads: number;
  readonly recordsWritten: number;
  readonly tasks: number;
}

/** Tries, because a slow machine may answer before the run exists, with the same cost but without its id. */
const MOST_TRIES = 3;

const NOTHING = { commits: 0, reads: 0, recordsWritten: 0, tasks: 0 };
/** After a minute, or on another instance, the record is read. */
const ONE_READ = { ...NOTHING, reads: 1 };

/** @param stage its cloud has one queue and no scheduled functions, and has had no request yet */
export function costOfRequests(stage: CloudStage): void {
  describe('before it answers', () => {
    let tasks: CloudTasksClient;
    let queue: string;
    beforeAll(async () => {
      const { ready } = stage.cloud;
      const [apiEndpoint = '', port] = ready.tasks.split(':');
      // Otherwise the client searches for Google's metadata server.
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
      // Removes the tasks, because no later suite expects these runs.
      await tasks.purgeQueue({ name: queue });
      await tasks.resumeQueue({ name: queue });
      await tasks.close();
    });

    async function counted(runId: string): Promise<Counted> {
      const { firestore } = await control<Meter>(stage.cloud.ready, 'GET', '/meter');
      const { byRun, byCollection } = firestore;
      const reads = Object.values(byCollection).map((counts) => counts?.reads ?? 0);
      return {
        commits: byRun[runId]?.commits ?? 0,
        reads: reads.reduce((sum, count) => sum + count, 0),
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

    /** @param known the run that the request started before; absent for the first request */
    async function costOf(source: Source, key: string, known = '') {
      const before = await counted(known);
      const { status, runId = '' } = await source.send(stage.cloud.ready, key);
      const after = await counted(runId);
      const names = Object.keys(before) as (keyof Counted)[];
      const cost = Object.fromEntries(names.map((name) => [name, after[name] - before[name]]));
      return { status, runId, cost };
    }

    /** The cost of the first of few requests, each with its own key, whose answer names the run. */
    async function costOfNamed(source: Source) {
      for (let i = 1; i <= MOST_TRIES; i += 1) {
        const key = `1-${i}`;
        const first = await costOf(source, key);
        if (first.runId !== '') return { key, first };
      }
      throw new Error(`${MOST_TRIES} answers to ${source.name} named no run`);
    }

    test.each([
      // Record, run and first event. GitHub adds a record of the content, which is the same under each delivery id.
      { source: api, what: 'a call of the API', writes: 3, records: 1 },
      { source: github, what: 'a webhook', writes: 4, records: 2 },
      { source: slack, what: 'a slash command', writes: 3, records: 1 },
    ])(
      '$what makes one commit of $writes writes and one task, and reads nothing',
      async ({ source, writes, records }) => {
        // The first request of an instance also reads the client.
        await source.send(stage.cloud.ready, '0-0');
        const { key, first } = await costOfNamed(source);
        const cost = { commits: 1, reads: 0, recordsWritten: records, tasks: 1 };
        expect(first).toMatchObject({ status: source.made, cost });
        const { firestore } = await control<Meter>(stage.cloud.ready, 'GET', '/meter');
        expect(firestore.byRun[first.runId]).toMatchObject({ commits: 1, writes });
        const again = await costOf(source, key, first.runId);
        expect(again).toMatchObject({ status: source.again, runId: first.runId });
        expect([NOTHING, ONE_READ]).toContainEqual(again.cost);
      },
    );
  });
}
