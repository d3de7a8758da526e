/** Compares Cairn's verifier, and the requests that its tests sign, with the verifier of Slack's own framework. */
import { describe, expect, test } from '@jest/globals';
import { isValidSlackRequest } from '@slack/bolt';
import fc from 'fast-check';
import { isSigned } from '../../../packages/cairn/src/triggers/slack/signed-form.ts';
import {
  commandForm,
  pressOf,
  SLACK_SECRET,
  type SlackRequestOptions,
  sign,
  slackRequest,
} from './endpoint.ts';

/** A whole second, because Slack's verifier rounds within the last second before the limit and Cairn's does not. */
const NOW = Date.UTC(2026, 0, 1);
const PAIRS = 1_500;

interface Sent {
  readonly body: string;
  readonly signature: string;
  readonly timestamp: string;
}

function slackAccepts({ body, signature, timestamp }: Sent, secret: string): boolean {
  return isValidSlackRequest({
    signingSecret: secret,
    body,
    headers: { 'x-slack-signature': signature, 'x-slack-request-timestamp': Number(timestamp) },
    nowMilliseconds: NOW,
  });
}

function weAccept({ body, signature, timestamp }: Sent, secret: string): boolean {
  return isSigned({ body: Buffer.from(body), signature, timestamp }, [secret], NOW);
}

async function sentBy(options: Partial<SlackRequestOptions>): Promise<Sent> {
  const request = slackRequest({ now: NOW, ...options });
  return {
    body: await request.text(),
    signature: request.headers.get('x-slack-signature') ?? '',
    timestamp: request.headers.get('x-slack-request-timestamp') ?? '',
  };
}

describe('the requests that the tests of the endpoint send', () => {
  test.each<[string, Partial<SlackRequestOptions>]>([
    ['a command', { form: commandForm() }],
    ['a command in all of Unicode', { form: commandForm({ text: 'größer 部署 🚀 &=%+' }) }],
    ['a button', { form: { payload: JSON.stringify(pressOf({ runId: 'r', decision: 'approve' })) } }],
    ['a check of the certificate', { form: { ssl_check: '1' } }],
    ['an empty body', { body: '' }],
  ])('(%s) are signed as Slack signs, and refused with another secret', async (_what, options) => {
    const sent = await sentBy(options);
    expect(slackAccepts(sent, SLACK_SECRET)).toBe(true);
    expect(weAccept(sent, SLACK_SECRET)).toBe(true);
    expect(slackAccepts(sent, 'another')).toBe(false);
    expect(weAccept(sent, 'another')).toBe(false);
  });
});

describe('both verifiers', () => {
  const text = fc.oneof(fc.string(), fc.string({ unit: 'grapheme', maxLength: 60 }));
  const secret = fc.string({ minLength: 1, unit: 'grapheme-ascii' });
  const altered = fc.constantFrom('nothing', 'body', 'secret', 'time', 'cut', 'version', 'capitals', 'empty');
  /** Seconds between the signature and now; negative if the signature is in the future. */
  const age = fc.integer({ min: -400, max: 400 });

  function damaged(sent: Sent, how: string): Sent {
    const { body, signature, timestamp } = sent;
    const changes: Record<string, Partial<Sent>> = {
      body: { body: `${body} ` },
      time: { timestamp: String(Number(timestamp) + 1) },
      cut: { signature: signature.slice(0, -2) },
      version: { signature: signature.replace('v0', 'v1') },
      capitals: { signature: `v0=${signature.slice(3).toUpperCase()}` },
      empty: { signature: '' },
    };
    return { ...sent, ...changes[how] };
  }

  test("agree, except that Cairn's also refuses a time more than five minutes in the future", () => {
    const seen = { accepted: 0, refused: 0, ahead: 0 };
    fc.assert(
      fc.property(text, secret, age, altered, (body, right, seconds, how) => {
        const timestamp = String(NOW / 1_000 - seconds);
        const sent = damaged({ body, timestamp, signature: sign(body, timestamp, right) }, how);
        const used = how === 'secret' ? `${right}.` : right;
        const theirs = slackAccepts(sent, used);
        const isAhead = Number(sent.timestamp) * 1_000 - NOW > 300_000;
        expect(weAccept(sent, used)).toBe(theirs && !isAhead);
        if (theirs && isAhead) seen.ahead += 1;
        else seen[theirs ? 'accepted' : 'refused'] += 1;
      }),
      { numRuns: PAIRS },
    );
    for (const times of Object.values(seen)) expect(times).toBeGreaterThan(5);
  });
});
