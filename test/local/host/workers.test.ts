import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { signalTo } from '../../support/processes.ts';
import { until } from '../support.ts';
import { type CloudFixture, enqueueWork, startFixture, tasksClient, WORK_QUEUE } from './cloud-fixture.ts';

let fixture: CloudFixture;
beforeAll(async () => {
  fixture = await startFixture();
});
afterAll(() => fixture.stop());

const work = (id: string, event = 'work') => fixture.trace(event).filter((line) => line.id === id);

test('a task-queue function has the queue its metadata describes', async () => {
  const client = tasksClient(fixture.cloud.tasks);
  const [queue] = await client.getQueue({ name: WORK_QUEUE });
  expect(queue).toMatchObject({
    rateLimits: { maxConcurrentDispatches: 7, maxDispatchesPerSecond: 500 },
    retryConfig: { maxAttempts: 5, minBackoff: { nanos: 50_000_000 }, maxDoublings: 16 },
  });
  await client.close();
});

test('a dispatched task reaches the function with its token and its name', async () => {
  await enqueueWork(fixture.cloud, { id: 'plain' });
  await until(() => work('plain', 'work-done').length === 1, 'the task');
  const [seen] = work('plain');
  expect(seen).toMatchObject({ retryCount: 0, email: 'drive@demo-cairn.iam.gserviceaccount.com' });
  expect(seen?.name).toMatch(/^\d+$/);
});

test('a task whose worker is killed under it is delivered again, to a new worker', async () => {
  await enqueueWork(fixture.cloud, { id: 'deadly', once: 'die' }, { id: 'bystander' });
  for (const id of ['deadly', 'bystander']) {
    await until(() => work(id, 'work-done').length === 1, `task ${id}`);
  }
  const deliveries = work('deadly');
  expect(deliveries.map((line) => line.retryCount)).toEqual([0, 1]);
  expect(new Set(deliveries.map((line) => line.pid)).size).toBe(2);
});

test('requests that come while no worker is alive wait for the next one', async () => {
  const { cloud } = fixture;
  const [old] = cloud.pids.workers;
  signalTo(old, 'SIGKILL');
  await until(() => !cloud.pids.workers.includes(old), 'the death to be noticed');
  expect((await fetch(`${cloud.gateway}/echo/x`)).status).toBe(200);
});

test('functions have no channel to another process, as deployed ones have none', async () => {
  expect(await (await fetch(`${fixture.cloud.functionsUrl}/channel`)).json()).toEqual({ send: 'undefined' });
});

test('moving the clock moves the time of running workers and of those started later', async () => {
  const { cloud } = fixture;
  const day = 24 * 3_600_000;
  cloud.clock.advance(day);
  for (const _worker of ['running', 'new']) {
    const answer = await fetch(`${cloud.functionsUrl}/time`);
    const seen = (await answer.json()) as { now: number; date: string; fixed: string };
    expect(seen.now - Date.now()).toBeGreaterThan(day - 60_000);
    expect(Date.parse(seen.date) - Date.now()).toBeGreaterThan(day - 60_000);
    expect(seen.fixed).toBe('1970-01-01T00:00:00.000Z');
    const [old] = cloud.pids.workers;
    signalTo(old, 'SIGKILL');
    await until(() => !cloud.pids.workers.includes(old), 'the death to be noticed');
  }
});

test('moving the clock does not interrupt requests in flight', async () => {
  const { cloud } = fixture;
  const answer = fetch(`${cloud.functionsUrl}/held`);
  await until(() => fixture.trace('held').length === 1, 'the request to be there');
  cloud.clock.advance(24 * 3_600_000);
  expect((await fetch(`${cloud.functionsUrl}/release`)).status).toBe(200);
  expect((await answer).status).toBe(200);
});

test('a scheduled call ends with its stopped worker, and the next one goes to another', async () => {
  const watched = await startFixture({ watchdogSeconds: 9, tickSeconds: 1 });
  try {
    await until(() => watched.trace('minutely').length > 0, 'a call');
    // On a slow machine an earlier worker may have been killed.
    const before = watched.trace('minutely');
    const stopped = before.at(-1)?.pid;
    signalTo(stopped, 'SIGSTOP');
    const later = () => watched.trace('minutely').slice(before.length);
    await until(() => later().some(({ pid }) => pid !== stopped), 'a call to another');
    expect(watched.log.join('\n')).toContain(
      `worker ${stopped} has been stopped by a signal for 1 s and is killed`,
    );
  } finally {
    await watched.stop();
  }
});
