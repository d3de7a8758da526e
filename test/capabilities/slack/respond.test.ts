import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { slackRespond, slackRespondBinding } from '../../../packages/cairn/src/capabilities/slack/respond.ts';
import { NotApplied } from '../../../packages/cairn/src/core/errors.ts';
import { until } from '../../local/support.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { deadUrl, type ScriptedServer, startScriptedServer, thrownBy } from '../scripted-server.ts';

const RESPONSE_URL = 'https://hooks.slack.com/commands/T1/22/s3cret';
const OK = { status: 200, body: 'ok' };

let server: ScriptedServer;
const clock = new VirtualClock();
beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(() => server.stop());
beforeEach(() => {
  server.asked.length = 0;
  server.answers = [OK];
});

interface Options {
  readonly responseUrl?: string;
  readonly baseUrl?: string;
  readonly signal?: AbortSignal;
  readonly to?: 'channel';
  readonly replaceOriginal?: boolean;
}

function respond({ responseUrl = RESPONSE_URL, baseUrl = server.url, signal, ...rest }: Options = {}) {
  const options = { idempotencyKey: 'a'.repeat(64), signal: signal ?? new AbortController().signal };
  return slackRespondBinding({ baseUrl, clock }).call({ responseUrl, text: 'Done.', ...rest }, options);
}

test('a message is sent to the path of the response_url, visible to the person who typed only', async () => {
  expect(await respond()).toEqual({});
  expect(server.asked).toMatchObject([
    {
      method: 'POST',
      path: '/commands/T1/22/s3cret',
      body: { text: 'Done.', response_type: 'ephemeral', replace_original: false },
    },
  ]);
});

test('a message can be visible to the channel, and replace another', async () => {
  await respond({ to: 'channel', replaceOriginal: true });
  expect(server.asked[0]?.body).toMatchObject({ response_type: 'in_channel', replace_original: true });
});

test.each([
  'https://evil.example/commands/T1/22/s3cret',
  'https://hooks.slack.com.evil.example/x',
  'https://hooks.slack.com@evil.example/x',
  'http://hooks.slack.com/commands/T1/22/s3cret',
  'https://hooks.slack.com:444/x',
  'no url',
])('nothing is sent to %s', async (responseUrl) => {
  expect(await thrownBy(respond({ responseUrl }))).toMatchObject({ name: 'NotApplied', final: true });
  expect(server.asked).toEqual([]);
});

test.each([
  ['an address that has expired', { status: 404, body: { ok: false, error: 'expired_url' } }, 'never'],
  ['a refusal with status 200', { status: 200, body: { ok: false, error: 'used_url' } }, 'never'],
  ['a message that Slack cannot read', { status: 400, body: 'invalid_payload' }, 'never'],
  ['an address that has moved', { status: 302, headers: { location: '/x' } }, 'never'],
  ['a limit that is told', { status: 429, headers: { 'retry-after': '3' } }, clock.now() + 3_000],
  ['a limit that is not told', { status: 429 }, clock.now() + 1_000],
  ['a failure of Slack', { status: 500, body: 'rollup_error' }, 'in doubt'],
  ['a gateway that gave up', { status: 504 }, 'in doubt'],
  ['a connection that broke', 'cut' as const, 'in doubt'],
])('%s means: %s', async (_what, answer, meaning) => {
  server.answers = [answer];
  const error = await thrownBy(respond());
  const retry = error instanceof NotApplied ? (error.final ? 'never' : error.retryAt) : 'in doubt';
  expect(retry).toBe(meaning);
  expect(JSON.stringify([error.message, error.cause ?? null])).not.toContain('s3cret');
});

test('no answer in 10 s leaves the message in doubt', async () => {
  server.answers = ['hang'];
  const thrown = thrownBy(respond());
  await until(() => server.asked.length === 1, 'the request');
  clock.fireNext();
  expect(await thrown).not.toBeInstanceOf(NotApplied);
});

test('an unreachable Slack has received no message', async () => {
  expect(await thrownBy(respond({ baseUrl: await deadUrl() }))).toMatchObject({
    name: 'NotApplied',
    final: false,
  });
});

test('a message that was aborted before is not sent', async () => {
  expect(await thrownBy(respond({ signal: AbortSignal.abort() }))).toBeInstanceOf(NotApplied);
  expect(server.asked).toEqual([]);
});

test('the address is a secret of the request', () => {
  expect(slackRespond.secrets.request).toEqual(['responseUrl']);
});
