import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { requestHash } from '../../packages/cairn/src/core/encoding/fingerprint.ts';
import type { ErrorCode } from '../../packages/cairn/src/core/errors.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { MAX_HEADER_BYTES, MAX_HEADERS, MAX_URL_CHARS } from '../../packages/cairn/src/http/head-limits.ts';
import { MAX_BODY_DEPTH, MAX_BODY_VALUES } from '../../packages/cairn/src/http/json-shape.ts';
import { OutcomeUnknown } from '../../packages/cairn/src/ports/store-errors.ts';
import { MAX_DELIVERY_BYTES } from '../../packages/cairn/src/triggers/github/delivery.ts';
import { type GithubDeps, githubWebhook } from '../../packages/cairn/src/triggers/github/webhook.ts';
import { MAX_REQUEST_BYTES } from '../../packages/cairn/src/triggers/slack/signed-form.ts';
import { type DeliveryRequest, deliveryRequest, Installation } from '../api/installation.ts';
import { changed, imageOf } from '../support/image.ts';
import { commandForm, SlackEndpoint, type SlackRequestOptions } from './slack/endpoint.ts';

/** Every answer of the two webhooks: status, and its code or a part of its text. */
interface Row<Asked> {
  readonly because: string;
  readonly status: number;
  readonly says: ErrorCode | object;
  readonly ask: Asked;
}
const row = <Asked>(because: string, status: number, says: ErrorCode | object, ask: Asked): Row<Asked> => ({
  because,
  status,
  says,
  ask,
});

const nested = `{"a":${'['.repeat(MAX_BODY_DEPTH)}${']'.repeat(MAX_BODY_DEPTH)}}`;
const crowded = `{"a":[${'1,'.repeat(MAX_BODY_VALUES)}1]}`;
const manyHeaders = Object.fromEntries(Array.from({ length: MAX_HEADERS }, (_, i) => [`x-${i}`, '1']));
const LOST = new OutcomeUnknown('commit', new Error('connection lost'));

function assertSays(
  says: ErrorCode | object,
  answered: { status: number; media: string | null; text: string },
) {
  const { status, media, text } = answered;
  if (typeof says !== 'string') {
    expect(text === '' ? {} : JSON.parse(text)).toEqual(says);
    return;
  }
  expect(media).toBe('application/problem+json');
  expect(JSON.parse(text)).toMatchObject({ status, code: says, help: expect.stringMatching(/./) });
}

async function read(answer: Response) {
  return { status: answer.status, media: answer.headers.get('content-type'), text: await answer.text() };
}

const listens = defineWorkflow({
  type: 'listens',
  planVersion: 1,
  input: z.object({ ref: z.string() }),
  on: { github: [{ event: 'push' }] },
  steps: (step) => ({ a: step('a', () => 1) }),
});

describe('GitHub', () => {
  const PUSH = { event: 'push', body: '{"ref":"main"}', id: 'first' };
  type Asked = Partial<DeliveryRequest> & { path?: string; deps?: (deps: GithubDeps) => GithubDeps };
  const failing = (error: Error) => (deps: GithubDeps) => ({
    ...deps,
    store: { ...deps.store, start: () => Promise.reject(error) } as never,
  });
  const ROWS: readonly Row<Asked>[] = [
    row(
      'a delivery that a workflow listens to',
      202,
      { runId: expect.any(String) },
      {
        ...PUSH,
        id: 'new',
        body: '{"ref":"main","after":"another"}',
      },
    ),
    row('the same delivery again', 200, { duplicate: true, runId: expect.any(String) }, PUSH),
    row('a ping', 200, { pong: true }, { event: 'ping' }),
    row('an event that nobody listens to', 202, { ignored: true }, { event: 'watch' }),
    row('a payload that does not fit', 202, { ignored: true, reason: expect.any(String) }, { event: 'push' }),
    row('the same delivery with other content', 422, 'IDEMPOTENCY_KEY_REUSED', {
      ...PUSH,
      body: '{"ref":"x"}',
    }),
    row('no signature', 401, 'UNAUTHENTICATED', { headers: { 'x-hub-signature-256': undefined } }),
    row('a wrong signature', 401, 'UNAUTHENTICATED', { secret: 'another' }),
    row('no event', 400, 'INVALID_INPUT', { headers: { 'x-github-event': undefined } }),
    row('no delivery id', 400, 'INVALID_INPUT', { headers: { 'x-github-delivery': undefined } }),
    row('an odd delivery id', 400, 'INVALID_INPUT', { id: 'a/b' }),
    row('no JSON', 400, 'INVALID_INPUT', { body: '{' }),
    row('no object', 400, 'INVALID_INPUT', { body: '1' }),
    row('too deep', 400, 'INVALID_INPUT', { body: nested }),
    row('a number beyond all numbers', 400, 'INVALID_INPUT', { body: '{"a":1e400}' }),
    row('too many values', 413, 'PAYLOAD_TOO_LARGE', { body: crowded }),
    row('too large', 413, 'PAYLOAD_TOO_LARGE', {
      headers: { 'content-length': `${MAX_DELIVERY_BYTES + 1}` },
    }),
    row('another content type', 415, 'UNSUPPORTED_MEDIA_TYPE', { headers: { 'content-type': 'text/plain' } }),
    row('another method', 405, 'METHOD_NOT_ALLOWED', { method: 'GET' }),
    row('another path', 404, 'NOT_FOUND', { path: '/webhooks/github/x' }),
    row('a query that is too long', 414, 'URI_TOO_LONG', {
      path: `/webhooks/github?${'x'.repeat(MAX_URL_CHARS)}`,
    }),
    row('a large header', 431, 'HEADERS_TOO_LARGE', { headers: { cookie: 'x'.repeat(MAX_HEADER_BYTES) } }),
    row('many headers', 431, 'HEADERS_TOO_LARGE', { headers: manyHeaders }),
    row('a store that does not answer', 503, 'UNAVAILABLE', { ...PUSH, id: 'lost', deps: failing(LOST) }),
    row('a fault of ours', 500, 'INTERNAL', {
      ...PUSH,
      id: 'fault',
      deps: failing(new Error('a secret detail')),
    }),
  ];

  test.each(ROWS)('$because: $status', async ({ ask, status, says }) => {
    const installation = new Installation([listens]);
    const { world, github } = installation;
    await installation.deliver(PUSH);
    const before = imageOf(world);
    const { path = '/webhooks/github', deps = (same) => same, ...delivery } = ask;
    const asked = deliveryRequest(delivery);
    const request = path === '/webhooks/github' ? asked : new Request(`http://cairn.test${path}`, asked);
    const answering = githubWebhook(deps(github), request);
    // A start with an unknown outcome is sent again for some time.
    for (let waited = 0; waited < 50; waited += 1) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (status === 503) world.clock.fireNext();
    }
    const answered = await read(await answering);
    expect([answered.status, answered.text]).toEqual([status, answered.text]);
    assertSays(says, answered);
    expect(answered.text).not.toContain('a secret detail');
    const isStart = status === 202 && 'runId' in (says as object);
    expect(changed(before, imageOf(world)).length > 0).toBe(isStart);
  });

  test('a delivery whose start is in progress: 202', async () => {
    const installation = new Installation([listens]);
    const { world } = installation;
    const now = world.clock.now();
    await world.records.create({
      key: 'github:busy',
      source: 'github_webhook',
      tenantId: 'acme',
      status: 'processing',
      requestHash: requestHash('github:push', { ref: 'main' }),
      createdAt: now,
      updatedAt: now,
      expiresAt: now + 1_000,
      lockExpiresAt: now + 1_000,
      attempts: 1,
    });
    // The plan that the first start of a process stores exists already.
    await installation.deliver({ ...PUSH, id: 'first', body: '{"ref":"other"}' });
    const before = imageOf(world);
    const answer = await installation.deliver({ ...PUSH, id: 'busy' });
    expect([answer.status, await answer.json()]).toEqual([202, { inFlight: true }]);
    expect(changed(before, imageOf(world))).toEqual([]);
  });
});

describe('Slack', () => {
  const ephemeral = (text: string) => ({ response_type: 'ephemeral', replace_original: false, text });
  const some = ephemeral(expect.any(String) as unknown as string);
  const deploy = defineWorkflow({
    type: 'deploy',
    planVersion: 1,
    input: z.unknown(),
    on: { slack: { command: '/deploy' } },
    steps: (step) => ({ a: step('a', () => 1) }),
  });
  const field = (name: string, value: string) => ({ form: commandForm({ [name]: value }) });
  const payload = (text: string) => ({ form: { payload: text } });
  const ROWS: readonly Row<Partial<SlackRequestOptions>>[] = [
    row('a command', 200, some, field('trigger_id', 'new')),
    row('the same command again', 200, some, {}),
    row('a command that nobody answers to', 200, some, field('command', '/nothing')),
    row('a team that is not connected', 200, some, field('team_id', 'T9')),
    row('an SSL check', 200, {}, { form: { ssl_check: '1' } }),
    row('what people do with other messages', 200, {}, payload('{"type":"shortcut"}')),
    row('no signature', 401, 'UNAUTHENTICATED', { headers: { 'x-slack-signature': undefined } }),
    row('a wrong signature', 401, 'UNAUTHENTICATED', { secret: 'another' }),
    row('a request of long ago', 401, 'UNAUTHENTICATED', { now: 0 }),
    row('a field missing', 400, 'INVALID_INPUT', field('trigger_id', '')),
    row('a payload that is no JSON', 400, 'INVALID_INPUT', payload('{')),
    row('a payload too deep', 400, 'INVALID_INPUT', payload(nested)),
    row('a payload with a number beyond all numbers', 400, 'INVALID_INPUT', payload('{"type":1e400}')),
    row('too large', 413, 'PAYLOAD_TOO_LARGE', { headers: { 'content-length': `${MAX_REQUEST_BYTES + 1}` } }),
    row('another content type', 415, 'UNSUPPORTED_MEDIA_TYPE', {
      headers: { 'content-type': 'application/json' },
    }),
    row('another method', 405, 'METHOD_NOT_ALLOWED', { method: 'GET' }),
    row('another path', 404, 'NOT_FOUND', { path: '/webhooks/slack/x' }),
    row('a query that is too long', 414, 'URI_TOO_LONG', {
      path: `/webhooks/slack?${'x'.repeat(MAX_URL_CHARS)}`,
    }),
    row('a large header', 431, 'HEADERS_TOO_LARGE', { headers: { cookie: 'x'.repeat(MAX_HEADER_BYTES) } }),
    row('many headers', 431, 'HEADERS_TOO_LARGE', { headers: manyHeaders }),
  ];

  test.each(ROWS)('$because: $status', async ({ because, ask, status, says }) => {
    const endpoint = new SlackEndpoint([deploy]);
    await endpoint.post({});
    const before = imageOf(endpoint.world);
    const answered = await read(await endpoint.post(ask));
    expect([answered.status, answered.text]).toEqual([status, answered.text]);
    if (says === some) expect(JSON.parse(answered.text)).toMatchObject({ text: expect.stringMatching(/./) });
    else assertSays(says, answered);
    expect(changed(before, imageOf(endpoint.world)).length > 0).toBe(because === 'a command');
  });

  test('an installation without a secret answers with a server error', async () => {
    const endpoint = new SlackEndpoint([deploy]);
    const secrets = () => {
      throw new Error('a secret detail');
    };
    const answered = await read(await endpoint.post({}, { secrets }));
    expect(answered.status).toBe(500);
    assertSays('INTERNAL', answered);
    expect(answered.text).not.toContain('a secret detail');
  });
});
