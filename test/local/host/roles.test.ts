import { afterEach, expect, test } from '@jest/globals';
import { type CloudFixture, enqueue, isAlive, startFixture, until } from './cloud-fixture.ts';

let fixture: CloudFixture;
afterEach(() => fixture.stop());

const answers = async () => (await fetch(`${fixture.cloud.gateway}/echo/x`)).status;
/** The process that answers a function which shares the worker of the tasks. */
const whole = async () => Number(await (await fetch(`${fixture.cloud.functionsUrl}/whole`)).text());
const role = (name: string) => fixture.cloud.pids.roles[name] ?? [];
const noted = (event: string, id: string) => fixture.trace(event).filter((line) => line.id === id);

test('a task that blocks its process runs once, and meanwhile HTTP functions and schedules respond', async () => {
  fixture = await startFixture({ tickSeconds: 0.1, watchdogSeconds: 60 });
  expect(await answers()).toBe(200);
  const shared = await whole();
  expect(role('tasks')).toEqual([shared]);
  await enqueue(fixture.cloud, 'spin', { id: 'busy', ms: 2_000 });
  await until(() => noted('spin', 'busy').length === 1, 'the task to begin');
  const ticks = fixture.trace('minutely').length;
  expect(await answers()).toBe(200);
  expect(await whole()).not.toBe(shared);
  await until(() => fixture.trace('minutely').length > ticks, 'a schedule to fire');
  expect(noted('spin-done', 'busy')).toEqual([]);
  await until(() => noted('spin-done', 'busy').length === 1, 'the task to end');
  expect(noted('spin', 'busy')).toHaveLength(1);
});

test('an unresponsive worker is killed, and its task is redelivered to another', async () => {
  fixture = await startFixture({ watchdogSeconds: 2 });
  await enqueue(fixture.cloud, 'spin', { id: 'stuck' });
  await until(() => noted('spin-done', 'stuck').length > 0, 'a later delivery to end');
  const [first, second] = noted('spin', 'stuck');
  expect(first?.retryCount).toBe(0);
  // The next one, but for one that met a worker which a slow machine kept silent just then.
  expect(second?.retryCount).toBeGreaterThan(0);
  expect(noted('spin-done', 'stuck').map(({ pid }) => pid)).not.toContain(first?.pid);
  expect(isAlive(first?.pid ?? 0)).toBe(false);
  expect(fixture.log.join('\n')).toContain(`worker ${first?.pid} sent no heartbeat for 2 s and is killed`);
});

test('a task that was sent to a blocked worker goes to the spare', async () => {
  fixture = await startFixture({ watchdogSeconds: 3_600 });
  await enqueue(fixture.cloud, 'spin', { id: 'stuck' });
  await until(() => noted('spin', 'stuck').length === 1, 'the task to begin');
  const [blocked] = role('tasks');
  await enqueue(fixture.cloud, 'spin', { id: 'neighbour', ms: 0 });
  await until(() => fixture.trace('spin-done').length > 0, 'the neighbour to run elsewhere');
  expect(role('tasks')).toHaveLength(2);
  process.kill(blocked ?? 0, 'SIGKILL');
});

test('a function that takes one task at a time has a process of its own for each, which ends afterwards', async () => {
  fixture = await startFixture();
  await until(() => role('spare').length === 1, 'the spare');
  const others = [...role('requests'), ...role('tasks')];
  await enqueue(fixture.cloud, 'single', { id: 'a' }, { id: 'b' });
  await until(() => fixture.trace('single-done').length === 2, 'both tasks');
  await until(() => role('alone:single').length === 0, 'their processes to end');
  await enqueue(fixture.cloud, 'single', { id: 'c' });
  await until(() => fixture.trace('single-done').length === 3, 'the third task');
  const pids = fixture.trace('single').map(({ pid }) => pid);
  expect(new Set(pids).size).toBe(3);
  // One may be the worker of the tasks that was idle while no spare was ready: it serves no more tasks.
  expect([...role('requests'), ...role('tasks')].filter((pid) => pids.includes(pid))).toEqual([]);
  expect(pids.filter((pid) => !others.includes(pid)).length).toBeGreaterThanOrEqual(2);
  expect(fixture.log.join('\n')).not.toContain('starting another');
});

test('the spare takes the place of a worker that is killed', async () => {
  fixture = await startFixture();
  await until(() => role('spare').length === 1, 'the spare');
  const [spare] = role('spare');
  await enqueue(fixture.cloud, 'work', { id: 'first' });
  await until(() => noted('work-done', 'first').length === 1, 'the spare to be loaded');
  const [victim] = role('tasks');
  process.kill(victim ?? 0, 'SIGKILL');
  await until(() => !role('tasks').includes(victim ?? 0), 'the death to be noticed');
  expect(role('tasks')).toEqual([spare]);
});
