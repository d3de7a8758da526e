import type { CloudTasksClient } from '@google-cloud/tasks';
import { describe, expect, test } from '@jest/globals';
import { type QueueSpread, queuePlace } from '../../../packages/cairn/src/core/encoding/queue-place.ts';
import type { Clock } from '../../../packages/cairn/src/ports/clock.ts';
import { OutcomeUnknown } from '../../../packages/cairn/src/ports/store-errors.ts';
import {
  CloudTasksQueue,
  type CreateTaskRequest,
  type TasksClient,
} from '../../../packages/cairn/src/queue/cloud-tasks-queue.ts';
import { T0 } from '../support/run-fixture.ts';
import { taskQueueConformance } from './task-queue.suite.ts';

const PARENT = 'projects/p/locations/l/queues/drive';

/** Timers fire at once; records their intended durations. */
class InstantClock implements Clock {
  readonly delays: number[] = [];
  aheadMs = 0;
  now(): number {
    return T0 + this.aheadMs;
  }
  timer(delayMs: number, fire: () => void): () => void {
    this.delays.push(delayMs);
    queueMicrotask(fire);
    return () => {};
  }
}

function statusError(code: number | string): Error {
  return Object.assign(new Error(`status ${code}`), { code });
}

/** Accepts tasks as the service does: a remembered name is refused. The first calls return `failures`. */
class FakeTasksClient implements TasksClient {
  readonly requests: CreateTaskRequest[] = [];
  readonly accepted: CreateTaskRequest[] = [];
  readonly names = new Set<string>();
  readonly failures: Error[] = [];
  async createTask(request: CreateTaskRequest): Promise<unknown> {
    this.requests.push(request);
    const failure = this.failures.shift();
    if (failure) throw failure;
    const { name } = request.task;
    if (name !== undefined && this.names.has(name)) throw statusError(6);
    if (name !== undefined) this.names.add(name);
    this.accepted.push(request);
    return [request.task];
  }
}

function make(spread?: QueueSpread) {
  const client = new FakeTasksClient();
  const clock = new InstantClock();
  const queue = new CloudTasksQueue({
    client,
    clock,
    random: { unit: () => 0.5, token: () => '', runId: () => '' },
    project: 'p',
    location: 'l',
    queues: {
      shared: { name: 'drive', targetUrl: 'https://drive.example.test/' },
      alone: { name: 'driveAlone', targetUrl: 'https://alone.example.test/' },
      ...(spread && { spread }),
    },
    pools: {
      video: {
        shared: { name: 'driveVideo', targetUrl: 'https://video.example.test/' },
        alone: { name: 'driveVideoAlone', targetUrl: 'https://video-alone.example.test/' },
        deadlineS: 1_800,
      },
    },
    serviceAccountEmail: 'drive@p.iam.gserviceaccount.com',
  });
  return { client, clock, queue };
}

taskQueueConformance('Cloud Tasks queue', () => {
  const { client, queue } = make();
  return {
    queue,
    deliverFirst: () => {
      client.accepted.shift();
    },
    waiting: () =>
      client.accepted.map(({ task }) => ({
        ...JSON.parse(task.httpRequest.body.toString()).data,
        ...(task.scheduleTime
          ? { at: task.scheduleTime.seconds * 1_000 + task.scheduleTime.nanos / 1e6 }
          : {}),
        ...(task.name ? { name: task.name.slice(`${PARENT}/tasks/`.length) } : {}),
      })),
  };
});

describe('Cloud Tasks queue: the request', () => {
  test('the generated client has the methods that are called', () => {
    const accepts = (client: CloudTasksClient): TasksClient => client;
    expect(accepts).toBeInstanceOf(Function);
  });

  test('is a signed POST in the form of task queue functions', async () => {
    const { client, queue } = make();
    await queue.enqueue({ runId: 'run_1', reason: 'retry', at: T0 + 1_500, name: 'n' });
    expect(client.requests).toEqual([
      {
        parent: PARENT,
        task: {
          name: `${PARENT}/tasks/n`,
          scheduleTime: { seconds: Math.floor((T0 + 1_500) / 1_000), nanos: 623_000_000 },
          httpRequest: {
            httpMethod: 'POST',
            url: 'https://drive.example.test/',
            headers: { 'Content-Type': 'application/json' },
            body: Buffer.from('{"data":{"runId":"run_1","reason":"retry"}}'),
            oidcToken: { serviceAccountEmail: 'drive@p.iam.gserviceaccount.com' },
          },
        },
      },
    ]);
  });

  test.each([
    [false, 'driveVideo', 'https://video.example.test/'],
    [true, 'driveVideoAlone', 'https://video-alone.example.test/'],
  ])(
    'goes to the functions of its workflow, with their timeout as its deadline',
    async (alone, name, url) => {
      const { client, queue } = make();
      await queue.enqueue({ runId: 'run_1', reason: 'start', pool: 'video', alone });
      const [request] = client.requests;
      expect(request?.parent).toBe(`projects/p/locations/l/queues/${name}`);
      expect(request?.task).toMatchObject({ dispatchDeadline: { seconds: 1_800 }, httpRequest: { url } });
      await expect(queue.enqueue({ runId: 'run_1', reason: 'start', pool: 'audio' })).rejects.toThrow(
        "no queue for the drives 'audio'",
      );
    },
  );

  test('has the span that caused it, if there is one', async () => {
    const { client, queue } = make();
    const trace = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), sampled: true };
    await queue.enqueue({ runId: 'run_1', reason: 'start', trace });
    const { headers, body } = client.requests[0]?.task.httpRequest ?? {};
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    expect(JSON.parse(String(body))).toEqual({ data: { runId: 'run_1', reason: 'start', traceparent } });
    expect(headers).toEqual({ 'Content-Type': 'application/json' });
  });

  test('is marked if a person asked for the run to continue, and otherwise not', async () => {
    const { client, queue } = make();
    await queue.enqueue({ runId: 'run_1', reason: 'continue', skipsBackoff: true });
    await queue.enqueue({ runId: 'run_1', reason: 'continue' });
    expect(client.requests.map(({ task }) => JSON.parse(String(task.httpRequest.body)))).toEqual([
      { data: { runId: 'run_1', reason: 'continue', asked: true } },
      { data: { runId: 'run_1', reason: 'continue' } },
    ]);
  });

  test('is never due later than the service accepts', async () => {
    const { client, queue } = make();
    await queue.enqueue({ runId: 'run_1', reason: 'retry', at: T0 + 90 * 86_400_000 });
    const seconds = client.requests[0]?.task.scheduleTime?.seconds ?? 0;
    expect(seconds * 1_000 - T0).toBeLessThan(30 * 86_400_000);
    expect(seconds * 1_000 - T0).toBeGreaterThan(29 * 86_400_000);
  });

  test('with a name that the service would refuse is not sent', async () => {
    const { client, queue } = make();
    await expect(queue.enqueue({ runId: 'run_1', reason: 'retry', name: 'a/b' })).rejects.toThrow(
      /task name/,
    );
    expect(client.requests).toEqual([]);
  });
});

describe('Cloud Tasks queue: several queues of one function', () => {
  const SPREAD: QueueSpread = { queues: 16, perTenant: 2 };
  const runs = Array.from({ length: 40 }, (_, at) => `run_${at}`);
  const queueIds = (client: FakeTasksClient) =>
    client.accepted.map(({ parent }) => parent.slice('projects/p/locations/l/queues/'.length));

  test('tasks of a tenant go to its queue, all to the one function, and suspects to theirs', async () => {
    const { client, queue } = make(SPREAD);
    for (const runId of runs) await queue.enqueue({ runId, tenantId: 'acme', reason: 'start' });
    expect(new Set(queueIds(client)).size).toBe(2);
    expect(new Set(client.accepted.map(({ task }) => task.httpRequest.url))).toEqual(
      new Set(['https://drive.example.test/']),
    );
    for (const runId of runs)
      await queue.enqueue({ runId, tenantId: 'acme', reason: 'suspect', alone: true });
    expect(new Set(queueIds(client).slice(runs.length))).toEqual(new Set(['driveAlone']));
  });

  test('a name is deduplicated while the number of queues is the same, and is another task after it has grown', async () => {
    const { client, queue } = make(SPREAD);
    const grown = make({ queues: 90, perTenant: 2 });
    const task = { tenantId: 'acme', reason: 'retry', name: 'n' } as const;
    for (const runId of runs) {
      await queue.enqueue({ ...task, runId, name: `n-${runId}` });
      await queue.enqueue({ ...task, runId, name: `n-${runId}` });
      await grown.queue.enqueue({ ...task, runId, name: `n-${runId}` });
    }
    expect(client.accepted).toHaveLength(runs.length);
    expect(grown.client.accepted).toHaveLength(runs.length);
    expect(queueIds(grown.client)).not.toEqual(queueIds(client));
  });

  test('a missing queue is not used for a minute, and the queue of the function receives its tasks', async () => {
    const { client, clock, queue } = make({ queues: 100, perTenant: 0 });
    const runId = runs.find((one) => queuePlace({ queues: 100, perTenant: 0 }, { runId: one }) > 0) ?? '';
    client.failures.push(statusError(5));
    await queue.enqueue({ runId, reason: 'start' });
    await queue.enqueue({ runId, reason: 'start' });
    expect(queueIds(client)).toEqual(['drive', 'drive']);
    expect(client.requests).toHaveLength(3);
    clock.aheadMs = 61_000;
    await queue.enqueue({ runId, reason: 'start' });
    expect(queueIds(client).at(-1)).toMatch(/^drive-\d+$/);
  });

  test('a task is refused if the queue of the function is missing too', async () => {
    const { client, queue } = make({ queues: 100, perTenant: 0 });
    client.failures.push(statusError(5), statusError(5));
    await expect(queue.enqueue({ runId: 'run_1', reason: 'start' })).rejects.toMatchObject({
      help: expect.stringContaining('functions:CODEBASE:drive '),
    });
  });
});

describe('Cloud Tasks queue: failures', () => {
  test.each([5, 9])('a missing queue is reported with what creates it (status %s)', async (status) => {
    const { client, queue } = make();
    client.failures.push(statusError(status));
    await expect(queue.enqueue({ runId: 'run_1', reason: 'suspect', alone: true })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: 'no queue driveAlone in projects/p/locations/l/queues/driveAlone',
      help: expect.stringContaining('functions:CODEBASE:driveAlone '),
    });
    expect(client.requests).toHaveLength(1);
  });

  test.each([1, 2, 4, 8, 10, 13, 14, 'ECONNRESET'])(
    'after status %s the same request is sent again',
    async (code) => {
      const { client, clock, queue } = make();
      client.failures.push(statusError(code), statusError(code));
      await queue.enqueue({ runId: 'run_1', reason: 'start' });
      expect(client.accepted).toHaveLength(1);
      expect(client.requests[2]).toEqual(client.requests[0]);
      expect(clock.delays).toEqual([50, 100]);
    },
  );

  test('a named task whose first acknowledgement was lost is enqueued', async () => {
    const { client, queue } = make();
    client.names.add(`${PARENT}/tasks/n`);
    client.failures.push(statusError(14));
    await queue.enqueue({ runId: 'run_1', reason: 'start', name: 'n' });
    expect(client.requests).toHaveLength(2);
  });

  test('an outcome that stays unknown is reported as unknown', async () => {
    const { client, queue } = make();
    client.failures.push(...Array.from({ length: 9 }, () => statusError(14)));
    await expect(queue.enqueue({ runId: 'run_1', reason: 'start' })).rejects.toThrow(OutcomeUnknown);
    expect(client.requests).toHaveLength(4);
  });

  test.each([3, 6, 7, 16])('status %s for an unnamed task is final', async (code) => {
    const { client, queue } = make();
    client.failures.push(statusError(code));
    await expect(queue.enqueue({ runId: 'run_1', reason: 'start' })).rejects.toThrow(`status ${code}`);
    expect(client.requests).toHaveLength(1);
  });
});
