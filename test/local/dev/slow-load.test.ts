import { expect, test } from '@jest/globals';
import { reportingSlow, SLOW_LOAD_MS } from '../../../packages/local/src/dev/slow-load.ts';

function loading() {
  const work = Promise.withResolvers<string>();
  const timer = Promise.withResolvers<void>();
  const pauses: number[] = [];
  let reports = 0;
  const pause = (ms: number) => {
    pauses.push(ms);
    return timer.promise;
  };
  const report = () => {
    reports += 1;
  };
  const result = reportingSlow(work.promise, { report, pause });
  return { work, timer, pauses, result, reports: () => reports };
}

test('a module that does not load within the limit is reported, and its later result still counts', async () => {
  const { work, timer, pauses, result, reports } = loading();
  expect([pauses, reports()]).toEqual([[SLOW_LOAD_MS], 0]);
  timer.resolve();
  await timer.promise;
  expect(reports()).toBe(1);
  work.resolve('loaded');
  expect([await result, reports()]).toEqual(['loaded', 1]);
});

test.each([
  ['loaded', (work: PromiseWithResolvers<string>) => work.resolve('loaded')],
  ['failed', (work: PromiseWithResolvers<string>) => work.reject(new Error('failed'))],
])('a module that has %s before is not reported', async (how, end) => {
  const { work, timer, result, reports } = loading();
  end(work);
  expect(await result.catch((error: Error) => error.message)).toBe(how);
  timer.resolve();
  await timer.promise;
  expect(reports()).toBe(0);
});
