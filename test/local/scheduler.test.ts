import { describe, expect, test } from '@jest/globals';
import type { FunctionSpec } from '../../packages/local/src/host/function-spec.ts';
import { readSchedule, ScheduleError } from '../../packages/local/src/scheduler/schedule.ts';
import { Scheduler } from '../../packages/local/src/scheduler/scheduler.ts';
import { movableClock } from '../../packages/local-kit/src/time/clock.ts';
import type { DispatchRequest, DispatchResult } from '../../packages/local-tasks/src/dispatch/attempt.ts';

const MINUTE = 60_000;
const at = (text: string) => Date.parse(text);

describe('when a schedule fires next', () => {
  test.each([
    ['every 5 minutes', 'UTC', '2026-03-01T10:02:00Z', '2026-03-01T10:05:00Z'],
    ['every 1 minutes', 'UTC', '2026-03-01T10:05:00Z', '2026-03-01T10:06:00Z'],
    ['every 2 hours', 'UTC', '2026-03-01T10:00:01Z', '2026-03-01T12:00:00Z'],
    ['every day 09:30', 'UTC', '2026-03-01T09:30:00Z', '2026-03-02T09:30:00Z'],
    ['every monday 08:00', 'Europe/Berlin', '2026-03-01T00:00:00Z', '2026-03-02T07:00:00Z'],
    ['*/15 * * * *', 'UTC', '2026-03-01T10:01:00Z', '2026-03-01T10:15:00Z'],
    ['0 9 * * 1-5', 'America/New_York', '2026-03-06T15:00:00Z', '2026-03-09T13:00:00Z'],
  ])('%s in %s after %s: %s', (text, timeZone, after, next) => {
    const schedule = readSchedule(text, { timeZone, minuteMs: MINUTE });
    expect(new Date(schedule.next(at(after))).toISOString()).toBe(new Date(next).toISOString());
  });

  test('a shorter minute shortens minutes only', () => {
    const quick = { timeZone: 'UTC', minuteMs: 5_000 };
    expect(readSchedule('every 2 minutes', quick).next(0)).toBe(10_000);
    expect(readSchedule('every 1 hours', quick).next(0)).toBe(60 * MINUTE);
  });

  test.each(['sometimes', 'every blue moon', 'every noday 10:00', '* * *', '61 * * * *', 'every 0 minutes'])(
    "'%s' is refused with the supported formats",
    (text) => {
      expect(() => readSchedule(text, { timeZone: 'UTC', minuteMs: MINUTE })).toThrow(ScheduleError);
    },
  );
});

function spec(schedule: string, retryCount = 0): FunctionSpec {
  const trigger = { kind: 'schedule' as const, schedule, timeZone: 'UTC', retryCount };
  return { name: 'job', region: 'us-central1', trigger, timeoutSeconds: 60, concurrency: 80, secrets: [] };
}

function scheduler(answers: (DispatchResult | Promise<DispatchResult>)[] = []) {
  const clock = movableClock(() => at('2026-03-01T10:00:00Z'));
  const requests: DispatchRequest[] = [];
  const log: string[] = [];
  const jobs = new Scheduler({
    clock,
    functionsUrl: 'http://functions',
    minuteMs: MINUTE,
    log: (line) => log.push(line),
    async dispatch(request) {
      requests.push(request);
      return answers.shift() ?? { kind: 'answered', status: 200, retryAfter: undefined };
    },
  });
  const advance = async (ms: number) => {
    clock.advance(ms);
    await new Promise((resolve) => setTimeout(resolve, 5));
  };
  return { jobs, requests, log, advance };
}

describe('the scheduler', () => {
  test('fires a cron job at its slot, with the headers of Cloud Scheduler', async () => {
    const { jobs, requests, advance } = scheduler();
    jobs.start([spec('30 10 * * *')]);
    await advance(30 * MINUTE - 1);
    expect(requests).toHaveLength(0);
    await advance(1);
    expect(requests[0]).toMatchObject({
      url: 'http://functions/job',
      method: 'POST',
      headers: {
        'X-CloudScheduler': 'true',
        'X-CloudScheduler-JobName': 'firebase-schedule-job-us-central1',
        'X-CloudScheduler-ScheduleTime': '2026-03-01T10:30:00.000Z',
      },
    });
    jobs.stop();
  });

  test('repeats a failed execution as often as configured, and logs it', async () => {
    const failed: DispatchResult = { kind: 'answered', status: 500, retryAfter: undefined };
    const { jobs, requests, log, advance } = scheduler([failed, failed, failed]);
    jobs.start([spec('30 10 * * *', 2)]);
    await advance(30 * MINUTE);
    await advance(5_000);
    await advance(5_000);
    await advance(60_000);
    expect(requests).toHaveLength(3);
    expect(log).toHaveLength(3);
    jobs.stop();
  });

  test('an invalid schedule is logged, and the others run', async () => {
    const { jobs, requests, log } = scheduler();
    jobs.start([spec('whenever'), spec('every 1 minutes')]);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(log[0]).toMatch(/'job' is not scheduled: schedule 'whenever' cannot be parsed/);
    expect(requests).toHaveLength(1);
    jobs.stop();
  });

  test('reloaded functions keep their slots, and nothing fires at once', async () => {
    const { jobs, requests, advance } = scheduler();
    const named = (name: string, schedule: string) => ({ ...spec(schedule), name });
    jobs.start([named('kept', '30 10 * * *'), named('gone', '30 10 * * *'), named('moved', '30 10 * * *')]);
    await advance(20 * MINUTE);
    jobs.replace([
      named('kept', '30 10 * * *'),
      named('moved', '40 10 * * *'),
      named('new', 'every 5 minutes'),
    ]);
    expect(requests).toHaveLength(0);
    const fired = () => requests.splice(0).map(({ url }) => url.replace('http://functions/', ''));
    await advance(10 * MINUTE);
    expect(fired().sort()).toEqual(['kept', 'new']);
    await advance(10 * MINUTE);
    expect(fired()).toContain('moved');
    jobs.stop();
  });

  test.each([
    ['removed', []],
    ['given another schedule', [spec('0 12 * * *')]],
  ])('a failed execution of a job that was %s meanwhile is not repeated', async (_what, functions) => {
    const failed: DispatchResult = { kind: 'answered', status: 500, retryAfter: undefined };
    const { jobs, requests, advance } = scheduler([failed]);
    jobs.start([spec('30 10 * * *', 2)]);
    await advance(30 * MINUTE);
    jobs.replace(functions);
    await advance(5_000);
    await advance(5_000);
    expect(requests).toHaveLength(1);
    jobs.stop();
  });

  test('a job with a new schedule skips slots while its previous execution is running', async () => {
    const { promise, resolve } = Promise.withResolvers<DispatchResult>();
    const { jobs, requests, advance } = scheduler([promise]);
    jobs.start([spec('30 10 * * *')]);
    await advance(30 * MINUTE);
    jobs.replace([spec('*/5 * * * *')]);
    await advance(5 * MINUTE);
    expect(requests).toHaveLength(1);
    resolve({ kind: 'answered', status: 200, retryAfter: undefined });
    await advance(0);
    await advance(5 * MINUTE);
    expect(requests).toHaveLength(2);
    jobs.stop();
  });

  test('fires nothing after it stopped', async () => {
    const { jobs, requests, advance } = scheduler();
    jobs.start([spec('30 10 * * *')]);
    jobs.stop();
    await advance(60 * MINUTE);
    expect(requests).toHaveLength(0);
  });
});
