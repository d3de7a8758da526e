import { describe, expect, test } from '@jest/globals';
import {
  isSigned,
  MAX_SKEW_MS,
  type Signed,
} from '../../../packages/cairn/src/triggers/slack/signed-form.ts';
import { sign } from './endpoint.ts';

/** The worked example of Slack's page "Verifying requests from Slack". */
const EXAMPLE = {
  secret: '8f742231b10e8888abcd99yyyzzz85a5',
  timestamp: '1531420618',
  body: [
    'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V',
    '&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=',
    '&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN',
    '&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
  ].join(''),
  signature: 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
};
const AT = Number(EXAMPLE.timestamp) * 1_000;

function check(changes: Partial<Signed>, secrets = [EXAMPLE.secret], now = AT): boolean {
  const { signature, timestamp } = EXAMPLE;
  return isSigned({ signature, timestamp, body: Buffer.from(EXAMPLE.body), ...changes }, secrets, now);
}

test("the example of Slack's documentation is accepted", () => {
  expect(check({})).toBe(true);
});

test.each([
  ['another secret', () => check({}, ['another'])],
  ['no secret', () => check({}, [])],
  ['another body', () => check({ body: Buffer.from(`${EXAMPLE.body}&`) })],
  ['no signature', () => check({ signature: null })],
  ['an empty signature', () => check({ signature: '' })],
  ['a signature of another version', () => check({ signature: EXAMPLE.signature.replace('v0', 'v1') })],
  ['a signature cut short', () => check({ signature: EXAMPLE.signature.slice(0, -2) })],
  ['a signature in capitals', () => check({ signature: EXAMPLE.signature.toUpperCase() })],
  ['no timestamp', () => check({ timestamp: null })],
  ['another timestamp', () => check({ timestamp: '1531420619' })],
  ['a timestamp that is no number', () => check({ timestamp: 'now' })],
  ['the same timestamp written otherwise', () => check({ timestamp: '01531420618' })],
])('%s is refused', (_, checked) => {
  expect(checked()).toBe(false);
});

describe('a clock difference', () => {
  test.each([
    [MAX_SKEW_MS, true],
    [MAX_SKEW_MS + 1, false],
    [-MAX_SKEW_MS, true],
    [-MAX_SKEW_MS - 1, false],
  ])('of %d ms is accepted: %s', (skewMs, accepted) => {
    expect(check({}, undefined, AT + skewMs)).toBe(accepted);
  });
});

test('while a secret is rotated the old and the new one are both valid', () => {
  for (const secret of ['old', 'new']) {
    const signature = sign(EXAMPLE.body, EXAMPLE.timestamp, secret);
    expect(check({ signature }, ['new', 'old'])).toBe(true);
    expect(check({ signature }, ['another'])).toBe(false);
  }
});
