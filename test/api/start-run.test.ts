import { describe, expect, test } from '@jest/globals';
import { requestHash } from '../../packages/cairn/src/core/encoding/fingerprint.ts';
import { Installation } from './installation.ts';

const START = { type: 'echo', input: { text: 'hello' } };

async function ready() {
  const installation = new Installation();
  return { installation, key: await installation.key('dev') };
}

test('a start is answered 201 with the run and its location', async () => {
  const { installation, key } = await ready();
  const answer = await installation.post(key, { ...START, threadId: 'thread-1' });
  const body = (await answer.json()) as { runId: string };
  expect(answer.status).toBe(201);
  expect(body).toEqual({
    runId: expect.stringMatching(/^run_/),
    type: 'echo',
    planVersion: 1,
    status: 'pending',
    threadId: 'thread-1',
    createdAt: '2026-01-01T00:00:00.000Z',
  });
  expect(answer.headers.get('location')).toBe(`/v1/runs/${body.runId}`);
  expect(answer.headers.get('idempotency-replayed')).toBeNull();
  expect((await installation.get(answer.headers.get('location') ?? '', key)).status).toBe(200);
});

describe('with an idempotency key', () => {
  test('a repetition is answered 200 with the same bytes and location, and a mark', async () => {
    const { installation, key } = await ready();
    const first = await installation.post(key, START, { 'idempotency-key': 'k1' });
    await installation.world.run();
    const again = await installation.post(key, START, { 'idempotency-key': 'k1' });
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(await again.text()).toBe(await first.text());
    expect(again.headers.get('location')).toBe(first.headers.get('location'));
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(installation.world.db.runs.size).toBe(1);
  });

  test('two hundred concurrent starts make one run', async () => {
    const { installation, key } = await ready();
    const starts = Array.from({ length: 200 }, () =>
      installation.post(key, START, { 'idempotency-key': 'k1' }),
    );
    const statuses = (await Promise.all(starts)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    expect(statuses.filter((status) => status === 200)).toHaveLength(199);
    expect(installation.world.db.runs.size).toBe(1);
  });

  test('the order of members does not change the request', async () => {
    const { installation, key } = await ready();
    await installation.post(key, '{"type":"echo","input":{"text":"hello"}}', { 'idempotency-key': 'k1' });
    const again = await installation.post(key, '{ "input": {"text": "hello"}, "type": "echo" }', {
      'idempotency-key': 'k1',
    });
    expect(again.status).toBe(200);
  });

  test('another payload under the same key is refused with 422', async () => {
    const { installation, key } = await ready();
    await installation.post(key, START, { 'idempotency-key': 'k1' });
    const other = await installation.post(
      key,
      { ...START, input: { text: 'bye' } },
      { 'idempotency-key': 'k1' },
    );
    expect(other.status).toBe(422);
    expect(await other.json()).toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
    expect(installation.world.db.runs.size).toBe(1);
  });

  test('the same key of another client is another request', async () => {
    const { installation, key } = await ready();
    const second = await installation.key('second');
    await installation.post(key, START, { 'idempotency-key': 'k1' });
    expect((await installation.post(second, START, { 'idempotency-key': 'k1' })).status).toBe(201);
  });

  test.each([
    ['X-Idempotency-Key', { 'x-idempotency-key': 'k1', 'idempotency-key': 'k2', 'x-request-id': 'k3' }],
    ['Idempotency-Key', { 'idempotency-key': '"k1"', 'x-request-id': 'k3' }],
    ['X-Request-ID', { 'x-request-id': 'k1' }],
  ])('%s takes precedence over those after it', async (_name, headers) => {
    const { installation, key } = await ready();
    await installation.post(key, START, { 'x-idempotency-key': 'k1' });
    expect((await installation.post(key, START, headers)).status).toBe(200);
  });

  test.each(['', ' ', 'a b', '"open', 'x'.repeat(256), 'schlüssel'])(
    '%j is no valid key: 400, nothing written',
    async (value) => {
      const { installation, key } = await ready();
      const answer = await installation.post(key, START, { 'idempotency-key': value });
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ code: 'INVALID_INPUT', field: 'Idempotency-Key' });
      expect(installation.written()).toBe(0);
    },
  );
});

test('a request that is under way is answered 202, to be sent again', async () => {
  const { installation, key } = await ready();
  const now = installation.world.clock.now();
  await installation.world.records.create({
    key: 'api:c.dev:k1',
    source: 'api',
    tenantId: 'acme',
    status: 'processing',
    requestHash: requestHash('POST /v1/runs', START),
    createdAt: now,
    updatedAt: now,
    expiresAt: now + 60_000,
    lockExpiresAt: now + 60_000,
    attempts: 1,
  });
  const answer = await installation.post(key, START, { 'idempotency-key': 'k1' });
  expect(answer.status).toBe(202);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(installation.world.db.runs.size).toBe(0);
});

test('bytes that are not UTF-8 are refused', async () => {
  const { installation, key } = await ready();
  const body = Buffer.concat([
    Buffer.from('{"type":"echo","input":{"text":"'),
    Buffer.from([0xff]),
    Buffer.from('"}}'),
  ]);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const answer = await installation.api.request('/v1/runs', { method: 'POST', body, headers });
  expect(answer.status).toBe(400);
  expect(installation.written()).toBe(0);
});

test('without a key each start is a new run', async () => {
  const { installation, key } = await ready();
  await installation.post(key, START);
  await installation.post(key, START);
  expect(installation.world.db.runs.size).toBe(2);
});

test('a byte order mark, which no editor shows, is named in the refusal', async () => {
  const { installation, key } = await ready();
  const answer = await installation.post(key, `\ufeff${JSON.stringify(START)}`);
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ detail: 'the body begins with a byte order mark' });
});

describe('an invalid start is refused before anything is written', () => {
  const nested = `{"type":"echo","input":${'['.repeat(150)}${']'.repeat(150)}}`;
  const veryDeep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  test.each<[string, unknown, number, string | undefined]>([
    ['a body that is not JSON', '{"type"', 400, undefined],
    ['an empty body', '', 400, undefined],
    ['an array', [], 400, undefined],
    ['null', 'null', 400, undefined],
    ['an unknown member', { ...START, inptu: 1 }, 400, 'inptu'],
    [
      'a member named after a prototype',
      '{"type":"echo","input":{"text":"x"},"__proto__":1}',
      400,
      '__proto__',
    ],
    ['a missing type', { input: {} }, 400, 'type'],
    ['an unknown type', { type: 'nothing', input: {} }, 400, 'type'],
    ['a type from the prototype', { type: 'constructor', input: {} }, 400, 'type'],
    ['a missing input', { type: 'echo' }, 400, 'input'],
    ['an input that does not fit', { type: 'echo', input: { text: 1 } }, 400, 'input.text'],
    ['a thread that is no text', { ...START, threadId: 7 }, 400, 'threadId'],
    ['a thread with a space', { ...START, threadId: 'a b' }, 400, 'threadId'],
    ['an overlong thread', { ...START, threadId: 'x'.repeat(256) }, 400, 'threadId'],
    ['deep nesting', nested, 400, undefined],
    ['nesting that would break the stack', `{"type":"echo","input":${veryDeep}}`, 400, undefined],
    ['half a character', '{"type":"echo","input":{"text":"\\ud800"}}', 400, 'input.text'],
    ['half a character in a name', '{"type":"echo","input":{"a":[{"\\ud800":1}]}}', 400, 'input.a.0.\ufffd'],
    ['a number out of range', '{"type":"echo","input":{"a":[0,1e400]}}', 400, 'input.a.1'],
    [
      'more than a request can carry',
      { ...START, input: { text: 'x'.repeat(32 * 1024 * 1024) } },
      413,
      undefined,
    ],
  ])('%s', async (_what, body, status, field) => {
    const { installation, key } = await ready();
    const answer = await installation.post(key, body, { 'idempotency-key': 'k1' });
    expect(answer.status).toBe(status);
    const problem = (await answer.json()) as Record<string, unknown>;
    expect(problem).toMatchObject({ status, help: expect.any(String) });
    expect(problem.field).toBe(field);
    expect(installation.written()).toBe(0);
  });

  test('unknown members, the first five by name: a body may have a million', async () => {
    const { installation, key } = await ready();
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`${'m'.repeat(200)}${i}`, i]));
    const answer = await installation.post(key, { ...START, ...many });
    const { field, detail } = (await answer.json()) as { field: string; detail: string };
    expect([answer.status, field.length]).toEqual([400, 100]);
    expect(detail).toMatch(/^unknown members: ("m{99}…", ){5}19995 more; use type, input, threadId$/);
  });

  test('a member or a parameter without a name is reported as such', async () => {
    const { installation, key } = await ready();
    const nameless = await installation.post(key, { ...START, '': 1 });
    expect(await nameless.json()).toMatchObject({ field: 'body', detail: expect.stringContaining('""') });
    const response = await installation.get('/v1/me?=1', key);
    expect(await response.json()).toMatchObject({
      field: 'query',
      detail: expect.stringContaining('without a name'),
    });
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=utf-16'])(
    'the content type %s',
    async (type) => {
      const { installation, key } = await ready();
      expect((await installation.post(key, START, { 'content-type': type })).status).toBe(415);
      expect(installation.written()).toBe(0);
    },
  );

  test('a query parameter', async () => {
    const { installation, key } = await ready();
    const answer = await installation.api.request('/v1/runs?dryRun=1', {
      method: 'POST',
      body: JSON.stringify(START),
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    });
    expect(answer.status).toBe(400);
    expect(installation.written()).toBe(0);
  });
});
