/** End of the sharing of workers between requests and tasks. */
import { expect, test } from '@jest/globals';
import { type SharedWorker, Sharing } from '../../../packages/local/src/host/workers/sharing.ts';
import type { WorkerLease } from '../../../packages/local/src/host/workers/worker-lease.ts';

const SLOW = 150;
const QUICK = 20;

/** Answers each probe with the next answer. */
class FakeWorker implements SharedWorker {
  probes = 0;
  isUsedByBoth = true;
  tasks = 1;
  hangs = false;
  silentMs = 0;
  readonly #answers: (number | 'missing')[];

  constructor(...answers: readonly (number | 'missing')[]) {
    this.#answers = [...answers];
  }

  takeServedBoth = () => this.isUsedByBoth;
  timeAnswer = () => {
    this.probes += 1;
  };
  takeAnswerTime = () => (this.probes === 0 ? undefined : this.#answers.shift());
}

/** Number of the check that reports the worker; undefined if none of ten does. */
function checkThatNames(sharing: Sharing<FakeWorker>, worker: FakeWorker): number | undefined {
  return Array.from({ length: 10 }, (_, check) => check).find(() => sharing.check([worker]).length > 0);
}

test.each([
  ['quick answers', [QUICK, QUICK, QUICK], undefined],
  ['one slow answer at a time, as during a garbage collection', [QUICK, SLOW, QUICK, SLOW, QUICK], undefined],
  ['two slow answers in a row', [QUICK, SLOW, SLOW], 3],
  ['no answer', [QUICK, 'missing'], 2],
] as const)('%s', (_what, answers, expected) => {
  expect(checkThatNames(new Sharing<FakeWorker>(true), new FakeWorker(...answers))).toBe(expected);
});

test('each worker is judged by its own answers, and the blocked one is reported', () => {
  const sharing = new Sharing<FakeWorker>(true);
  const workers = [new FakeWorker(SLOW, QUICK), new FakeWorker(SLOW, SLOW)];
  expect([sharing.check(workers), sharing.check(workers)]).toEqual([[], []]);
  expect(sharing.check(workers)).toEqual([workers[1]]);
});

test('a worker that only one kind uses is not probed', () => {
  const sharing = new Sharing<FakeWorker>(true);
  const worker = new FakeWorker('missing');
  worker.isUsedByBoth = false;
  expect(checkThatNames(sharing, worker)).toBeUndefined();
  expect(worker.probes).toBe(0);
});

test.each([true, false])(
  'a worker that hangs with a task is reported, even without probes (sharing: %p)',
  (isOn) => {
    const sharing = new Sharing<FakeWorker>(isOn);
    const worker = new FakeWorker();
    worker.isUsedByBoth = false;
    worker.hangs = true;
    expect(sharing.check([worker])).toEqual([worker]);
    worker.tasks = 0;
    expect(sharing.check([worker])).toEqual([]);
  },
);

test('it ends once, and does not begin without roles', () => {
  const sharing = new Sharing(true);
  expect([sharing.isOn, sharing.end(), sharing.isOn, sharing.end()]).toEqual([true, true, false, false]);
  expect(new Sharing(false).end()).toBe(false);
  expect(
    checkThatNames(new Sharing<FakeWorker>(false), new FakeWorker('missing', 'missing')),
  ).toBeUndefined();
});

test('requests are asked to leave one worker, or all, while they are in it, with its time of silence', () => {
  const sharing = new Sharing<FakeWorker>(true);
  const moved: [string, number][] = [];
  const workers = [new FakeWorker(), new FakeWorker()] as const;
  const [first, second] = ['first', 'second'].map(
    (name) => ({ onBlocked: (silentMs: number) => moved.push([name, silentMs]) }) as unknown as WorkerLease,
  ) as [WorkerLease, WorkerLease];
  sharing.enter(first, workers[0]);
  sharing.enter(second, workers[1]);
  workers[1].silentMs = 3_500;
  sharing.moveRequests(workers[1]);
  sharing.moveRequests();
  sharing.leave(first);
  sharing.moveRequests();
  expect(moved).toEqual([
    ['second', 3_500],
    ['first', 0],
    ['second', 3_500],
    ['second', 3_500],
  ]);
});
