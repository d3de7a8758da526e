/** Whatever is done with the tasks of a queue, in any order: names, dispatches and retries are those of a simple model. */
import { status } from '@grpc/grpc-js';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { backoffMs } from '../../../packages/local-tasks/src/dispatch/retry.ts';
import { DEFAULT_RETRY, LIMITS } from '../../../packages/local-tasks/src/model.ts';
import { until } from '../support.ts';
import { answered, LOCATION, QUEUE, startTasks, type TasksFixture } from './tasks-fixture.ts';

const RUNS = 25;
const RETRY = { ...DEFAULT_RETRY, maxAttempts: 3, minBackoffMs: 10_000, maxBackoffMs: 3_600_000 };
const NAMES = ['a', 'b', 'c'].map((id) => `${QUEUE}/tasks/${id}`);
const name = fc.constantFrom(...NAMES);

type Step =
  | { readonly do: 'create'; readonly name: string; readonly delayS: number }
  | { readonly do: 'delete' | 'run'; readonly name: string }
  | { readonly do: 'pause' | 'resume' | 'purge' | 'fail' | 'recover' }
  | { readonly do: 'wait'; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('create'), name, delayS: fc.constantFrom(0, 30) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('delete', 'run'), name }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('pause', 'resume', 'purge', 'fail', 'recover') }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('wait'),
      ms: fc.constantFrom(9_000, 10_000, 30_000, LIMITS.dedupMs - 1_000, LIMITS.dedupMs),
    }),
  },
) as fc.Arbitrary<Step>;

/** The rules of the Cloud Tasks reference, without a server. */
class Model {
  readonly tasks = new Map<string, { dueAt: number; attempts: number }>();
  readonly #takenUntil = new Map<string, number>();
  dispatches = 0;
  #isPaused = false;
  #fails = false;

  /** @returns the status of the call */
  do(step: Step, now: number): status {
    switch (step.do) {
      case 'create':
        if (this.tasks.has(step.name) || (this.#takenUntil.get(step.name) ?? 0) > now) {
          return status.ALREADY_EXISTS;
        }
        this.tasks.set(step.name, { dueAt: now + step.delayS * 1000, attempts: 0 });
        return status.OK;
      case 'delete':
        return this.#end(step.name, now) ? status.OK : status.NOT_FOUND;
      case 'run':
        if (!this.tasks.has(step.name)) return status.NOT_FOUND;
        this.#attempt(step.name, now);
        return status.OK;
      case 'purge':
        for (const each of this.tasks.keys()) this.#end(each, now);
        return status.OK;
      case 'pause':
      case 'resume':
        this.#isPaused = step.do === 'pause';
        return status.OK;
      case 'fail':
      case 'recover':
        this.#fails = step.do === 'fail';
        return status.OK;
      default:
        return status.OK;
    }
  }

  dispatchDue(now: number): void {
    if (this.#isPaused) return;
    for (const [each, { dueAt }] of this.tasks) if (dueAt <= now) this.#attempt(each, now);
  }

  get response(): number {
    return this.#fails ? 500 : 200;
  }

  #attempt(task: string, now: number): void {
    const attempts = (this.tasks.get(task)?.attempts ?? 0) + 1;
    this.dispatches++;
    if (!this.#fails || attempts >= RETRY.maxAttempts) this.#end(task, now);
    else this.tasks.set(task, { attempts, dueAt: now + backoffMs(RETRY, attempts) });
  }

  #end(task: string, now: number): boolean {
    if (!this.tasks.delete(task)) return false;
    this.#takenUntil.set(task, now + LIMITS.dedupMs);
    return true;
  }
}

test('tasks are dispatched, retried and remembered as the reference says', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 25 }), async (steps) => {
      const tasks = await startTasks();
      try {
        await compare(tasks, steps);
      } finally {
        await tasks.stop();
      }
    }),
    { numRuns: RUNS },
  );
});

async function compare(tasks: TasksFixture, steps: readonly Step[]): Promise<void> {
  const { client, clock } = tasks;
  const model = new Model();
  const retryConfig = {
    maxAttempts: RETRY.maxAttempts,
    minBackoff: { seconds: RETRY.minBackoffMs / 1000 },
  };
  await client.createQueue({ parent: LOCATION, queue: { name: QUEUE, retryConfig } });
  for (const each of steps) {
    const code = model.do(each, clock.now());
    // As many as can be dispatched by one step.
    tasks.answers.splice(0, tasks.answers.length, ...Array(10).fill(answered(model.response)));
    expect(await call(client, each, clock)).toBe(code);
    model.dispatchDue(clock.now());
    const expected = [...model.tasks].map(([task, { dueAt, attempts }]) => [task, dueAt, attempts]).sort();
    await until(async () => tasks.requests.length >= model.dispatches, 'all dispatches');
    await until(async () => (await answeredTasks(client)).length === expected.length, 'the same tasks');
    expect(await answeredTasks(client)).toEqual(expected);
    expect(tasks.requests).toHaveLength(model.dispatches);
  }
}

async function call(
  client: TasksFixture['client'],
  step: Step,
  clock: TasksFixture['clock'],
): Promise<status> {
  const calls: Readonly<Record<Step['do'], () => unknown>> = {
    create: () => {
      const { name: task, delayS } = step as Extract<Step, { do: 'create' }>;
      const scheduleTime = { seconds: clock.now() / 1000 + delayS };
      const httpRequest = { url: 'http://127.0.0.1:1/target' };
      return client.createTask({ parent: QUEUE, task: { name: task, httpRequest, scheduleTime } });
    },
    delete: () => client.deleteTask(step as { name: string }),
    run: () => client.runTask(step as { name: string }),
    pause: () => client.pauseQueue({ name: QUEUE }),
    resume: () => client.resumeQueue({ name: QUEUE }),
    purge: () => client.purgeQueue({ name: QUEUE }),
    fail: () => undefined,
    recover: () => undefined,
    wait: () => clock.advance((step as { ms: number }).ms),
  };
  try {
    await calls[step.do]();
    return status.OK;
  } catch (error) {
    return (error as { code: status }).code;
  }
}

/** Name, due time and attempts of each task, once no attempt runs. */
async function answeredTasks(client: TasksFixture['client']): Promise<[string, number, number][]> {
  for (;;) {
    const [listed] = await client.listTasks({ parent: QUEUE });
    if (listed.some(({ dispatchCount, responseCount }) => dispatchCount !== responseCount)) continue;
    return listed
      .map(({ name: task, scheduleTime, dispatchCount }): [string, number, number] => [
        String(task),
        Number(scheduleTime?.seconds) * 1000 + Number(scheduleTime?.nanos) / 1e6,
        Number(dispatchCount),
      ])
      .sort();
  }
}
