import { writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { startLocalCloud } from '../../../local/cloud.ts';
import {
  type CloudFixture,
  isAlive,
  startFixture,
  tasksClient,
  until,
  WORK_QUEUE,
  workTask,
} from './cloud-fixture.ts';

let fixture: CloudFixture | undefined;
afterEach(async () => {
  await fixture?.stop();
  fixture = undefined;
});

async function enqueue({ cloud }: CloudFixture, ...data: object[]): Promise<void> {
  const client = tasksClient(cloud.tasks);
  for (const one of data) {
    await client.createTask({ parent: WORK_QUEUE, task: workTask(cloud.functionsUrl, one) });
  }
  await client.close();
}

test('a task-queue function has the queue its metadata describes', async () => {
  fixture = await startFixture();
  const client = tasksClient(fixture.cloud.tasks);
  const [queue] = await client.getQueue({ name: WORK_QUEUE });
  expect(queue).toMatchObject({
    rateLimits: { maxConcurrentDispatches: 7, maxDispatchesPerSecond: 500 },
    retryConfig: { maxAttempts: 5, minBackoff: { nanos: 50_000_000 }, maxDoublings: 16 },
  });
  await client.close();
});

test('a dispatched task reaches the function with its token and its name', async () => {
  fixture = await startFixture();
  await enqueue(fixture, { id: 'a' });
  await until(() => fixture?.trace('work-done').length === 1, 'the task');
  const [seen] = fixture.trace('work');
  expect(seen).toMatchObject({ id: 'a', retryCount: 0, email: 'drive@demo-cairn.iam.gserviceaccount.com' });
  expect(seen?.name).toMatch(/^\d+$/);
});

test('a task whose worker is killed under it is delivered again, to a new worker', async () => {
  fixture = await startFixture();
  await enqueue(fixture, { id: 'b', once: 'die' }, { id: 'c' });
  await until(() => fixture?.trace('work-done').length === 2, 'both tasks');
  const deliveries = fixture.trace('work').filter((line) => line.id === 'b');
  expect(deliveries.map((line) => line.retryCount)).toEqual([0, 1]);
  expect(new Set(deliveries.map((line) => line.pid)).size).toBe(2);
});

test('requests that come while no worker is alive wait for the next one', async () => {
  fixture = await startFixture();
  const { cloud } = fixture;
  for (const pid of cloud.pids.workers) process.kill(pid, 'SIGKILL');
  await until(
    () => fixture?.log.some((line) => line.includes('starting another')) ?? false,
    'the death to be noticed',
  );
  const answer = await fetch(`${cloud.gateway}/echo/x`);
  expect(answer.status).toBe(200);
});

test('several workers share the requests', async () => {
  fixture = await startFixture({ workers: 2 });
  const { cloud } = fixture;
  expect(new Set(cloud.pids.workers).size).toBe(2);
  const answers = await Promise.all(Array.from({ length: 4 }, () => fetch(`${cloud.gateway}/alone`)));
  expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 200]);
});

test('moving the clock moves the time of running workers and of those started later', async () => {
  fixture = await startFixture();
  const { cloud } = fixture;
  const day = 24 * 3_600_000;
  cloud.clock.advance(day);
  const ask = async () => {
    const answer = await fetch(`${cloud.functionsUrl}/time`);
    return (await answer.json()) as { now: number; date: string; fixed: string };
  };
  for (const _worker of ['running', 'new']) {
    const seen = await ask();
    expect(seen.now - Date.now()).toBeGreaterThan(day - 60_000);
    expect(Date.parse(seen.date) - Date.now()).toBeGreaterThan(day - 60_000);
    expect(seen.fixed).toBe('1970-01-01T00:00:00.000Z');
    const { workers } = cloud.pids;
    for (const pid of workers) process.kill(pid, 'SIGKILL');
    await until(() => !cloud.pids.workers.includes(Number(workers[0])), 'the death to be noticed');
  }
});

test('stopping lets a task in hand finish and leaves no process', async () => {
  fixture = await startFixture();
  const { cloud } = fixture;
  await enqueue(fixture, { id: 'd', once: 'slow' });
  await until(() => fixture?.trace('work').length === 1, 'the task to start');
  const { workers } = cloud.pids;
  await cloud.stop();
  expect(workers.some(isAlive)).toBe(false);
  expect(fixture.trace('sigterm')).toHaveLength(1);
  expect(fixture.trace('work-done')).toHaveLength(1);
});

test('a scheduled function fires at once and then every tick', async () => {
  fixture = await startFixture({ tickSeconds: 0.1 });
  await until(() => (fixture?.trace('minutely').length ?? 0) >= 3, 'three ticks');
  const [first] = fixture.trace('minutely');
  expect(first?.jobName).toBe('firebase-schedule-minutely-us-central1');
  expect(Date.parse(String(first?.scheduleTime))).not.toBeNaN();
});

test('a module that cannot be loaded fails the start and says why', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cairn-broken-'));
  const functionsModule = join(folder, 'index.ts');
  writeFileSync(functionsModule, "throw new Error('broken on purpose');\n");
  const start = startLocalCloud({ data: 'memory', functionsModule, log: () => {} });
  await expect(start).rejects.toThrow(/could not be loaded:\n.*broken on purpose/s);
});
