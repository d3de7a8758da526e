import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { until } from '../support.ts';
import { answered, LOCATION, QUEUE, startTasks, type TasksFixture } from './tasks-fixture.ts';

let tasks: TasksFixture;

beforeEach(async () => {
  tasks = await startTasks();
});
afterEach(() => tasks.stop());

const url = 'http://127.0.0.1:1/target';
const queue = (config: object = {}) =>
  tasks.client.createQueue({ parent: LOCATION, queue: { name: QUEUE, ...config } });
const create = async (task: object = {}) => {
  const [made] = await tasks.client.createTask({ parent: QUEUE, task: { httpRequest: { url }, ...task } });
  return String(made.name);
};
const atSecond = (seconds: number) => ({ seconds: tasks.clock.now() / 1000 + seconds });
/** Resolves when all due tasks have been started: a later call is then answered. */
const settled = async () => {
  await new Promise((resolve) => setTimeout(resolve, 2));
  await tasks.client.getQueue({ name: QUEUE });
};

describe('the request to a target', () => {
  test('carries method, headers and body of the task and the headers of Cloud Tasks', async () => {
    await queue();
    const name = await create({
      httpRequest: {
        url,
        httpMethod: 'PUT',
        headers: { 'Content-Type': 'application/json' },
        body: Buffer.from('{}'),
      },
    });
    await tasks.drained();
    const [request] = tasks.requests;
    expect(request).toMatchObject({ url, method: 'PUT' });
    expect(Buffer.from(request?.body ?? []).toString()).toBe('{}');
    expect(request?.headers).toEqual({
      'Content-Type': 'application/json',
      'User-Agent': 'Google-Cloud-Tasks',
      'X-CloudTasks-QueueName': 'work',
      'X-CloudTasks-TaskName': name.slice(name.lastIndexOf('/') + 1),
      'X-CloudTasks-TaskRetryCount': '0',
      'X-CloudTasks-TaskExecutionCount': '0',
      'X-CloudTasks-TaskETA': `${tasks.clock.now() / 1000}.000000`,
    });
  });

  test('does not let a task forge the headers of Cloud Tasks', async () => {
    await queue();
    await create({ httpRequest: { url, headers: { 'x-cloudtasks-queuename': 'forged', Host: 'forged' } } });
    await tasks.drained();
    expect(JSON.stringify(tasks.requests[0]?.headers)).not.toMatch(/forged/);
  });

  test.each(['Connection', 'keep-alive', 'TE', 'Trailer', 'Transfer-Encoding', 'Upgrade'])(
    'leaves out the header %s, which is about the connection',
    async (name) => {
      await queue();
      await create({ httpRequest: { url, headers: { [name]: 'chunked', other: 'x' } } });
      await tasks.drained();
      const { headers = {} } = tasks.requests[0] ?? {};
      expect(Object.keys(headers)).toContain('other');
      expect(Object.keys(headers)).not.toContain(name);
    },
  );

  test('has a bearer token that names account and audience but is not signed', async () => {
    await queue();
    const headers = { authorization: 'Basic of the task', AUTHORIZATION: 'another' };
    const oidcToken = { serviceAccountEmail: 'drive@p.iam.example' };
    await create({ httpRequest: { url, headers, oidcToken } });
    await tasks.drained();
    const [header, claims, signature] = String(tasks.requests[0]?.headers.Authorization)
      .replace('Bearer ', '')
      .split('.');
    const read = (part: string | undefined) => JSON.parse(Buffer.from(part ?? '', 'base64url').toString());
    expect(read(header)).toMatchObject({ alg: 'none' });
    expect(read(claims)).toMatchObject({ email: 'drive@p.iam.example', aud: url });
    expect(signature).toBe('');
    const names = Object.keys(tasks.requests[0]?.headers ?? {}).filter((name) => /authorization/i.test(name));
    expect(names).toEqual(['Authorization']);
  });
});

describe('time', () => {
  test('a task is dispatched at its schedule time and not before', async () => {
    await queue();
    await create({ scheduleTime: atSecond(30) });
    tasks.clock.advance(29_999);
    await settled();
    expect(tasks.requests).toHaveLength(0);
    tasks.clock.advance(1);
    await tasks.dispatched(1);
  });

  test('tasks are dispatched in the order of their due times, not of their creation', async () => {
    await queue();
    for (const seconds of [30, 10, 20]) {
      await create({ httpRequest: { url: `${url}/${seconds}` }, scheduleTime: atSecond(seconds) });
    }
    tasks.clock.advance(60_000);
    await tasks.dispatched(3);
    expect(tasks.requests.map((request) => request.url)).toEqual([`${url}/10`, `${url}/20`, `${url}/30`]);
  });
});

describe('retries', () => {
  const retryConfig = {
    maxAttempts: 6,
    minBackoff: { seconds: 10 },
    maxBackoff: { seconds: 300 },
    maxDoublings: 2,
  };

  test('a failed task is retried after each pause of its queue, then given up', async () => {
    await queue({ retryConfig });
    tasks.answers.push(...Array.from({ length: 6 }, () => answered(500)));
    await create();
    for (const [index, pause] of [10, 20, 40, 80, 120].entries()) {
      await tasks.dispatched(index + 1);
      await settled();
      tasks.clock.advance(pause * 1000 - 1);
      await settled();
      expect(tasks.requests).toHaveLength(index + 1);
      tasks.clock.advance(1);
    }
    await tasks.dispatched(6);
    await tasks.drained();
    tasks.clock.advance(3_600_000);
    await settled();
    expect(tasks.requests).toHaveLength(6);
  });

  test('a retry has the number of attempts, the last response and no reason', async () => {
    await queue({ retryConfig: { minBackoff: { seconds: 1 } } });
    tasks.answers.push(answered(418), { kind: 'unreachable', reason: 'ECONNREFUSED' }, answered(503));
    const name = await create();
    await tasks.dispatched(1);
    await settled();
    tasks.clock.advance(1_000);
    await tasks.dispatched(2);
    await settled();
    tasks.clock.advance(2_000);
    await tasks.dispatched(3);
    expect(tasks.requests[1]?.headers).toMatchObject({
      'X-CloudTasks-TaskRetryCount': '1',
      'X-CloudTasks-TaskExecutionCount': '1',
      'X-CloudTasks-TaskPreviousResponse': '418',
      'X-CloudTasks-TaskRetryReason': '',
    });
    expect(tasks.requests[2]?.headers).toMatchObject({
      'X-CloudTasks-TaskRetryCount': '2',
      'X-CloudTasks-TaskExecutionCount': '1',
      'X-CloudTasks-TaskPreviousResponse': '504',
      'X-CloudTasks-TaskRetryReason': '',
    });
    expect(name).toMatch(/tasks/);
    await settled();
    tasks.clock.advance(4_000);
    await tasks.dispatched(4);
    expect(tasks.requests[3]?.headers).toMatchObject({
      'X-CloudTasks-TaskRetryCount': '3',
      'X-CloudTasks-TaskExecutionCount': '1',
      'X-CloudTasks-TaskPreviousResponse': '503',
    });
  });

  test('Retry-After postpones the next attempt', async () => {
    await queue({ retryConfig: { minBackoff: { seconds: 1 } } });
    tasks.answers.push(answered(503, '30'));
    await create();
    await tasks.dispatched(1);
    await settled();
    tasks.clock.advance(29_999);
    await settled();
    expect(tasks.requests).toHaveLength(1);
    tasks.clock.advance(1);
    await tasks.dispatched(2);
  });

  test('an attempt that outlives its deadline is abandoned and retried; moving the clock does not age it', async () => {
    await queue({ retryConfig: { minBackoff: { seconds: 1 } } });
    tasks.answers.push(
      ({ signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve({ kind: 'unreachable', reason: 'aborted' }));
        }),
    );
    const name = await create({ dispatchDeadline: { seconds: 15 } });
    await tasks.dispatched(1);
    tasks.clock.advance(3_600_000);
    tasks.elapse(14_999);
    expect(tasks.requests[0]?.signal.aborted).toBe(false);
    tasks.elapse(15_000);
    await until(async () => {
      const [task] = await tasks.client.getTask({ name });
      return task.lastAttempt?.responseStatus?.code === 4;
    }, 'DEADLINE_EXCEEDED');
    tasks.clock.advance(1_000);
    await tasks.dispatched(2);
    await tasks.drained();
  });

  test('a request that cannot be sent at all is a failed attempt', async () => {
    await queue({ retryConfig: { minBackoff: { seconds: 1 } } });
    tasks.answers.push(() => Promise.reject(new TypeError('no such header')));
    const name = await create();
    await tasks.dispatched(1);
    await settled();
    const [task] = await tasks.client.getTask({ name });
    expect(task.lastAttempt?.responseStatus?.message).toBe('UNAVAILABLE(14): no such header');
    tasks.clock.advance(1_000);
    await tasks.drained();
  });

  test('a task deleted while it is dispatched is not retried', async () => {
    await queue({ retryConfig: { minBackoff: { seconds: 1 } } });
    let fail = () => {};
    tasks.answers.push(
      () =>
        new Promise((resolve) => {
          fail = () => resolve(answered(500));
        }),
    );
    const name = await create();
    await tasks.dispatched(1);
    await tasks.client.deleteTask({ name });
    fail();
    await settled();
    tasks.clock.advance(10_000);
    await settled();
    expect(tasks.requests).toHaveLength(1);
  });
});

describe('limits', () => {
  test('no more tasks are in flight than the queue allows, and a freed slot is used at once', async () => {
    await queue({ rateLimits: { maxConcurrentDispatches: 3 } });
    const finish: (() => void)[] = [];
    tasks.answers.push(
      ...Array.from(
        { length: 8 },
        () => () =>
          new Promise<ReturnType<typeof answered>>((resolve) => {
            finish.push(() => resolve(answered(200)));
          }),
      ),
    );
    for (let i = 0; i < 8; i++) await create();
    await settled();
    expect(tasks.requests).toHaveLength(3);
    finish.shift()?.();
    await tasks.dispatched(4);
    await settled();
    expect(tasks.requests).toHaveLength(4);
    while (tasks.requests.length < 8 || finish.length > 0) {
      finish.shift()?.();
      await settled();
    }
    await tasks.drained();
  });

  test('a queue spends its burst, then keeps to its rate', async () => {
    await queue({ rateLimits: { maxDispatchesPerSecond: 2 } });
    for (let i = 0; i < 16; i++) await create();
    await settled();
    expect(tasks.requests).toHaveLength(10);
    tasks.clock.advance(499);
    await settled();
    expect(tasks.requests).toHaveLength(10);
    tasks.clock.advance(1);
    await tasks.dispatched(11);
    tasks.clock.advance(2_000);
    await tasks.dispatched(15);
    await settled();
    expect(tasks.requests).toHaveLength(15);
  });

  test.each([
    [429, 2],
    [503, 2],
    [500, 4],
  ])(
    'after a response %i a queue dispatches %i tasks in the next second, of 4 that its rate allows',
    async (status, count) => {
      await queue({
        rateLimits: { maxDispatchesPerSecond: 4 },
        retryConfig: { minBackoff: { seconds: 3600 } },
      });
      for (let i = 0; i < 40; i++) await create();
      await settled();
      expect(tasks.requests).toHaveLength(10);
      tasks.answers.push(answered(status));
      tasks.clock.advance(250);
      await settled();
      for (let ms = 0; ms < 1000; ms += 50) {
        tasks.clock.advance(50);
        await settled();
      }
      expect(tasks.requests).toHaveLength(11 + count);
      for (let ms = 0; ms < 2000; ms += 50) {
        tasks.clock.advance(50);
        await settled();
      }
      const before = tasks.requests.length;
      tasks.clock.advance(1000);
      await settled();
      expect(tasks.requests.length - before).toBe(4);
    },
  );
});
