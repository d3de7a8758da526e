import { readFileSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { isAlive } from '../../support/processes.ts';
import { enqueue, readTrace, tasksClient, WORK_QUEUE, workTask } from '../host/cloud-fixture.ts';
import { until } from '../support.ts';
import { freshFolder, type StartedProcess, startProcess } from './start-fixture.ts';

/** Before the second task is due. */
const MOVED_MS = 100;

const processes: StartedProcess[] = [];
function start(args: readonly string[], env: Record<string, string>): StartedProcess {
  const started = startProcess(args, env);
  processes.push(started);
  return started;
}
afterEach(async () => {
  for (const { child } of processes) child.kill('SIGKILL');
  await Promise.all(processes.map(({ ended }) => ended));
});

test('after SIGKILL of the cloud its workers exit, and a new start has the same key, secrets, time and tasks', async () => {
  const data = freshFolder();
  const trace = join(data, 'trace');
  const first = start(['--json', '--data', data], { FIXTURE_TRACE: trace, FIXTURE_HOLDS: 'yes' });
  const before = await first.ready;
  const moved = await askClock(`${before.control}/clock/advance`, { ms: MOVED_MS });
  expect(moved.offsetMs).toBe(MOVED_MS);
  const client = tasksClient(before.tasks);
  const functionsUrl = urlOfFunctions(data);
  for (const [id, seconds] of [
    ['in flight', 0],
    ['waiting', 2],
  ] as const) {
    const scheduleTime = { seconds: Math.floor(Date.now() / 1000) + seconds };
    const task = { ...workTask(functionsUrl, { id, once: 'held' }), scheduleTime };
    await client.createTask({ parent: WORK_QUEUE, task });
  }
  await until(() => readTrace(trace).some((line) => line.id === 'in flight'), 'the first task to start');
  first.child.kill('SIGKILL');
  await client.close();
  await until(() => !before.pids.workers.some(isAlive), 'the workers to end');
  expect(readTrace(trace).filter((line) => line.event === 'work-done')).toHaveLength(0);

  const second = start(['--json', '--data', data], { FIXTURE_TRACE: trace });
  const after = await second.ready;
  expect(after.apiKey).toBe(before.apiKey);
  expect(after.secrets).toEqual(before.secrets);
  expect(await askClock(`${after.control}/clock`)).toMatchObject({ offsetMs: MOVED_MS });
  await until(() => readTrace(trace).filter((line) => line.event === 'work-done').length === 2, 'both tasks');
  expect(statSync(join(data, 'dev.json')).mode & 0o777).toBe(0o600);
});

test('after SIGKILL of the cloud a worker blocked by an endless task exits too', async () => {
  const data = freshFolder();
  const trace = join(data, 'trace');
  const cloud = start(['--json', '--data', data], { FIXTURE_TRACE: trace });
  const { tasks, pids } = await cloud.ready;
  await enqueue({ tasks, functionsUrl: urlOfFunctions(data) }, 'spin', { id: 'busy' });
  await until(() => readTrace(trace).some(({ event }) => event === 'spin'), 'the task to begin');
  cloud.child.kill('SIGKILL');
  await until(() => !pids.workers.some(isAlive), 'the workers to end');
});

test('a log truncated after SIGKILL is refused with the size of the loss, and --accept-damage continues with the rest', async () => {
  const data = freshFolder();
  const first = start(['--json', '--data', data], {});
  await first.ready;
  first.child.kill('SIGKILL');
  await first.ended;
  truncateSync(join(data, 'firestore.sqlite-wal'), 0);
  const refused = start(['--json', '--data', data], {});
  expect(await refused.ended).toEqual({ code: 1, signal: null });
  expect(refused.stderr()).toMatch(/firestore\.sqlite is damaged: .*--accept-damage/s);
  const accepted = start(['--json', '--data', data, '--accept-damage'], {});
  expect((await fetch((await accepted.ready).gateway)).status).toBe(200);
});

async function askClock(url: string, body?: object): Promise<{ readonly offsetMs: number }> {
  const json = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
  return (await (await fetch(url, body && json)).json()) as { readonly offsetMs: number };
}

/** The target address of tasks, from the file that stores it. */
function urlOfFunctions(data: string): string {
  const kept = JSON.parse(readFileSync(join(data, 'dev.json'), 'utf8')) as { functionsPorts: number[] };
  return `http://127.0.0.1:${kept.functionsPorts.at(-1)}`;
}
