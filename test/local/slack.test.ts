import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startSlackServer } from '../../packages/local/src/slack/server.ts';
import type { StandInServer } from '../../packages/local/src/stand-in/server.ts';
import { movableClock } from '../../packages/local-kit/src/time/clock.ts';

let server: StandInServer;
beforeAll(async () => {
  server = await startSlackServer({ storage: { kind: 'memory' }, clock: movableClock(() => 0) });
});
afterAll(() => server.stop());

function post(path: string, body: unknown) {
  return fetch(`${server.url}${path}`, { method: 'POST', body: JSON.stringify(body) });
}

test('five messages can be sent to an address, and read back', async () => {
  const address = '/commands/T1/2/abc';
  for (let i = 1; i <= 5; i += 1) {
    const answer = await post(address, { text: `${i}` });
    expect([answer.status, await answer.text()]).toEqual([200, 'ok']);
  }
  const sixth = await post(address, { text: '6' });
  expect([sixth.status, await sixth.json()]).toEqual([404, { ok: false, error: 'used_url' }]);
  const read = (await (await fetch(`${server.url}${address}`)).json()) as { text: string }[];
  expect(read.map(({ text }) => text)).toEqual(['1', '2', '3', '4', '5']);
});

test.each([
  ['/commands/T1/2/empty', {}, 400, 'no_text'],
  ['/commands/T1/2/none', 'text', 400, 'no_text'],
  ['/services/T1/2', { text: 'x' }, 404, 'no_service'],
])('%s with %j is refused', async (path, body, status, error) => {
  const answer = await post(path, body);
  expect([answer.status, await answer.json()]).toEqual([status, { ok: false, error }]);
});
