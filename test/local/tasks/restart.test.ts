/** A server that is killed while attempts run: its successor repeats them, and their headers say that they are repetitions. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { DispatchResult } from '../../../packages/local-tasks/src/dispatch/attempt.ts';
import { answered, LOCATION, QUEUE, startTasks, type TasksFixture } from './tasks-fixture.ts';

const unanswered = () => new Promise<DispatchResult>(() => {});

let root: string;
let running: TasksFixture[];
let folder: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tasks-restart-'));
  folder = mkdtempSync(join(root, 'first-'));
  running = [];
});
afterEach(async () => {
  await Promise.all(running.map((each) => each.stop()));
  rmSync(root, { recursive: true });
});

let sync: boolean;
async function serve(...answers: TasksFixture['answers']): Promise<TasksFixture> {
  const tasks = await startTasks({ kind: 'sqlite', file: join(folder, 'tasks.sqlite'), sync }, { answers });
  running.push(tasks);
  return tasks;
}

/** Continues with a copy of the files, as a SIGKILL now would leave them. */
function kill(): void {
  const copy = join(root, String(running.length));
  cpSync(folder, copy, { recursive: true });
  folder = copy;
}

const create = ({ client, clock }: TasksFixture, name: string, delayS = 0) =>
  client.createTask({
    parent: QUEUE,
    task: {
      name: `${QUEUE}/tasks/${name}`,
      httpRequest: { url: 'http://127.0.0.1:1/target' },
      scheduleTime: { seconds: clock.now() / 1000 + delayS },
    },
  });

const deliveries = ({ requests }: TasksFixture) =>
  requests
    .map(({ headers }) => [
      headers['X-CloudTasks-TaskName'],
      headers['X-CloudTasks-TaskRetryCount'],
      headers['X-CloudTasks-TaskPreviousResponse'],
    ])
    .sort();

/** Reported counts. A call that comes later is answered later: starts and results are written by then. */
async function counts({ client }: TasksFixture) {
  const [listed] = await client.listTasks({ parent: QUEUE });
  return listed.map((task) => [Number(task.dispatchCount), Number(task.responseCount)]);
}

test.each([false, true])(
  'attempts under way when the server is killed count, each once; tasks that had not started do not (synced: %s)',
  async (isSynced) => {
    sync = isSynced;
    const first = await serve(unanswered, answered(500), unanswered);
    await first.client.createQueue({
      parent: LOCATION,
      queue: { name: QUEUE, retryConfig: { minBackoff: { seconds: 10 }, maxBackoff: { seconds: 10 } } },
    });
    await create(first, 'hangs');
    await create(first, 'failed');
    await create(first, 'later', 3_600);
    await first.dispatched(2);
    first.clock.advance(10_000);
    await first.dispatched(3);
    expect(await counts(first)).toEqual([
      [1, 0],
      [2, 1],
      [0, 0],
    ]);
    kill();

    const second = await serve(unanswered, unanswered);
    second.clock.advance(10_000);
    await second.dispatched(2);
    expect(deliveries(second)).toEqual([
      ['failed', '2', '504'],
      ['hangs', '1', '504'],
    ]);
    expect(await counts(second)).toEqual([
      [2, 0],
      [3, 1],
      [0, 0],
    ]);
    kill();

    const third = await serve();
    third.clock.advance(3_600_000);
    await third.dispatched(3);
    expect(deliveries(third)).toEqual([
      ['failed', '3', '504'],
      ['hangs', '2', '504'],
      ['later', '0', undefined],
    ]);
    await third.drained();
    kill();

    const last = await serve();
    last.clock.advance(3_600_000);
    expect(await counts(last)).toEqual([]);
    expect(last.requests).toEqual([]);
  },
);
