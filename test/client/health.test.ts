import { describe, expect, test } from '@jest/globals';
import * as work from '../../packages/cairn/src/operations/diagnosis/work-findings.ts';
import type { Exchange } from '../../packages/client/src/client.ts';
import type { Finding } from '../../packages/client/src/health/findings.ts';
import * as findings from '../../packages/client/src/health/findings.ts';
import { isSilent, isWrong, judgeHealth, type Reading } from '../../packages/client/src/health/judge.ts';
import { Refusal, Unreachable } from '../../packages/client/src/problem.ts';

const NOW = Date.parse('2026-01-31T08:30:00.000Z');
const HOUR_AGO = '2026-01-31T07:30:00.000Z';

const HEALTHY = { status: 'ok', version: '1', store: 'ok' };

function exchange(body: unknown, date?: string): Exchange {
  const headers = new Headers(date === undefined ? {} : { date });
  return {
    status: 200,
    headers,
    text: typeof body === 'string' ? body : JSON.stringify(body),
    tookMs: 40,
    at: NOW,
  };
}
const seen = (found: readonly Finding[]) => found.map(({ code, state }) => `${state} ${code}`);
type Arg<F extends (...args: never[]) => unknown> = Parameters<F>[0];

describe('the findings in an answer', () => {
  test.each([
    ['ok', { status: 'ok', version: '1', store: 'ok' }, 'well REACHABLE'],
    ['degraded', { status: 'degraded', version: '1', store: 'unreachable' }, 'wrong STORE_UNREACHABLE'],
    ['a page', '<html>', 'wrong NOT_CAIRN'],
    ['other JSON', { hello: 1 }, 'wrong NOT_CAIRN'],
  ])('health: %s', (_, body, expected) => {
    expect(seen([findings.reachability('https://a.test', exchange(body))])).toEqual([expected]);
  });

  test('health: the reason why the local cloud does not answer as Cairn', () => {
    const problem = {
      code: 'NOT_FOUND',
      title: 'Not found',
      detail: 'its codebase is not loaded',
      help: 'The log.',
    };
    expect(findings.reachability('https://a.test', { ...exchange(problem), status: 404 })).toMatchObject({
      code: 'NOT_CAIRN',
      what: 'https://a.test answers 404: its codebase is not loaded',
      help: 'The log.',
    });
  });

  test.each([
    [403, 'Check the key and its role: docs/access.md.'],
    [503, 'Wait.'],
  ])('a refusal with %s has advice about its own cause', (status, help) => {
    const error = new Refusal({ status, code: 'CODE', title: 'title', help: 'Wait.' }, undefined);
    expect(findings.refused('runs', error)).toMatchObject({ what: 'runs: CODE: title', help });
  });

  test.each([
    ['the same second', 'Sat, 31 Jan 2026 08:30:00 GMT', 'well CLOCK'],
    ['seconds apart', 'Sat, 31 Jan 2026 08:29:45 GMT', 'well CLOCK'],
    ['a minute behind', 'Sat, 31 Jan 2026 08:29:00 GMT', 'wrong CLOCK_SKEW'],
    ['an hour ahead', 'Sat, 31 Jan 2026 09:30:00 GMT', 'wrong CLOCK_SKEW'],
    ['no date', undefined, 'note CLOCK_UNKNOWN'],
  ])('clock: %s', (_, date, expected) => {
    expect(seen([findings.clock(exchange({}, date))])).toEqual([expected]);
  });

  test('the clock of a local cloud may have been moved, which is no problem', () => {
    const reached = { exchange: { answer: exchange(HEALTHY, 'Sat, 31 Jan 2026 09:30:00 GMT') } };
    const judged = (environment: string) =>
      seen(judgeHealth({ ...reached, diagnosis: { answer: { environment, findings: [] } } }, NOW));
    expect(judged('local')).toContain('note CLOCK_MOVED');
    expect(judged('production')).toContain('wrong CLOCK_SKEW');
  });

  test('workflows: what is stopped, paused, gone or old', () => {
    const version = (planVersion: number, deployed: boolean, liveRuns: number) => ({
      planVersion,
      deployed,
      liveRuns,
    });
    const list = {
      killSwitch: true,
      countedVersions: 200,
      items: [
        {
          type: 'a',
          newest: 3,
          paused: { since: HOUR_AGO, reason: 'wrong' },
          versions: [version(3, true, 1), version(2, true, 4), version(1, false, 2)],
        },
        { type: 'b', newest: 1, paused: null, versions: [version(1, true, 0)] },
      ],
    };
    expect(seen(findings.workflows(list, NOW))).toEqual([
      'wrong KILL_SWITCH',
      'note PAUSED',
      'wrong PLAN_VERSION_UNAVAILABLE',
      'note OLD_VERSION_IN_USE',
      'note COUNT_CUT',
    ]);
    expect(seen(findings.workflows({ killSwitch: false, items: [] }, NOW))).toEqual(['well RUNNING']);
  });

  test('schedules: refused and late ones, if they are active', () => {
    const schedule = (more: object) =>
      ({ id: 's', state: 'active', ...more }) as Arg<typeof findings.schedules>[number];
    const error = { code: 'INVALID_INPUT', message: 'no' };
    expect(
      seen(
        findings.schedules(
          [
            schedule({ last: { slot: HOUR_AGO, at: HOUR_AGO, error } }),
            schedule({ nextAt: HOUR_AGO }),
            schedule({ nextAt: HOUR_AGO, state: 'paused' }),
          ],
          NOW,
        ),
      ),
    ).toEqual(['wrong SCHEDULE_REFUSED', 'wrong SCHEDULE_LATE']);
    expect(seen(findings.schedules([], NOW))).toEqual(['well SCHEDULES']);
  });

  test('runs: overdue, blocked and waiting ones', () => {
    const run = (more: object) =>
      ({ id: 'run_a', status: 'running', ...more }) as Arg<typeof findings.liveRuns>[number];
    const runs = [
      run({ wakeAt: HOUR_AGO }),
      run({
        status: 'waiting_external',
        parked: 'PLAN_VERSION_UNAVAILABLE',
        wakeAt: '2026-01-31T08:35:00.000Z',
      }),
      run({ status: 'awaiting_approval' }),
      run({
        failures: { times: 3, error: { code: 'INTERNAL', message: 'nobody answers', retryable: true } },
      }),
    ];
    expect(seen(findings.liveRuns(runs, { now: NOW, isOff: false }))).toEqual([
      'wrong RUN_OVERDUE',
      'note RUN_PARKED',
      'note RUN_FAILING',
      'note WAITING_FOR_PEOPLE',
    ]);
    expect(seen(findings.liveRuns([], { now: NOW, isOff: false }))).toEqual(['well RUNS']);
  });
});

const EXCHANGE = exchange(HEALTHY, 'Sat, 31 Jan 2026 08:30:00 GMT');
const refusal = (status: number) =>
  new Refusal({ status, code: 'PERMISSION_DENIED', title: 'refused' }, undefined);
const diagnosed = (code: string, state: Finding['state'] = 'wrong') => ({
  diagnosis: { answer: { environment: 'production', findings: [{ code, state, what: code }] } },
});
const overdue = {
  answer: [{ id: 'run_a', status: 'running', wakeAt: HOUR_AGO } as Arg<typeof findings.liveRuns>[number]],
};
const stopped = { answer: { killSwitch: true, items: [] } };

describe('the judge', () => {
  test.each<[string, Parameters<typeof judgeHealth>[0], string[]]>([
    ['no request was made', {}, []],
    [
      'an answer of a health check',
      { health: { status: 'ok', version: '1', store: 'ok' } },
      ['well REACHABLE'],
    ],
    ['an answer with its time', { exchange: { answer: EXCHANGE } }, ['well REACHABLE', 'well CLOCK']],
    ['no answer', { exchange: { error: new Unreachable('none', undefined) } }, ['wrong UNREACHABLE']],
    ['findings of the installation, as they are', diagnosed('ANY', 'note'), ['note ANY']],
    ['a diagnosis for other roles', { diagnosis: { error: refusal(403) } }, ['note ADMIN_SEES_MORE']],
    ['an API without a diagnosis', { diagnosis: { error: refusal(404) } }, ['note OLDER_INSTALLATION']],
    ['a refused key', { diagnosis: { error: refusal(401) } }, ['wrong REFUSED']],
    ['a refused list', { schedules: { error: refusal(403) } }, ['wrong REFUSED']],
    ['an overdue run', { runs: overdue }, ['wrong RUN_OVERDUE']],
    [
      'an overdue run under the kill switch',
      { workflows: stopped, runs: overdue },
      ['wrong KILL_SWITCH', 'note RUN_HELD'],
    ],
    [
      'an overdue run after a restore',
      { ...diagnosed('RESTORE_HELD'), runs: overdue },
      ['wrong RESTORE_HELD', 'note RUN_HELD'],
    ],
  ])('%s', (_, answers, expected) => {
    expect(seen(judgeHealth(answers, NOW))).toEqual(expected);
  });

  test.each([
    ['local', undefined, 'Add it.'],
    ['production', 'gcloud firestore fields ttls list', 'Add it.'],
  ])('of a %s installation has advice about Google only if it applies', (environment, ...expected) => {
    const note = (help: string) => ({ code: 'ANY', state: 'note' as const, what: 'any', help });
    const found = [note('gcloud firestore fields ttls list'), note('Add it.')];
    const judged = judgeHealth({ diagnosis: { answer: { environment, findings: found } } }, NOW);
    expect(judged.map(({ help }) => help)).toEqual(expected);
  });

  test.each([
    ['UNREACHABLE', true],
    ['NOT_CAIRN', true],
    ['STORE_UNREACHABLE', false],
  ])('after %s reports nothing: %s', (code, silent) => {
    expect(isSilent([{ code, state: 'wrong', what: '' }])).toBe(silent);
  });

  const queue = { name: 'drive', isAlone: false };
  const dead = { lagMs: 0, due: 0, held: 1, stale: 1, behind: 0, isCut: false };
  test.each<[string, Reading, readonly Finding[], boolean]>([
    [
      'a backlog',
      'scan',
      work.ofRuns({ ...dead, stale: 0, lagMs: work.OVERDUE_MS + 1, due: 1 }, undefined),
      true,
    ],
    [
      'a backlog that is held',
      'scan',
      work.ofRuns({ ...dead, lagMs: work.OVERDUE_MS + 1 }, 'kill_switch'),
      false,
    ],
    ['a scan in time', 'scan', work.ofRuns({ ...dead, stale: 0, lagMs: work.OVERDUE_MS }, undefined), false],
    ['a lease that nobody took over', 'leases', work.ofRuns(dead, undefined), true],
    ['no such lease', 'leases', work.ofRuns({ ...dead, stale: 0 }, undefined), false],
    ['a missing queue', 'queue', [work.ofQueue({ kind: 'missing' }, NOW, queue)], true],
    ['a queue that cannot be read', 'queue', [work.ofQueue({ kind: 'denied' }, NOW, queue)], false],
    ['a late schedule', 'schedules', [work.ofSchedules(1, false)], true],
    ['schedules in time', 'schedules', [work.ofSchedules(0, false)], false],
  ])('%s: the reading %s is wrong in the same way as for the installation', (_, reading, found, wrong) => {
    expect(isWrong(reading, found)).toBe(wrong);
  });

  test('has the thresholds of the installation', () => {
    expect([findings.OVERDUE_MS, findings.SCHEDULE_LATE_MS]).toEqual([
      work.OVERDUE_MS,
      work.SCHEDULE_LATE_MS,
    ]);
  });
});
