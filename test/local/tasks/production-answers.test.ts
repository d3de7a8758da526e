/**
 * Answers and headers as production gives them, word for word: programs match on them. They were recorded of the service by public suites.
 */

import { status } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { refusal, until } from '../support.ts';
import { answered, LOCATION, QUEUE, startTasks, type TasksFixture } from './tasks-fixture.ts';

const url = 'https://example.com/';
const body = Buffer.from('{"hello":"world"}');
const MISSING = `${LOCATION}/queues/missing`;
const NO_QUEUE =
  'Queue does not exist. If you just created the queue, wait at least a minute for the queue to initialize.';
const NO_ENTITY = 'Requested entity was not found.';

let tasks: TasksFixture;

beforeEach(async () => {
  tasks = await startTasks(undefined, { appEngineUrl: 'http://127.0.0.1:1' });
  await tasks.client.createQueue({
    parent: LOCATION,
    queue: { name: QUEUE, retryConfig: { minBackoff: { seconds: 1 }, maxBackoff: { seconds: 1 } } },
  });
});

afterEach(() => tasks.stop());

const create = (task: object) => tasks.client.createTask({ parent: QUEUE, task });
const later = () => ({ seconds: tasks.clock.now() / 1000 + 600 });

describe('a queue is refused', () => {
  const made = (config: object) =>
    tasks.client.createQueue({ parent: LOCATION, queue: { name: MISSING, ...config } });

  test.each([
    [{ rateLimits: { maxDispatchesPerSecond: -1 } }, 'RateLimits.maxDispatchesPerSecond cannot be negative.'],
    [
      { rateLimits: { maxDispatchesPerSecond: 501 } },
      'RateLimits.maxDispatchesPerSecond must be less than or equal to 500.',
    ],
    [
      { rateLimits: { maxConcurrentDispatches: -1 } },
      'RateLimits.maxConcurrentDispatches cannot be negative.',
    ],
    [
      { rateLimits: { maxConcurrentDispatches: 5001 } },
      'RateLimits.maxConcurrentDispatches must be less than or equal to 5000.',
    ],
    [{ retryConfig: { maxAttempts: -2 } }, 'RetryConfig.maxAttempts must be greater or equal to -1.'],
    [{ retryConfig: { maxDoublings: -1 } }, 'RetryConfig.maxDoublings cannot be negative.'],
    [{ retryConfig: { minBackoff: { seconds: -1 } } }, 'RetryConfig.minBackoff cannot be negative.'],
    [
      { retryConfig: { minBackoff: { seconds: 10 }, maxBackoff: { seconds: 5 } } },
      'RetryConfig.minBackoff must be less than or equal to RetryConfig.maxBackoff.',
    ],
  ])('for %j', async (config, details) => {
    expect(await refusal(made(config))).toEqual({ code: status.INVALID_ARGUMENT, details });
  });

  test('for a name without its parts', async () => {
    const call = tasks.client.getQueue({ name: 'not-a-valid-queue-name' });
    expect(await refusal(call)).toEqual({
      code: status.INVALID_ARGUMENT,
      details:
        'Queue name must be formatted: "projects/<PROJECT_ID>/locations/<LOCATION_ID>/queues/<QUEUE_ID>".',
    });
  });

  test('not for the burst, which is output only', async () => {
    const [queue] = await made({ rateLimits: { maxBurstSize: -1 } });
    expect(queue.rateLimits?.maxBurstSize).toBe(100);
  });
});

describe('a queue that does not exist', () => {
  test.each(['getQueue', 'pauseQueue', 'resumeQueue', 'purgeQueue'] as const)('%s', async (call) => {
    const refused = await refusal(tasks.client[call]({ name: MISSING }));
    expect(refused).toEqual({ code: status.NOT_FOUND, details: NO_QUEUE });
  });

  test('deleteQueue', async () => {
    const refused = await refusal(tasks.client.deleteQueue({ name: MISSING }));
    expect(refused).toEqual({ code: status.NOT_FOUND, details: NO_ENTITY });
  });

  test('is not made by an update whose mask names no field', async () => {
    const updateMask = { paths: ['nope'] };
    const refused = await refusal(tasks.client.updateQueue({ queue: { name: MISSING }, updateMask }));
    expect(refused).toMatchObject({ code: status.INVALID_ARGUMENT });
    expect(await refusal(tasks.client.getQueue({ name: MISSING }))).toMatchObject({ code: status.NOT_FOUND });
  });
});

describe('a task is refused', () => {
  test.each([
    [{ httpRequest: { url: '' } }, 'HttpRequest.url is required.'],
    [{ httpRequest: { url: 'example.com/path' } }, "HttpTarget.url must start with 'http://' or 'https://'."],
    [
      { httpRequest: { url: 'ftp://example.com/' } },
      "HttpTarget.url must start with 'http://' or 'https://'.",
    ],
    [
      { name: `${QUEUE}/tasks/not a valid id`, httpRequest: { url } },
      'Task ID "not a valid id" can contain only letters ([A-Za-z]), numbers ([0-9]), hyphens (-), or underscores (_). Task ID must between 1 and 500 characters.',
    ],
    [
      { name: `${QUEUE}-other/tasks/t`, httpRequest: { url } },
      `The queue name from request ('${QUEUE}') must be the same as the queue name in the named task ('${QUEUE}-other').`,
    ],
    [
      { httpRequest: { url }, dispatchDeadline: { seconds: 1801 } },
      'Task.dispatchDeadline must be between [15s, 30m].',
    ],
    [
      { appEngineHttpRequest: {}, dispatchDeadline: { seconds: 86_416 } },
      'Task.dispatchDeadline must be between [15s, 24h15s].',
    ],
  ])('for %j', async (task, details) => {
    expect(await refusal(create(task))).toEqual({ code: status.INVALID_ARGUMENT, details });
  });

  test('not for an escape in its URL that cannot be decoded', async () => {
    const [made] = await create({ httpRequest: { url: 'http://example.com/%zz' }, scheduleTime: later() });
    expect(made.httpRequest?.url).toBe('http://example.com/%zz');
  });
});

describe('a task that is gone', () => {
  test('is told from one that there never was, while its name is taken', async () => {
    const name = `${QUEUE}/tasks/gone`;
    await create({ name, httpRequest: { url }, scheduleTime: later() });
    await tasks.client.deleteTask({ name });
    expect(await refusal(tasks.client.getTask({ name }))).toEqual({
      code: status.NOT_FOUND,
      details:
        'The task no longer exists, though a task with this name existed recently. The task either successfully completed or was deleted.',
    });
    const never = await refusal(tasks.client.getTask({ name: `${QUEUE}/tasks/never` }));
    expect(never).toEqual({ code: status.NOT_FOUND, details: NO_ENTITY });
    tasks.clock.advance(3_600_000);
    expect(await refusal(tasks.client.getTask({ name }))).toEqual(never);
  });
});

describe('the headers of a task, in both views', () => {
  const given = { 'X-Mixed-Case': 'preserve-me' };
  const agent = 'AppEngine-Google; (+http://code.google.com/appengine)';
  const ofApp = { ...given, 'User-Agent': agent, 'Content-Length': '17' };

  test.each([
    ['httpRequest', given, { ...given, 'User-Agent': 'Google-Cloud-Tasks' }],
    ['httpRequest', { ...given, 'user-agent': 'mine' }, { ...given, 'User-Agent': 'Google-Cloud-Tasks' }],
    ['appEngineHttpRequest', given, { ...ofApp, 'Content-Type': 'application/octet-stream' }],
    ['appEngineHttpRequest', { ...given, 'content-type': 'a/b' }, { ...ofApp, 'content-type': 'a/b' }],
    [
      'appEngineHttpRequest',
      { 'content-length': '9', 'content-type': 'a/b', ...given },
      { ...ofApp, 'content-type': 'a/b' },
    ],
  ] as const)('of %s with %j', async (target, headers, told) => {
    const request = { headers, body, ...(target === 'httpRequest' && { url }) };
    const [made] = await create({ [target]: request, scheduleTime: later() });
    const [full] = await tasks.client.getTask({ name: String(made.name), responseView: 'FULL' });
    expect([made[target]?.headers, full[target]?.headers]).toEqual([told, told]);
  });
});

describe('the headers of attempts', () => {
  const unanswered = { kind: 'deadline-exceeded' } as const;
  /** The statuses of the attempts; undefined: none within the deadline. */
  const attempts = [503, 404, 429, 500, 302, undefined];

  test.each([
    ['X-CloudTasks', { httpRequest: { url } }, [0, 0, 1, 2, 2, 3, 3]],
    ['X-AppEngine', { appEngineHttpRequest: {} }, [0, 1, 2, 3, 4, 5, 5]],
  ])('%s', async (prefix, task, executions) => {
    tasks.answers.push(...attempts.map((code) => (code === undefined ? unanswered : answered(code))));
    const [{ name }] = await create(task);
    for (let count = 1; count <= attempts.length; count++) {
      await tasks.dispatched(count);
      await until(async () => {
        const [{ lastAttempt }] = await tasks.client.getTask({ name: String(name) });
        return Boolean(lastAttempt?.responseStatus);
      }, 'the attempt has ended');
      tasks.clock.advance(60_000);
    }
    await tasks.dispatched(attempts.length + 1);
    const isApp = prefix === 'X-AppEngine';
    const told = tasks.requests.map(({ headers }) =>
      ['TaskExecutionCount', 'TaskRetryCount', 'TaskPreviousResponse', 'TaskRetryReason'].map(
        (name) => headers[`${prefix}-${name}`],
      ),
    );
    expect(told).toEqual(
      executions.map((executed, attempt) => {
        const counts = [String(executed), String(attempt)];
        if (attempt === 0) return [...counts, undefined, undefined];
        const before = attempts[attempt - 1];
        if (before === undefined)
          return [...counts, ...(isApp ? ['0', 'Instance Unavailable'] : ['504', ''])];
        return [...counts, String(before), isApp ? 'App Error' : ''];
      }),
    );
  });
});
