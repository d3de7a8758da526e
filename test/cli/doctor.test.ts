import { describe, expect, test } from '@jest/globals';
import type { Finding } from '../../packages/cli/src/commands/doctor/findings.ts';
import * as findings from '../../packages/cli/src/commands/doctor/findings.ts';
import type { Exchange } from '../../packages/client/src/client.ts';
import { Stage } from './support/stage.ts';

const NOW = Date.parse('2026-01-31T08:30:00.000Z');
const HOUR_AGO = '2026-01-31T07:30:00.000Z';

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

describe('what is said of an answer', () => {
  test.each([
    ['ok', { status: 'ok', version: '1', store: 'ok' }, 'well REACHABLE'],
    ['degraded', { status: 'degraded', version: '1', store: 'unreachable' }, 'wrong STORE_UNREACHABLE'],
    ['a page', '<html>', 'wrong NOT_CAIRN'],
    ['other JSON', { hello: 1 }, 'wrong NOT_CAIRN'],
  ])('health: %s', (_, body, expected) => {
    expect(seen([findings.health('https://a.test', exchange(body))])).toEqual([expected]);
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

  test('runs: overdue, parked and waiting ones', () => {
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
    ];
    expect(seen(findings.liveRuns(runs, NOW))).toEqual([
      'wrong RUN_OVERDUE',
      'note RUN_PARKED',
      'note WAITING_FOR_PEOPLE',
    ]);
    expect(seen(findings.liveRuns([], NOW))).toEqual(['well RUNS']);
  });
});

describe('doctor', () => {
  test('is content with an installation that is well, and says what it cannot see', async () => {
    const stage = new Stage();
    const { code, out } = await stage.cairn(['doctor']);
    expect(code).toBe(0);
    expect(out).toContain('✓ https://runs.test answers in');
    expect(out).toContain('Not checked from here');
    for (const { what } of findings.NOT_SEEN) expect(out).toContain(what);
  });

  test('tells an admin what the installation finds of itself, each thing once', async () => {
    const stage = new Stage();
    const { world, diagnosis } = stage.installation;
    const at = world.clock.now();
    await diagnosis.heartbeats.beat('recoverRuns', { at, tookMs: 1, outcome: 'failed', error: 'no store' });
    await stage.cairn(['pause', '--everything']);
    const { code, out } = await stage.cairn(['doctor']);
    expect(code).toBe(7);
    expect(out).toContain(
      '✗ recoverRuns failed 0 s ago: no store  SCAN_FAILED\n    Check the log of the function.',
    );
    expect(out.match(/the kill switch is on/g)).toHaveLength(1);
    const told = JSON.parse((await stage.cairn(['doctor', '--json'])).out) as { findings: Finding[] };
    expect(seen(told.findings)).toEqual(
      expect.arrayContaining([
        'wrong SCAN_FAILED',
        'wrong KILL_SWITCH',
        'well QUEUE',
        'well ALONE_QUEUE',
        'well SCHEDULES',
        'well RUNS',
      ]),
    );
    expect(told.findings.find(({ code: one }) => one === 'QUEUE')?.evidence).toMatchObject({ depth: 0 });
  });

  test('tells lower roles what they may see, and that an admin sees more', async () => {
    const stage = new Stage();
    await stage.cairn(['pause', '--everything']);
    const { code, out } = await stage.cairn(['doctor', '--json'], { role: 'viewer' });
    expect(code).toBe(7);
    const { findings: found } = JSON.parse(out) as { findings: Finding[] };
    expect(seen(found)).toEqual([
      'well REACHABLE',
      'well CLOCK',
      'note ADMIN_SEES_MORE',
      'wrong KILL_SWITCH',
      'well SCHEDULES',
      'well RUNS',
    ]);
  });

  test('bears an installation that is older than it', async () => {
    const stage = new Stage();
    const { api } = stage.installation;
    const fetch = async (url: URL | string, init?: RequestInit) => {
      const path = new URL(url).href.replace('https://runs.test', '');
      return api.request(path === '/v1/diagnosis' ? '/v1/nothing-of-that-name' : path, init);
    };
    const { code, out } = await stage.cairn(['doctor', '--json'], { fetch });
    expect(code).toBe(0);
    expect(seen((JSON.parse(out) as { findings: Finding[] }).findings)).toContain('note OLDER_INSTALLATION');
  });

  test('ends with 7 where something is wrong, 4 where nobody answers, and goes on after a refusal', async () => {
    const stage = new Stage();
    const wrongKey = await stage.cairn(['doctor', '--json'], { env: { CAIRN_API_KEY: 'cairn_no_x' } });
    expect(wrongKey.code).toBe(7);
    const { findings: found } = JSON.parse(wrongKey.out) as { findings: Finding[] };
    expect(seen(found)).toEqual([
      'well REACHABLE',
      'well CLOCK',
      'wrong REFUSED',
      'wrong REFUSED',
      'wrong REFUSED',
      'wrong REFUSED',
    ]);
    const nobody = await stage.cairn(['doctor'], {
      fetch: () => Promise.reject(new TypeError('fetch failed')),
    });
    expect([nobody.code, nobody.out]).toEqual([
      4,
      expect.stringContaining('✗ https://runs.test does not respond'),
    ]);
  });
});
