/** Many concurrent requests for one run: deliveries, starts and dispatches. Counts the runs of its workflows. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CloudTasksClient } from '@google-cloud/tasks';
import { credentials } from '@grpc/grpc-js';
import { describe, expect, test } from '@jest/globals';
import { getJson, type Ready } from '../../../packages/local/src/cloud-process.ts';
import { deliver, openedPullRequest } from '../../../scripts/demo/delivery.ts';
import { linesIn } from '../../../scripts/demo/notes.ts';
import { sendOnce } from '../requests.ts';
import { type CloudStage, ended, eventually, startRun } from '../support.ts';

const CALLERS = 200;

export function sameRequests(stage: CloudStage): void {
  describe('concurrent duplicates', () => {
    const runsOf = async (type: string) =>
      (await getJson<{ items: unknown[] }>(stage.cloud.ready, `/v1/runs?type=${type}&limit=100`)).items;

    test('200 concurrent deliveries with one id make one run and 199 duplicates', async () => {
      const { ready } = stage.cloud;
      const delivery = openedPullRequest();
      const calls = Array.from({ length: CALLERS }, () => persistently(() => deliver(ready, delivery)));
      const { answers, wasRefused } = inTime(await Promise.all(calls));
      const count = (status: number) => answers.filter((answer) => answer.status === status).length;
      // A creator whose response came too late is among the repetitions.
      expect(count(202)).toBeGreaterThanOrEqual(wasRefused ? 0 : 1);
      expect(count(202)).toBeLessThanOrEqual(1);
      expect(count(200)).toBe(CALLERS - count(202));
      const runIds = new Set(answers.map(({ runId }) => runId));
      expect(runIds.size).toBe(1);
      const [runId = ''] = runIds;
      expect((await ended(ready, runId)).status).toBe('completed');
      expect(await runsOf('review-pull-request')).toHaveLength(1);
    });

    test('200 concurrent API starts with one key make one run, and all answers are the same', async () => {
      const { ready } = stage.cloud;
      const before = await runsOf('chain-10');
      const calls = Array.from({ length: CALLERS }, () =>
        persistently(() =>
          sendOnce(ready, { path: '/v1/runs', body: { type: 'chain-10', input: {} }, key: 'storm' }),
        ),
      );
      const { answers, wasRefused } = inTime(await Promise.all(calls));
      const made = answers.filter(({ status }) => status === 201);
      expect(made.length).toBeGreaterThanOrEqual(wasRefused ? 0 : 1);
      expect(made.length).toBeLessThanOrEqual(1);
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(CALLERS - made.length);
      const bodies = new Set(await Promise.all(answers.map((answer) => answer.text())));
      expect(bodies.size).toBe(1);
      const locations = new Set(answers.map(({ headers }) => headers.get('location')));
      expect(locations.size).toBe(1);
      expect(await runsOf('chain-10')).toHaveLength(before.length + 1);
    });

    test('of 50 concurrent dispatches of one run, one executes it', async () => {
      const { ready, folder } = stage.cloud;
      const notes = join(folder, 'notes');
      const until = join(folder, 'dispatched');
      const { runId } = (await (await startRun(ready, 'slow', { ms: 0, until, notes })).json()) as {
        runId: string;
      };
      await enqueueDrives(ready, runId, 50);
      writeFileSync(until, '');
      expect((await ended(ready, runId)).status).toBe('completed');
      expect(linesIn(notes).filter((line) => line.startsWith('begin'))).toHaveLength(1);
      const { items } = await getJson<{ items: { type: string }[] }>(
        ready,
        `/v1/runs/${runId}/events?limit=100`,
      );
      expect(items.filter(({ type }) => type === 'run_claimed')).toHaveLength(1);
    });

    test('the same key with another payload is refused and changes nothing', async () => {
      const { ready } = stage.cloud;
      expect((await startRun(ready, 'chain-10', {}, 'reused')).status).toBe(201);
      const before = await runsOf('slow');
      const other = await startRun(ready, 'slow', { ms: 0, notes: '/dev/null' }, 'reused');
      expect(other.status).toBe(422);
      expect(await other.json()).toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
      expect(await runsOf('slow')).toHaveLength(before.length);
    });
  });
}

interface Persisted<T> {
  readonly answer: T;
  readonly wasRefused: boolean;
}

/** Repeats a request after a 503, which a slow machine may return. */
async function persistently<T extends { readonly status: number }>(
  send: () => Promise<T>,
): Promise<Persisted<T>> {
  let wasRefused = false;
  const answer = await eventually('an answer in time', async () => {
    const got = await send();
    if (got.status !== 503) return got;
    wasRefused = true;
    return undefined;
  });
  return { answer, wasRefused };
}

function inTime<T>(all: readonly Persisted<T>[]): { answers: T[]; wasRefused: boolean } {
  return {
    answers: all.map(({ answer }) => answer),
    wasRefused: all.some(({ wasRefused }) => wasRefused),
  };
}

/** Repeats the task of a run, as an at-least-once queue may. */
async function enqueueDrives(ready: Ready, runId: string, count: number): Promise<void> {
  const [apiEndpoint, port] = ready.tasks.split(':');
  const tasks = new CloudTasksClient({
    projectId: ready.projectId,
    apiEndpoint: apiEndpoint ?? '',
    port: Number(port),
    sslCreds: credentials.createInsecure(),
  });
  try {
    const [queues] = await tasks.listQueues({ parent: tasks.locationPath(ready.projectId, 'us-central1') });
    const lists = await Promise.all(
      queues.map(({ name }) => tasks.listTasks({ parent: name ?? '', responseView: 'FULL' })),
    );
    const original = lists.flatMap(([waiting]) => waiting).find(({ httpRequest }) => httpRequest);
    if (!original?.httpRequest) throw new Error('the task of the run is in no queue');
    const parent = original.name?.replace(/\/tasks\/.*$/, '') ?? '';
    const body = Buffer.from(JSON.stringify({ data: { runId, reason: 'recovery' } }));
    const httpRequest = { ...original.httpRequest, body };
    await Promise.all(
      Array.from({ length: count }, () => tasks.createTask({ parent, task: { httpRequest } })),
    );
  } finally {
    await tasks.close();
  }
}
