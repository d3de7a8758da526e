/** The command line over an installation of another version. */
import { describe, expect, test } from '@jest/globals';
import type { World } from '../../packages/cli/src/world.ts';
import { listening, saying } from './support/stage.ts';

const refusal = (status: number) =>
  Response.json({ status, code: 'INVALID_INPUT', title: 'No', detail: 'topLevel is not known' }, { status });

/** @param health response of the health check; undefined: none */
function installation(status: number, health: Response | string | undefined) {
  const asked: string[] = [];
  const fetch: World['fetch'] = async (url) => {
    const { pathname } = new URL(url);
    asked.push(pathname);
    if (pathname !== '/v1/healthz') return refusal(status);
    if (health === undefined) throw new TypeError('fetch failed');
    return typeof health === 'string' ? new Response(health) : health;
  };
  const env = { CAIRN_URL: 'https://a.test', CAIRN_API_KEY: 'k' };
  return { asked, world: listening({ fetch, env }) };
}

const LIST = ['runs', 'list'];
const OLDER = '{"version": "1.1.0"}';

describe('a refusal that an unknown request gets', () => {
  test.each([400, 404, 405])('names both versions if they differ: %d', async (status) => {
    const { err } = await saying(LIST, installation(status, OLDER).world);
    expect(err).toContain('topLevel is not known');
    expect(err).toContain('The installation has Cairn 1.1.0, this command line is 1.2.3');
    expect(err).toContain('use the command line of 1.1.0, or deploy 1.2.3');
  });

  test('includes them in JSON', async () => {
    const { err } = await saying([...LIST, '--json'], installation(400, OLDER).world);
    expect(JSON.parse(err)).toMatchObject({
      error: { code: 'INVALID_INPUT' },
      exitCode: 1,
      versions: { installation: '1.1.0', commandLine: '1.2.3' },
    });
  });

  test.each(['{"version": "1.2.3"}', 'null', '{}', '<html>', undefined])(
    'stands alone if they are the same or unknown: %s',
    async (health) => {
      const { code, err } = await saying(LIST, installation(400, health).world);
      expect([code, err]).toEqual([1, expect.stringContaining('topLevel is not known')]);
      expect(err).not.toContain('command line');
    },
  );

  test.each([201, 203, 404, 500])(
    'stands alone if the question for the version is answered with %d',
    async (status) => {
      const health = new Response(OLDER, { status });
      const { code, err } = await saying(LIST, installation(400, health).world);
      expect([code, err]).toEqual([1, expect.not.stringContaining('1.1.0')]);
    },
  );
});

test.each([401, 403, 409])(
  'no version is asked for after a refusal with another reason: %d',
  async (status) => {
    const { asked, world } = installation(status, OLDER);
    const { err } = await saying(LIST, world);
    expect([asked, err]).toEqual([['/v1/runs'], expect.not.stringContaining('1.1.0')]);
  },
);
