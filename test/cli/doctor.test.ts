import { describe, expect, test } from '@jest/globals';
import { type Finding, NOT_SEEN } from '../../packages/client/src/health/findings.ts';
import { Stage } from './support/stage.ts';

const seen = (found: readonly Finding[]) => found.map(({ code, state }) => `${state} ${code}`);

describe('doctor', () => {
  test('reports a healthy installation, and what it cannot check', async () => {
    const stage = new Stage();
    const { code, out } = await stage.cairn(['doctor']);
    expect(code).toBe(0);
    expect(out).toContain('✓ https://runs.test answers in');
    expect(out).toContain('Not checked from here');
    for (const { what } of NOT_SEEN) expect(out).toContain(what);
    for (const { look } of NOT_SEEN.filter((one) => one.look.includes('gcloud firestore')))
      expect(look).toContain('--database=DATABASE');
  });

  test('shows admins the findings of the installation itself, each once', async () => {
    const stage = new Stage();
    const { world, diagnosis } = stage.installation;
    const at = world.clock.now();
    await diagnosis.heartbeats.record('recoverRuns', { at, tookMs: 1, outcome: 'failed', error: 'no store' });
    await stage.cairn(['pause', '--everything']);
    const { code, out } = await stage.cairn(['doctor']);
    expect(code).toBe(7);
    expect(out).toContain(
      '✗ recoverRuns failed 0 s ago: no store  SCAN_FAILED\n    Check the log of the function.',
    );
    expect(out.match(/the kill switch is on/g)).toHaveLength(1);
    const output = JSON.parse((await stage.cairn(['doctor', '--json'])).out) as { findings: Finding[] };
    expect(seen(output.findings)).toEqual(
      expect.arrayContaining([
        'wrong SCAN_FAILED',
        'wrong KILL_SWITCH',
        'well QUEUE',
        'well ALONE_QUEUE',
        'well SCHEDULES',
        'well RUNS',
      ]),
    );
    expect(output.findings.find(({ code: one }) => one === 'QUEUE')?.evidence).toMatchObject({ depth: 0 });
  });

  test('does not mention Google for the local cloud', async () => {
    const stage = new Stage();
    const note = {
      code: 'TTL_UNKNOWN',
      state: 'note',
      what: 'unknown',
      help: 'gcloud firestore fields ttls list',
    };
    const fetch = async (url: string, init: RequestInit) => {
      const answer = await stage.fetch(url, init);
      if (!url.endsWith('/v1/diagnosis')) return answer;
      const diagnosis = (await answer.json()) as { findings: object[] };
      return Response.json({ ...diagnosis, environment: 'local', findings: [...diagnosis.findings, note] });
    };
    const { code, out } = await stage.cairn(['doctor'], { fetch });
    expect([code, out]).toEqual([0, expect.stringContaining('· unknown\n')]);
    expect(out).not.toMatch(/gcloud|firebase|Not checked/);
    const output = JSON.parse((await stage.cairn(['doctor', '--json'], { fetch })).out) as {
      notSeen: unknown[];
    };
    expect(output.notSeen).toEqual([]);
  });

  test('shows lower roles what they may see, and that an admin sees more', async () => {
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

  test('works with an older installation', async () => {
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

  test('exits with 7 for problems and 4 without a response, and continues after a refusal', async () => {
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
