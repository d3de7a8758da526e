import { status } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { DispatchResult } from '../../../packages/local-tasks/src/dispatch/attempt.ts';
import { refusal, until } from '../support.ts';
import { answered, LOCATION, QUEUE, startTasks, type TasksFixture } from './tasks-fixture.ts';

const HOUR_S = 3600;
let tasks: TasksFixture;

beforeEach(async () => {
  tasks = await startTasks();
  await tasks.client.createQueue({ parent: LOCATION, queue: { name: QUEUE } });
});
afterEach(() => tasks.stop());

const url = 'http://127.0.0.1:1/target';
const create = (task: object) => tasks.client.createTask({ parent: QUEUE, task });
const nameOf = (task: { name?: string | null }) => ({ name: String(task.name) });
const inSeconds = (seconds: number) => ({ seconds: Math.floor(tasks.clock.now() / 1000) + seconds });
/** As the client reads it. */
const now = () => ({ seconds: String(Math.floor(tasks.clock.now() / 1000)) });

describe('names', () => {
  test('a named task exists once while it waits', async () => {
    const name = `${QUEUE}/tasks/only-once`;
    await create({ name, httpRequest: { url }, scheduleTime: inSeconds(60) });
    expect(await refusal(create({ name, httpRequest: { url } }))).toMatchObject({
      code: status.ALREADY_EXISTS,
      details: 'Requested entity already exists',
    });
  });

  test('the name of a task that ended stays taken for an hour, then is free again', async () => {
    const name = `${QUEUE}/tasks/again`;
    await create({ name, httpRequest: { url } });
    await tasks.drained();
    const { code, details } = await refusal(create({ name, httpRequest: { url } }));
    expect(code).toBe(status.ALREADY_EXISTS);
    expect(details).toMatch(/existed too recently/);
    tasks.clock.advance(HOUR_S * 1000 - 1);
    await refusal(create({ name, httpRequest: { url } }));
    tasks.clock.advance(1);
    await create({ name, httpRequest: { url } });
    await tasks.drained();
    expect(tasks.requests).toHaveLength(2);
  });

  test('the name of a deleted task stays taken too', async () => {
    const name = `${QUEUE}/tasks/deleted`;
    await create({ name, httpRequest: { url }, scheduleTime: inSeconds(60) });
    await tasks.client.deleteTask({ name });
    expect(await refusal(create({ name, httpRequest: { url } }))).toMatchObject({
      code: status.ALREADY_EXISTS,
    });
    expect(await refusal(tasks.client.getTask({ name }))).toMatchObject({ code: status.NOT_FOUND });
    tasks.clock.advance(61_000);
    expect(tasks.requests).toHaveLength(0);
  });

  test('unnamed tasks never collide and get numeric ids', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => create({ httpRequest: { url } })));
    const ids = made.map(([task]) => String(task.name).replace(`${QUEUE}/tasks/`, ''));
    expect(new Set(ids).size).toBe(20);
    expect(ids.every((id) => /^\d+$/.test(id))).toBe(true);
  });
});

describe('what is refused', () => {
  test.each([
    ['no target', {}, /payload_type/],
    ['a relative URL', { httpRequest: { url: '/x' } }, /must start with 'http/],
    ['a URL of another scheme', { httpRequest: { url: 'ftp://x/' } }, /must start with 'http/],
    ['a URL that is too long', { httpRequest: { url: `http://x/${'y'.repeat(2100)}` } }, /longer than 2083/],
    [
      'a body for GET',
      { httpRequest: { url, httpMethod: 'GET', body: Buffer.from('x') } },
      /only allowed for POST/,
    ],
    ['a body over 1 MiB', { httpRequest: { url, body: Buffer.alloc(1024 * 1024 + 1) } }, /too large/],
    ['a header with a line break', { httpRequest: { url, headers: { a: 'b\nc: d' } } }, /not a valid header/],
    ['a header HTTP cannot carry', { httpRequest: { url, headers: { a: '→' } } }, /not a valid header/],
    ['a token without an account', { httpRequest: { url, oidcToken: {} } }, /service_account_email/],
    [
      'a schedule 31 days ahead',
      { httpRequest: { url }, scheduleTime: { seconds: 1767225600 + 31 * 86400 } },
      /30 days/,
    ],
    [
      'a deadline under 15 s',
      { httpRequest: { url }, dispatchDeadline: { seconds: 14 } },
      /between \[15s, 30m\]/,
    ],
    [
      'a deadline over 30 min',
      { httpRequest: { url }, dispatchDeadline: { seconds: 1801 } },
      /between \[15s, 30m\]/,
    ],
    ['a bad task id', { name: `${QUEUE}/tasks/a b`, httpRequest: { url } }, /Task name must be formatted/],
    [
      'a name in another queue',
      { name: `${LOCATION}/queues/o/tasks/t`, httpRequest: { url } },
      /must be the same as/,
    ],
  ])('%s is an invalid argument', async (_what, task, message) => {
    const { code, details } = await refusal(create(task));
    expect(details).toMatch(message);
    expect(code).toBe(status.INVALID_ARGUMENT);
    expect(tasks.requests).toHaveLength(0);
  });

  test('a task for a queue that does not exist is not found: queues are not created by use', async () => {
    const parent = `${LOCATION}/queues/missing`;
    const { code, details } = await refusal(
      tasks.client.createTask({ parent, task: { httpRequest: { url } } }),
    );
    expect(code).toBe(status.NOT_FOUND);
    expect(details).toMatch(/^Queue does not exist/);
  });

  test.each([
    ['App Engine targets', { appEngineHttpRequest: { relativeUri: '/' } }],
    ['OAuth tokens', { httpRequest: { url, oauthToken: { serviceAccountEmail: 'a@b' } } }],
  ])('%s are not implemented, and said so', async (_what, task) => {
    expect(await refusal(create(task))).toMatchObject({ code: status.UNIMPLEMENTED });
  });

  test('calls without a handler are not implemented', async () => {
    const call = tasks.client.getLocation({ name: LOCATION });
    expect(await refusal(call)).toMatchObject({ code: status.UNIMPLEMENTED });
  });
});

describe('views and pages', () => {
  test('the basic view leaves the body out, the full view has it', async () => {
    const body = Buffer.from('payload');
    const oidcToken = { serviceAccountEmail: 'a@b.example', audience: 'https://aud' };
    const scheduleTime = inSeconds(60);
    const [made] = await create({ httpRequest: { url, body, oidcToken }, scheduleTime });
    expect(made.httpRequest?.body).toHaveLength(0);
    expect(made).toMatchObject({ view: 'BASIC', dispatchCount: 0, httpRequest: { url, oidcToken } });
    const [full] = await tasks.client.getTask({ ...nameOf(made), responseView: 'FULL' });
    expect(full).toMatchObject({ view: 'FULL', httpRequest: { url, httpMethod: 'POST', oidcToken } });
    expect(Buffer.from(full.httpRequest?.body as Uint8Array).toString()).toBe('payload');
    expect(Number(full.scheduleTime?.seconds)).toBe(scheduleTime.seconds);
    expect(Number(full.dispatchDeadline?.seconds)).toBe(600);
  });

  test('pages of tasks are complete and disjoint, whatever their size', async () => {
    const names = [];
    for (let i = 0; i < 7; i++) {
      const [task] = await create({ httpRequest: { url }, scheduleTime: inSeconds(100 + i) });
      names.push(task.name);
    }
    for (const pageSize of [1, 3, 7, 100]) {
      const [listed] = await tasks.client.listTasks({ parent: QUEUE, pageSize }, { autoPaginate: true });
      expect(listed.map((task) => task.name)).toEqual(names);
    }
  });

  test('a page token of another list is refused', async () => {
    const other = `${LOCATION}/queues/other`;
    await tasks.client.createQueue({ parent: LOCATION, queue: { name: other } });
    for (let i = 0; i < 2; i++) await create({ httpRequest: { url }, scheduleTime: inSeconds(60) });
    const request = { parent: QUEUE, pageSize: 1 };
    const [, , page] = await tasks.client.listTasks(request, { autoPaginate: false });
    const call = tasks.client.listTasks(
      { parent: other, pageToken: String(page?.nextPageToken) },
      { autoPaginate: false },
    );
    expect(await refusal(call)).toMatchObject({ code: status.INVALID_ARGUMENT });
  });
});

describe('queues', () => {
  test('a new queue has the documented defaults', async () => {
    const [queue] = await tasks.client.getQueue({ name: QUEUE });
    expect(queue).toMatchObject({
      state: 'RUNNING',
      rateLimits: { maxDispatchesPerSecond: 500, maxBurstSize: 100, maxConcurrentDispatches: 1000 },
      retryConfig: { maxAttempts: 100, maxDoublings: 16, minBackoff: { nanos: 100_000_000 } },
    });
  });

  test('an update changes what its mask names and nothing else', async () => {
    const queue = { name: QUEUE, retryConfig: { maxAttempts: 7 }, rateLimits: { maxDispatchesPerSecond: 3 } };
    const updateMask = { paths: ['retry_config.max_attempts'] };
    const [updated] = await tasks.client.updateQueue({ queue, updateMask });
    expect(updated.retryConfig).toMatchObject({ maxAttempts: 7, maxDoublings: 16 });
    expect(updated.rateLimits).toMatchObject({ maxDispatchesPerSecond: 500 });
  });

  test.each(['state', 'rate_limits.constructor', 'retry_config.to_string', 'retry_config.__proto__'])(
    'an update of %s is refused',
    async (path) => {
      const call = tasks.client.updateQueue({ queue: { name: QUEUE }, updateMask: { paths: [path] } });
      expect(await refusal(call)).toMatchObject({ code: status.INVALID_ARGUMENT });
    },
  );

  test.each([
    ['a rate over 500', { rateLimits: { maxDispatchesPerSecond: 501 } }],
    ['concurrency over 5000', { rateLimits: { maxConcurrentDispatches: 5001 } }],
    ['fewer than -1 attempts', { retryConfig: { maxAttempts: -2 } }],
    ['crossed backoffs', { retryConfig: { minBackoff: { seconds: 9 }, maxBackoff: { seconds: 3 } } }],
  ])('%s is refused', async (_what, config) => {
    const call = tasks.client.createQueue({
      parent: LOCATION,
      queue: { name: `${LOCATION}/queues/q`, ...config },
    });
    expect(await refusal(call)).toMatchObject({ code: status.INVALID_ARGUMENT });
  });

  test('a queue exists once, is listed, and is deleted with its tasks', async () => {
    const call = tasks.client.createQueue({ parent: LOCATION, queue: { name: QUEUE } });
    expect(await refusal(call)).toMatchObject({ code: status.ALREADY_EXISTS });
    const [listed] = await tasks.client.listQueues({ parent: LOCATION });
    expect(listed.map((queue) => queue.name)).toEqual([QUEUE]);
    const [task] = await create({ httpRequest: { url }, scheduleTime: inSeconds(60) });
    await tasks.client.deleteQueue({ name: QUEUE });
    expect(await refusal(tasks.client.getQueue({ name: QUEUE }))).toMatchObject({ code: status.NOT_FOUND });
    expect(await refusal(tasks.client.getTask(nameOf(task)))).toMatchObject({
      code: status.NOT_FOUND,
    });
    tasks.clock.advance(61_000);
    expect(tasks.requests).toHaveLength(0);
  });

  test.each<[string, boolean]>([
    ['state: PAUSED', true],
    ['state = "RUNNING"', false],
    ['state != RUNNING AND rateLimits.maxDispatchesPerSecond <= 5', true],
    ['rate_limits.max_dispatches_per_second > 5', false],
    [`name = ${QUEUE}`, true],
    ['name:main AND state=RUNNING', false],
  ])('are listed if they match: %s', async (filter, listed) => {
    await tasks.client.updateQueue({ queue: { name: QUEUE, rateLimits: { maxDispatchesPerSecond: 5 } } });
    await tasks.client.pauseQueue({ name: QUEUE });
    const [queues] = await tasks.client.listQueues({ parent: LOCATION, filter });
    expect(queues).toHaveLength(listed ? 1 : 0);
  });

  test.each(['color = red', 'state', 'state = RUNNING OR state = PAUSED', 'constructor = x'])(
    'are not listed by what is no filter: %s',
    async (filter) => {
      const call = tasks.client.listQueues({ parent: LOCATION, filter });
      expect(await refusal(call)).toMatchObject({ code: status.INVALID_ARGUMENT });
    },
  );

  test('have a policy that is deleted with them', async () => {
    const bindings = [{ role: 'roles/cloudtasks.enqueuer', members: ['allUsers'] }];
    const [before] = await tasks.client.getIamPolicy({ resource: QUEUE });
    const [made] = await tasks.client.setIamPolicy({
      resource: QUEUE,
      policy: { bindings, etag: before.etag ?? '' },
    });
    expect(made).toMatchObject({ version: 1, bindings });
    const stale = tasks.client.setIamPolicy({ resource: QUEUE, policy: { etag: before.etag ?? '' } });
    expect(await refusal(stale)).toMatchObject({ code: status.ABORTED });
    const permissions = ['cloudtasks.tasks.create'];
    expect((await tasks.client.testIamPermissions({ resource: QUEUE, permissions }))[0]).toEqual({
      permissions,
    });
    await tasks.client.deleteQueue({ name: QUEUE });
    expect(await refusal(tasks.client.getIamPolicy({ resource: QUEUE }))).toMatchObject({
      code: status.NOT_FOUND,
    });
    await tasks.client.createQueue({ parent: LOCATION, queue: { name: QUEUE } });
    expect((await tasks.client.getIamPolicy({ resource: QUEUE }))[0].bindings).toEqual([]);
  });

  test('a paused queue keeps its tasks, a resumed one dispatches them', async () => {
    await tasks.client.pauseQueue({ name: QUEUE });
    const [task] = await create({ httpRequest: { url } });
    tasks.clock.advance(60_000);
    await tasks.client.getTask(nameOf(task));
    expect(tasks.requests).toHaveLength(0);
    const [resumed] = await tasks.client.resumeQueue({ name: QUEUE });
    expect(resumed.state).toBe('RUNNING');
    await tasks.drained();
    expect(tasks.requests).toHaveLength(1);
  });

  test('a purge removes waiting tasks', async () => {
    await create({ httpRequest: { url }, scheduleTime: inSeconds(60) });
    const [purged] = await tasks.client.purgeQueue({ name: QUEUE });
    expect(Number(purged.purgeTime?.seconds)).toBe(inSeconds(0).seconds);
    await tasks.drained();
    tasks.clock.advance(61_000);
    expect(tasks.requests).toHaveLength(0);
  });

  test('a purge keeps the names that callers chose, for an hour', async () => {
    const task = { name: `${QUEUE}/tasks/chosen`, httpRequest: { url }, scheduleTime: inSeconds(60) };
    await create(task);
    await tasks.client.purgeQueue({ name: QUEUE });
    await expect(create(task)).rejects.toMatchObject({ code: status.ALREADY_EXISTS });
    tasks.clock.advance(3_600_000);
    await create({ ...task, scheduleTime: inSeconds(60) });
  });

  test('a task counts an attempt from its dispatch on, and has its result once it is answered', async () => {
    let answer: (result: DispatchResult) => void = () => {};
    tasks.answers.push(() => new Promise((resolve) => (answer = resolve)));
    const [task] = await create({ httpRequest: { url } });
    await tasks.dispatched(1);
    const read = async () => (await tasks.client.getTask(nameOf(task)))[0];
    const running = await read();
    expect(running).toMatchObject({
      dispatchCount: 1,
      responseCount: 0,
      firstAttempt: { dispatchTime: now() },
      lastAttempt: { dispatchTime: now(), responseTime: null, responseStatus: null },
    });
    const [listed] = await tasks.client.listTasks({ parent: QUEUE });
    expect(listed).toEqual([running]);
    answer(answered(500));
    await until(async () => (await read()).responseCount === 1, 'the result');
    expect(await read()).toMatchObject({ dispatchCount: 1, lastAttempt: { responseStatus: { code: 13 } } });
  });

  test('run now returns the task as dispatched, also while it runs, and a failure is retried a pause after the call', async () => {
    const minBackoff = { seconds: 100 };
    await tasks.client.updateQueue({ queue: { name: QUEUE, retryConfig: { minBackoff } } });
    let answer: (result: DispatchResult) => void = () => {};
    tasks.answers.push(
      () => new Promise(() => {}),
      () => new Promise((resolve) => (answer = resolve)),
    );
    const [task] = await create({ httpRequest: { url } });
    await tasks.dispatched(1);
    tasks.clock.advance(5_000);
    const called = now();
    const [run] = await tasks.client.runTask(nameOf(task));
    expect(run).toMatchObject({
      dispatchCount: 2,
      responseCount: 0,
      scheduleTime: called,
      lastAttempt: { scheduleTime: called, dispatchTime: called, responseStatus: null },
    });
    tasks.clock.advance(60_000);
    answer(answered(500));
    const read = async () => (await tasks.client.getTask(nameOf(task)))[0];
    await until(async () => (await read()).responseCount === 1, 'the result');
    expect(Number((await read()).scheduleTime?.seconds)).toBe(Number(called.seconds) + 100);
  });

  test('run now dispatches a task of a paused queue before its time, and a failure is retried later', async () => {
    await tasks.client.pauseQueue({ name: QUEUE });
    const [task] = await create({ httpRequest: { url }, scheduleTime: inSeconds(3600) });
    tasks.answers.push(answered(500));
    await tasks.client.runTask(nameOf(task));
    await tasks.dispatched(1);
    const [after] = await tasks.client.getTask(nameOf(task));
    expect(after).toMatchObject({ dispatchCount: 1, lastAttempt: { responseStatus: { code: 13 } } });
  });
});
