import { isUtf8 } from 'node:buffer';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { reviewPullRequest2 } from '../../functions/src/workflows/review-pull-request/earlier/version-2.ts';
import { MAX_DELIVERY_BYTES } from '../../packages/cairn/src/triggers/github/delivery.ts';
import { githubWebhook } from '../../packages/cairn/src/triggers/github/webhook.ts';
import { type DeliveryRequest, deliveryRequest, Installation, sign } from '../api/installation.ts';

const BODY = JSON.stringify({ action: 'opened' });
const deep = `{"a":${'['.repeat(200)}${']'.repeat(200)}}`;

interface Refusal {
  readonly because: string;
  readonly delivery: Partial<DeliveryRequest>;
  readonly status: number;
}

const REFUSALS: readonly Refusal[] = [
  { because: 'a signature with another secret', delivery: { secret: 'not the one' }, status: 401 },
  { because: 'no signature', delivery: { headers: { 'x-hub-signature-256': undefined } }, status: 401 },
  { because: 'an empty signature', delivery: { headers: { 'x-hub-signature-256': '' } }, status: 401 },
  {
    because: 'a truncated signature',
    delivery: { headers: { 'x-hub-signature-256': sign(BODY).slice(0, -1) } },
    status: 401,
  },
  {
    because: 'a signature of other hash',
    delivery: { headers: { 'x-hub-signature-256': sign(BODY).replace('256', '1') } },
    status: 401,
  },
  {
    because: 'a signature without its prefix',
    delivery: { headers: { 'x-hub-signature-256': sign(BODY).slice(7) } },
    status: 401,
  },
  {
    because: 'a body cut short',
    delivery: { body: BODY.slice(0, -1), headers: { 'x-hub-signature-256': sign(BODY) } },
    status: 401,
  },
  {
    because: 'a body with a byte more',
    delivery: { body: `${BODY} `, headers: { 'x-hub-signature-256': sign(BODY) } },
    status: 401,
  },
  { because: 'an empty body', delivery: { body: '' }, status: 401 },
  { because: 'no event header', delivery: { headers: { 'x-github-event': undefined } }, status: 400 },
  { because: 'an event that is none', delivery: { event: '../../etc' }, status: 400 },
  { because: 'no delivery header', delivery: { headers: { 'x-github-delivery': undefined } }, status: 400 },
  { because: 'a delivery id with a colon', delivery: { id: 'a:b' }, status: 400 },
  { because: 'an overlong delivery id', delivery: { id: 'a'.repeat(101) }, status: 400 },
  { because: 'text that is not JSON', delivery: { body: '{"action":' }, status: 400 },
  { because: 'JSON that is no object', delivery: { body: '[1]' }, status: 400 },
  { because: 'JSON null', delivery: { body: 'null' }, status: 400 },
  { because: 'JSON nested too deep', delivery: { body: deep }, status: 400 },
  { because: 'half a character', delivery: { body: '{"a":"\\ud800"}' }, status: 400 },
  {
    because: 'a form without payload',
    delivery: { body: 'a=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    status: 400,
  },
  { because: 'another content type', delivery: { headers: { 'content-type': 'text/plain' } }, status: 415 },
  {
    because: 'another charset',
    delivery: { headers: { 'content-type': 'application/json; charset=latin1' } },
    status: 415,
  },
  { because: 'GET', delivery: { method: 'GET' }, status: 405 },
  {
    because: 'a length above the limit',
    delivery: { headers: { 'content-length': String(MAX_DELIVERY_BYTES + 1) } },
    status: 413,
  },
];

test.each(REFUSALS)(
  '$because is refused with $status, and nothing is written',
  async ({ delivery, status }) => {
    const installation = new Installation([reviewPullRequest2]);
    const answer = await installation.deliver({ body: BODY, ...delivery });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(await answer.json()).toMatchObject({ status, code: expect.any(String), help: expect.any(String) });
    expect(installation.written()).toBe(0);
  },
);

/** Bytes that are not UTF-8, alone and within JSON text. */
const notUtf8 = fc
  .record({ bytes: fc.uint8Array({ minLength: 1, maxLength: 20 }), isInJson: fc.boolean() })
  .map(({ bytes, isInJson }) =>
    isInJson ? Buffer.concat([Buffer.from('{"a":"'), bytes, Buffer.from('"}')]) : Buffer.from(bytes),
  )
  .filter((bytes) => !isUtf8(bytes));

test('a body that is not UTF-8 is refused for that if it is signed, and otherwise for its signature', async () => {
  const installation = new Installation([reviewPullRequest2]);
  await fc.assert(
    fc.asyncProperty(notUtf8, async (body) => {
      const answer = await installation.deliver({ body });
      expect([answer.status, await answer.json()]).toEqual([
        400,
        expect.objectContaining({ code: 'INVALID_INPUT', detail: 'the body is not UTF-8' }),
      ]);
      expect((await installation.deliver({ body, secret: 'not the one' })).status).toBe(401);
      // The text into which such bytes are decoded is another body.
      const headers = { 'x-hub-signature-256': sign(body.toString('utf8')) };
      expect((await installation.deliver({ body, headers })).status).toBe(401);
    }),
  );
  expect(installation.written()).toBe(0);
});

test('a body above the limit is refused whatever length it announced', async () => {
  const installation = new Installation([reviewPullRequest2]);
  const answer = await installation.deliver({
    body: `"${'x'.repeat(MAX_DELIVERY_BYTES)}"`,
    headers: { 'content-length': undefined },
  });
  expect(answer.status).toBe(413);
});

test('a request is checked for size and headers before its signature', async () => {
  const installation = new Installation([reviewPullRequest2]);
  const unsigned = { 'x-hub-signature-256': undefined, 'x-github-event': undefined };
  expect((await installation.deliver({ headers: unsigned })).status).toBe(400);
  const large = { ...unsigned, 'content-length': String(MAX_DELIVERY_BYTES + 1) };
  expect((await installation.deliver({ headers: large })).status).toBe(413);
});

test('an unsigned body of another content type is only told that it is unsigned', async () => {
  const installation = new Installation([reviewPullRequest2]);
  const headers = { 'content-type': 'text/plain', 'x-hub-signature-256': undefined };
  expect((await installation.deliver({ body: 'x', headers })).status).toBe(401);
});

test('another path is not found', async () => {
  const installation = new Installation([reviewPullRequest2]);
  const signed = deliveryRequest({ body: BODY });
  const elsewhere = new Request('http://cairn.test/webhooks/github/x', signed);
  expect((await githubWebhook(installation.github, elsewhere)).status).toBe(404);
});

describe('a payload that its workflow refuses', () => {
  test('is acknowledged as ignored, with the reason, and nothing is written', async () => {
    const installation = new Installation([reviewPullRequest2]);
    const answer = await installation.deliver({ body: BODY });
    expect(answer.status).toBe(202);
    const body = (await answer.json()) as { ignored: boolean; reason: string };
    expect(body.ignored).toBe(true);
    expect(body.reason).toMatch(/review-pull-request: number/);
    expect(installation.written()).toBe(0);
  });
});

test('an installation without a secret answers with a server error', async () => {
  const installation = new Installation([reviewPullRequest2]);
  const secrets = () => {
    throw new Error('GITHUB_WEBHOOK_SECRET is empty');
  };
  const answer = await githubWebhook({ ...installation.github, secrets }, deliveryRequest({ body: BODY }));
  expect(answer.status).toBe(500);
  expect(await answer.text()).not.toContain('GITHUB_WEBHOOK_SECRET');
});
