import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { isAlive, signalTo } from '../../support/processes.ts';
import { until as soon } from '../support.ts';
import { type CloudFixture, enqueue, startFixture } from './cloud-fixture.ts';

let fixture: CloudFixture;
afterEach(() => fixture.stop());

const answers = async () => (await fetch(`${fixture.cloud.gateway}/echo/x`)).status;
/** Process id of the worker that serves a function that may share task workers. */
const whole = async () => Number(await (await fetch(`${fixture.cloud.functionsUrl}/whole`)).text());
const role = (name: string) => fixture.cloud.pids.roles[name] ?? [];
const noted = (event: string, id: string) => fixture.trace(event).filter((line) => line.id === id);

test('a task that blocks its process runs once, and meanwhile HTTP functions and schedules respond', async () => {
  fixture = await startFixture({ tickSeconds: 0.1, watchdogSeconds: 3_600 });
  expect(await answers()).toBe(200);
  const shared = await whole();
  expect(role('tasks')).toEqual([shared]);
  const until = join(fixture.folder, 'go-on');
  await enqueue(fixture.cloud, 'spin', { id: 'busy', until });
  await soon(() => noted('spin', 'busy').length === 1, 'the task to begin');
  const ticks = fixture.trace('minutely').length;
  expect(await answers()).toBe(200);
  expect(await whole()).not.toBe(shared);
  await soon(() => fixture.trace('minutely').length > ticks, 'a schedule to fire');
  writeFileSync(until, '');
  await soon(() => noted('spin-done', 'busy').length === 1, 'the task to end');
  expect(noted('spin', 'busy')).toHaveLength(1);
});

test('an unresponsive worker is killed, and its task is redelivered to another', async () => {
  fixture = await startFixture({ watchdogSeconds: 2 });
  await enqueue(fixture.cloud, 'spin', { id: 'stuck' });
  await soon(() => noted('spin-done', 'stuck').length > 0, 'a later delivery to end');
  const [first, second] = noted('spin', 'stuck');
  // Usually the first and second delivery; on a slow machine others may have failed in between.
  expect(Number(second?.retryCount)).toBeGreaterThan(Number(first?.retryCount));
  expect(noted('spin-done', 'stuck').map(({ pid }) => pid)).not.toContain(first?.pid);
  expect(isAlive(first?.pid)).toBe(false);
  expect(fixture.log.join('\n')).toContain(`worker ${first?.pid} sent no heartbeat for 2 s and is killed`);
});

test('a task that was sent to a blocked worker goes to the spare', async () => {
  fixture = await startFixture({ watchdogSeconds: 3_600 });
  await enqueue(fixture.cloud, 'spin', { id: 'stuck' });
  await soon(() => noted('spin', 'stuck').length === 1, 'the task to begin');
  const [blocked] = role('tasks');
  await enqueue(fixture.cloud, 'spin', { id: 'neighbour', until: fixture.folder });
  await soon(() => fixture.trace('spin-done').length > 0, 'the neighbour to run elsewhere');
  expect(role('tasks')).toHaveLength(2);
  signalTo(blocked, 'SIGKILL');
});

test('a function with concurrency 1 has a separate process for each task, which ends afterwards', async () => {
  fixture = await startFixture();
  await soon(() => role('spare').length === 1, 'the spare');
  const others = [...role('requests'), ...role('tasks')];
  await enqueue(fixture.cloud, 'single', { id: 'a' }, { id: 'b' });
  await soon(() => fixture.trace('single-done').length === 2, 'both tasks');
  await soon(() => role('alone:single').length === 0, 'their processes to end');
  await enqueue(fixture.cloud, 'single', { id: 'c' });
  await soon(() => fixture.trace('single-done').length === 3, 'the third task');
  const pids = fixture.trace('single').map(({ pid }) => pid);
  expect(new Set(pids).size).toBe(3);
  // One may be a task worker that was idle while no spare was ready; it serves no more tasks.
  expect([...role('requests'), ...role('tasks')].filter((pid) => pids.includes(pid))).toEqual([]);
  expect(pids.filter((pid) => !others.includes(pid)).length).toBeGreaterThanOrEqual(2);
  expect(fixture.log.join('\n')).not.toContain('starting another');
});

test('the spare takes the place of a worker that is killed', async () => {
  fixture = await startFixture();
  await soon(() => role('spare').length === 1, 'the spare');
  const [spare] = role('spare');
  await enqueue(fixture.cloud, 'work', { id: 'first' });
  await soon(() => noted('work-done', 'first').length === 1, 'the spare to be loaded');
  const [victim] = role('tasks');
  signalTo(victim, 'SIGKILL');
  await soon(() => !role('tasks').includes(victim ?? 0), 'the death to be noticed');
  expect(role('tasks')).toEqual([spare]);
});
