import { afterEach, expect, jest, test } from '@jest/globals';
import { Api } from '../../../packages/console/src/api/client.ts';

const answering = (status: number, text: string) =>
  jest.spyOn(globalThis, 'fetch').mockResolvedValue(new Response(text, { status }));
afterEach(() => {
  jest.restoreAllMocks();
});

const api = () =>
  new Api(
    async () => 'key',
    () => false,
  );
const DEGRADED = { status: 'degraded', version: '0.2.0', store: 'unreachable' };

test('an installation whose store is unreachable is degraded, and its API counts as reached', async () => {
  answering(503, JSON.stringify(DEGRADED));
  const health = api();
  expect(await health.health()).toEqual(DEGRADED);
  expect(health.reach.shown().lostAt).toBeUndefined();
});

test.each([
  [503, '<html>upstream connect error</html>', 'HTTP_503'],
  [502, '{"hello": 1}', 'HTTP_502'],
])('%s with %s is no answer of the API', async (status, text, code) => {
  answering(status, text);
  const health = api();
  // The help must not advise to correct the API address, which a person in a browser does not set.
  const help = expect.stringMatching(/^Something between this page and the API answered/);
  await expect(health.health()).rejects.toMatchObject({ problem: { code, help } });
  expect(health.reach.shown().lostAt).toBeDefined();
});

test('a function that fails before it answers is sought in its log, not between', async () => {
  answering(500, 'Internal Server Error');
  const help = expect.stringMatching(/^The function api failed before it could answer.*read the log/);
  await expect(api().health()).rejects.toMatchObject({ problem: { code: 'HTTP_500', help } });
});
