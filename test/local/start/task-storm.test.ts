import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { readTrace, tasksClient, WORK_QUEUE, workTask } from '../host/cloud-fixture.ts';
import { until } from '../support.ts';
import { freshFolder, type StartedProcess, startProcess } from './start-fixture.ts';

const KILLS = 3;
let running: StartedProcess | undefined;
afterEach(async () => {
  running?.child.kill('SIGKILL');
  await running?.ended;
});

test('every task that was acknowledged is delivered, however often the cloud is killed while tasks pour in', async () => {
  const data = freshFolder();
  const trace = join(data, 'trace');
  const acknowledged = new Set<string>();
  let made = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    running = startProcess(['--json', '--no-spare', '--data', data], { FIXTURE_TRACE: trace });
    const { tasks } = await running.ready;
    const kept = JSON.parse(readFileSync(join(data, 'dev.json'), 'utf8')) as { functionsPorts: number[] };
    const url = `http://127.0.0.1:${kept.functionsPorts.at(-1)}`;
    const client = tasksClient(tasks);
    const wanted = acknowledged.size + 40 + 25 * kill;
    let alive = true;
    const pour = async () => {
      while (alive) {
        const id = `task-${made++}`;
        try {
          await client.createTask({ parent: WORK_QUEUE, task: workTask(url, { id }) }, { timeout: 60_000 });
          acknowledged.add(id);
        } catch {
          return;
        }
      }
    };
    const pouring = Promise.all(Array.from({ length: 8 }, pour));
    await until(() => acknowledged.size >= wanted, 'tasks to be acknowledged');
    running.child.kill('SIGKILL');
    alive = false;
    await running.ended;
    await pouring;
    await client.close();
  }
  running = startProcess(['--json', '--no-spare', '--data', data], { FIXTURE_TRACE: trace });
  await running.ready;
  const allDelivered = () => {
    const done = new Set(readTrace(trace).map((line) => (line.event === 'work-done' ? line.id : undefined)));
    return [...acknowledged].every((id) => done.has(id));
  };
  await until(allDelivered, 'every acknowledged task');
  expect(acknowledged.size).toBeGreaterThanOrEqual(KILLS * 40);
});
