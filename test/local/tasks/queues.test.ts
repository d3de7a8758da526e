import { status } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { DispatchResult } from '../../../packages/local-tasks/src/dispatch/attempt.ts';
import { refusal, until } from '../support.ts';
import { answered, LOCATION, QUEUE, startTasks, type TasksFixture } from './tasks-fixture.ts';

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

  test('an update of the rate picks the burst of the new rate', async () => {
    const queue = { name: QUEUE, rateLimits: { maxDispatchesPerSecond: 1 } };
    const updateMask = { paths: ['rate_limits.max_dispatches_per_second'] };
    const [updated] = await tasks.client.updateQueue({ queue, updateMask });
    const [made] = await tasks.client.createQueue({
      parent: LOCATION,
      queue: { ...queue, name: `${LOCATION}/queues/same` },
    });
    expect(updated.rateLimits).toEqual(made.rateLimits);
  });

  test('an update of one backoff is compared with the other one of the queue', async () => {
    const update = (retryConfig: object, path: string) =>
      tasks.client.updateQueue({
        queue: { name: QUEUE, retryConfig },
        updateMask: { paths: [`retry_config.${path}`] },
      });
    await update({ maxBackoff: { seconds: 9000 } }, 'max_backoff');
    const [{ retryConfig }] = await update({ minBackoff: { seconds: 7200 } }, 'min_backoff');
    expect(retryConfig).toMatchObject({ minBackoff: { seconds: '7200' }, maxBackoff: { seconds: '9000' } });
    const crossed = update({ maxBackoff: { seconds: 7199 } }, 'max_backoff');
    expect(await refusal(crossed)).toMatchObject({ code: status.INVALID_ARGUMENT });
  });

  test('the part that is logged is kept, updated by a mask and removed by one', async () => {
    const update = async (stackdriverLoggingConfig: object | null, path: string) => {
      const queue = { name: QUEUE, stackdriverLoggingConfig };
      return (await tasks.client.updateQueue({ queue, updateMask: { paths: [path] } }))[0];
    };
    const logging = 'stackdriver_logging_config';
    expect(await update({ samplingRatio: 0.5 }, logging)).toMatchObject({
      stackdriverLoggingConfig: { samplingRatio: 0.5 },
    });
    expect(await update({ samplingRatio: 1 }, `${logging}.sampling_ratio`)).toMatchObject({
      stackdriverLoggingConfig: { samplingRatio: 1 },
    });
    expect(await refusal(update({ samplingRatio: 1.1 }, logging))).toMatchObject({
      code: status.INVALID_ARGUMENT,
    });
    expect((await update(null, logging)).stackdriverLoggingConfig).toBeNull();
  });

  test.each([
    'retry_config.min_backoff.seconds',
    'state',
    'rate_limits.constructor',
    'retry_config.to_string',
    'retry_config.__proto__',
  ])('an update of %s is refused', async (path) => {
    const call = tasks.client.updateQueue({ queue: { name: QUEUE }, updateMask: { paths: [path] } });
    expect(await refusal(call)).toMatchObject({ code: status.INVALID_ARGUMENT });
  });

  test.each([
    ['a rate over 500', { rateLimits: { maxDispatchesPerSecond: 501 } }],
    ['concurrency over 5000', { rateLimits: { maxConcurrentDispatches: 5001 } }],
    ['fewer than -1 attempts', { retryConfig: { maxAttempts: -2 } }],
    ['a backoff over its second', { retryConfig: { minBackoff: { seconds: 1, nanos: 1e9 } } }],
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

  test('a task is deleted when it is 31 days old, dispatched or not', async () => {
    await tasks.client.pauseQueue({ name: QUEUE });
    const [task] = await create({ httpRequest: { url } });
    tasks.clock.advance(31 * 86_400_000 - 1);
    await tasks.client.getTask(nameOf(task));
    tasks.clock.advance(600_000);
    await tasks.drained();
    expect(await refusal(tasks.client.getTask(nameOf(task)))).toMatchObject({ code: status.NOT_FOUND });
    await tasks.client.resumeQueue({ name: QUEUE });
    expect(tasks.requests).toHaveLength(0);
  });

  test('a task that falls due while the clock is moved further is dispatched, however old it is then', async () => {
    const seconds = Math.floor(tasks.clock.now() / 1_000) + 20 * 86_400;
    await create({ httpRequest: { url }, scheduleTime: { seconds } });
    tasks.clock.advance(35 * 86_400_000);
    await tasks.drained();
    expect(tasks.requests).toHaveLength(1);
  });

  test.each(['123456789', 'example.com:shop', 'Demo'])('may be of the project %s', async (project) => {
    const parent = `projects/${project}/locations/us-central1`;
    const name = `${parent}/queues/q`;
    const [made] = await tasks.client.createQueue({ parent, queue: { name } });
    expect(made.name).toBe(name);
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
