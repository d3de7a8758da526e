import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CloudTasksClient } from '@google-cloud/tasks';
import { credentials } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { getJson, type Ready } from '../../../packages/local/src/cloud-process.ts';
import { deliver, openedPullRequest } from '../../../scripts/demo/delivery.ts';
import { ended, startRun, startTestCloud, type TestCloud } from '../support.ts';

const CALLERS = 200;

describe('a storm of duplicates', () => {
  let cloud: TestCloud;
  beforeAll(async () => {
    cloud = await startTestCloud('sqlite');
  });
  afterAll(() => cloud.stop());

  test('200 concurrent deliveries with one id make one run and 199 duplicates', async () => {
    const { ready } = cloud;
    const delivery = openedPullRequest();
    const answers = await Promise.all(Array.from({ length: CALLERS }, () => deliver(ready, delivery)));
    const count = (status: number) => answers.filter((answer) => answer.status === status).length;
    expect([count(202), count(200)]).toEqual([1, CALLERS - 1]);
    const runIds = new Set(answers.map(({ runId }) => runId));
    expect(runIds.size).toBe(1);
    const [runId = ''] = runIds;
    expect((await ended(ready, runId)).status).toBe('completed');
    const { items } = await getJson<{ items: unknown[] }>(ready, '/v1/runs?type=review-pull-request');
    expect(items).toHaveLength(1);
  });

  test('200 concurrent API starts with one key make one run, and all answers are the same', async () => {
    const { ready } = cloud;
    const responses = await Promise.all(
      Array.from({ length: CALLERS }, () => startRun(ready, 'chain-10', {}, 'storm')),
    );
    const statuses = responses.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array.from({ length: CALLERS - 1 }, () => 200), 201]);
    const bodies = new Set(await Promise.all(responses.map((response) => response.text())));
    expect(bodies.size).toBe(1);
    const locations = new Set(responses.map(({ headers }) => headers.get('location')));
    expect(locations.size).toBe(1);
    const { items } = await getJson<{ items: unknown[] }>(ready, '/v1/runs?type=chain-10');
    expect(items).toHaveLength(1);
  });

  test('50 concurrent drives of one run: one works', async () => {
    const { ready, folder } = cloud;
    const notes = join(folder, 'notes');
    const { runId } = (await (await startRun(ready, 'slow', { ms: 3_000, notes })).json()) as {
      runId: string;
    };
    await enqueueDrives(ready, runId, 50);
    expect((await ended(ready, runId)).status).toBe('completed');
    const begun = readFileSync(notes, 'utf8').match(/^begin /gm) ?? [];
    expect(begun).toHaveLength(1);
    const { items } = await getJson<{ items: { type: string }[] }>(
      ready,
      `/v1/runs/${runId}/events?limit=100`,
    );
    expect(items.filter(({ type }) => type === 'run_claimed')).toHaveLength(1);
  });

  test('the same key with another payload is refused and changes nothing', async () => {
    const { ready } = cloud;
    expect((await startRun(ready, 'chain-10', {}, 'reused')).status).toBe(201);
    const runs = () => getJson<{ items: unknown[] }>(ready, '/v1/runs?type=slow');
    const before = await runs();
    const other = await startRun(ready, 'slow', { ms: 0, notes: '/dev/null' }, 'reused');
    expect(other.status).toBe(422);
    expect(await other.json()).toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
    expect((await runs()).items).toHaveLength(before.items.length);
  });
});

/** Repeats the task of a run as a queue that delivers at least once may. */
async function enqueueDrives(ready: Ready, runId: string, count: number): Promise<void> {
  const [apiEndpoint, port] = ready.tasks.split(':');
  const tasks = new CloudTasksClient({
    projectId: ready.projectId,
    apiEndpoint: apiEndpoint ?? '',
    port: Number(port),
    sslCreds: credentials.createInsecure(),
  });
  try {
    const parent = tasks.queuePath(ready.projectId, 'us-central1', 'drive');
    const [[original]] = await tasks.listTasks({ parent, responseView: 'FULL' });
    if (!original?.httpRequest) throw new Error('the task of the run is not in the queue');
    const body = Buffer.from(JSON.stringify({ data: { runId, reason: 'recovery' } }));
    const httpRequest = { ...original.httpRequest, body };
    await Promise.all(
      Array.from({ length: count }, () => tasks.createTask({ parent, task: { httpRequest } })),
    );
  } finally {
    await tasks.close();
  }
}
