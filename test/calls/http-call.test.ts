import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { NotApplied } from 'cairn';
import { createTestRuntime, expectJournal } from 'cairn/testing';
import fc from 'fast-check';
import { httpCallUnder, type Terms } from '../../packages/calls/src/http-call.ts';
import { assertInstanceId } from '../../packages/calls/src/instance-id.ts';
import { callsTo, refusalOf } from '../../packages/calls/src/receiver.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');

type Answering = (() => Response) | undefined;

/** Answers in turn, the last one again and again; `undefined`: takes the request and gives no answer. */
function receiver(...answers: readonly Answering[]) {
  const got: { url: string; headers: Headers; body: unknown }[] = [];
  const take: typeof fetch = async (input, init) => {
    got.push({ url: String(input), headers: new Headers(init?.headers), body: init?.body });
    const answer = answers[Math.min(got.length, answers.length) - 1];
    if (answer === undefined) throw new TypeError('fetch failed', { cause: new Error('other side closed') });
    return answer();
  };
  return { got, fetch: take };
}

const json =
  (body: unknown, status = 200) =>
  () =>
    Response.json(body, { status });
const plain = (body: string, init: ResponseInit) => () => new Response(body, init);

function installed(fetch: typeof globalThis.fetch, terms: Partial<Terms> = {}, token = 'secret') {
  const bindings = callsTo({
    url: () => 'https://api.example.com/v2',
    token: () => token,
    now: () => NOW,
    fetch,
  });
  const workflow = httpCallUnder(() => ({ approval: 'never', inDoubt: 'ask', ...terms }));
  return createTestRuntime({ workflows: [workflow], bindings: [...bindings] });
}

describe('a call', () => {
  test('is made once, with the token and a key, and its answer is the result', async () => {
    const { got, fetch } = receiver(json({ id: 7 }, 201));
    const runtime = installed(fetch);
    const run = await runtime.start('http-call', { path: '/orders', body: { cents: 5 } });
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(await run.result()).toEqual({ answer: { status: 201, body: { id: 7 }, truncated: false } });
    expect(got).toHaveLength(1);
    expect(got[0]).toMatchObject({ url: 'https://api.example.com/v2/orders', body: '{"cents":5}' });
    expect(got[0]?.headers.get('authorization')).toBe('Bearer secret');
    expect(got[0]?.headers.get('idempotency-key')).toMatch(/^[0-9a-f]{64}$/);
  });

  test('without a token or a body sends neither', async () => {
    const { got, fetch } = receiver(plain('gone', { status: 200 }));
    const runtime = installed(fetch, {}, 'none');
    const run = await runtime.start('http-call', { method: 'DELETE', path: '/orders/7' });
    await runtime.runToEnd(run);
    expect(await run.result()).toMatchObject({ answer: { body: 'gone' } });
    expect([...(got[0]?.headers.keys() ?? [])]).toEqual(['idempotency-key']);
  });

  test('is repeated after a definite failure of the receiver', async () => {
    const busy = plain('', { status: 429, headers: { 'retry-after': '3600' } });
    const { got, fetch } = receiver(busy, plain('', { status: 423 }), json(null));
    const runtime = installed(fetch);
    const run = await runtime.start('http-call', {});
    await runtime.advance('59m');
    expect(got).toHaveLength(1);
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(new Set(got.map(({ headers }) => headers.get('idempotency-key'))).size).toBe(1);
  });

  test('that is refused permanently fails at once', async () => {
    const { got, fetch } = receiver(plain('', { status: 422 }));
    const runtime = installed(fetch);
    const run = await runtime.start('http-call', {});
    expect(await runtime.runToEnd(run)).toBe('failed');
    expect(got).toHaveLength(1);
    expect(run.error()?.message).toContain('the receiver answered 422');
  });

  test('that leads outside the receiver is not made', async () => {
    const { got, fetch } = receiver(json(null));
    const runtime = installed(fetch);
    const run = await runtime.start('http-call', { path: '/../admin' });
    expect(await runtime.runToEnd(run)).toBe('failed');
    expect(got).toEqual([]);
  });
});

describe('a call that was made', () => {
  const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  const strange = fc.constantFrom(
    ...['1e400', '[-1e400]', '"\\ud800"', '{"\\udc00":1}', '{"__proto__":{"a":1}}', '-0', '[', ''],
    ...[deep(90), deep(101), deep(250), deep(30_000), '"\\u0000"', '\ufeff{}'],
  );
  const wrapped = fc.tuple(fc.array(fc.oneof(strange, fc.json()), { maxLength: 3 }), fc.boolean());

  test('is not in doubt because of the JSON that the receiver answers with', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          strange,
          wrapped.map(([of, isIn]) => (isIn ? `[${of}]` : `{"a":[${of}]}`)),
        ),
        async (body) => {
          const headers = { 'content-type': 'application/json' };
          const { got, fetch } = receiver(plain(body, { status: 201, headers }));
          const runtime = installed(fetch);
          const run = await runtime.start('http-call', {});
          expect([await runtime.runToEnd(run), got.length]).toEqual(['completed', 1]);
          const { answer } = (await run.result()) as { answer: { body: unknown } };
          if (typeof answer.body !== 'string')
            expect(answer.body).toEqual(JSON.parse(JSON.stringify(JSON.parse(body))));
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('a call without an answer', () => {
  test('is made again under the same key by an instance whose receiver acts once per key', async () => {
    const { got, fetch } = receiver(undefined, json({ done: true }));
    const runtime = installed(fetch, { inDoubt: 'repeat' });
    const run = await runtime.start('http-call', {});
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(got.map(({ headers }) => headers.get('idempotency-key'))).toEqual(
      Array(2).fill(got[0]?.headers.get('idempotency-key')),
    );
  });

  test('is not made again by an instance without keys: a person is asked', async () => {
    const { got, fetch } = receiver(undefined);
    const runtime = installed(fetch);
    const run = await runtime.start('http-call', {});
    await runtime.advance('1h');
    expect(run.status()).toBe('awaiting_approval');
    expect(run.waits()).toMatchObject([{ step: 'call', kind: 'approval', effect: expect.any(String) }]);
    expect(got).toHaveLength(1);
  });

  test.each([
    ['repeat', 'completed', 2],
    ['ask', 'awaiting_approval', 1],
  ] as const)('keeps the settings of its instance from when it began: %s', async (inDoubt, status, calls) => {
    const { got, fetch } = receiver(undefined, json(null));
    let terms: Terms = { approval: 'never', inDoubt };
    const bindings = callsTo({ url: () => 'https://a.example', token: () => '', now: () => NOW, fetch });
    const runtime = createTestRuntime({ workflows: [httpCallUnder(() => terms)], bindings: [...bindings] });
    const run = await runtime.start('http-call', {});
    runtime.crashBefore('call');
    await runtime.settle();
    terms = { approval: 'always', inDoubt: inDoubt === 'ask' ? 'repeat' : 'ask' };
    await runtime.advance('1h');
    expect([run.status(), got.length]).toEqual([status, calls]);
  });
});

describe('a call that needs approval', () => {
  test('is not made before it', async () => {
    const { got, fetch } = receiver(json(null));
    const runtime = installed(fetch, { approval: 'always' });
    const run = await runtime.start('http-call', { method: 'PUT', path: '/prices', body: { up: true } });
    await runtime.settle();
    expect([run.status(), got.length]).toEqual(['awaiting_approval', 0]);
    await runtime.decide(run, 'approve');
    expect(await runtime.runToEnd(run)).toBe('completed');
    expectJournal(run.journal()).toHaveEndedInOrder('terms', 'approve', 'call');
  });

  test.each([0, 1])('is shown with a body that is not cut within a character (%d)', async (shift) => {
    const runtime = installed(receiver(json(null)).fetch, { approval: 'always' });
    const run = await runtime.start('http-call', { body: `${'x'.repeat(shift)}${'📦'.repeat(2_000)}` });
    await runtime.settle();
    expect(run.status()).toBe('awaiting_approval');
  });

  test('is never made when it is rejected', async () => {
    const { got, fetch } = receiver(json(null));
    const runtime = installed(fetch, { approval: 'always' });
    const run = await runtime.start('http-call', {});
    await runtime.settle();
    await runtime.decide(run, 'reject', { note: 'not today' });
    expect(await runtime.runToEnd(run)).toBe('failed');
    expect(got).toEqual([]);
  });
});

test.each([
  ['a member that is unknown', { verb: 'POST' }],
  ['a method that changes nothing', { method: 'GET' }],
  ['a path without a slash', { path: 'orders' }],
  ['a path with a space', { path: '/a b' }],
])('%s is refused before a run is made', async (_what, input) => {
  const runtime = installed(receiver(json(null)).fetch);
  await expect(runtime.start('http-call', input)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
});

test.each([
  [408, 'Error', undefined],
  [500, 'Error', undefined],
  [503, 'Error', undefined],
  [409, 'NotApplied', false],
  [425, 'NotApplied', false],
  [302, 'Error', undefined],
  [303, 'Error', undefined],
  [301, 'NotApplied', true],
  [307, 'NotApplied', true],
  [404, 'NotApplied', true],
])('an answer %d is %s', (status, name, final) => {
  const refusal = refusalOf(status, undefined) as Error & { final?: boolean };
  expect([refusal.constructor.name, refusal.final]).toEqual([name, final]);
});

describe('over a real connection', () => {
  let server: Server | undefined;
  afterEach(async () => {
    server?.closeAllConnections();
    await new Promise((resolve) => server?.close(resolve) ?? resolve(undefined));
    server = undefined;
  });

  const call = (url: string) => {
    const [binding] = callsTo({ url: () => url, token: () => 'none', now: () => NOW });
    const options = { idempotencyKey: 'a'.repeat(64), signal: new AbortController().signal };
    return binding?.call({ method: 'POST', path: '/' }, options);
  };
  const listen = async (answer: Parameters<typeof createServer>[1]) => {
    server = createServer(answer);
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

  test('a receiver that cannot be reached has definitely not acted', async () => {
    const url = await listen(() => {});
    await new Promise((resolve) => server?.close(resolve));
    await expect(call(url)).rejects.toBeInstanceOf(NotApplied);
  });

  test('one that hangs up may have acted', async () => {
    const url = await listen((request) => request.socket.destroy());
    await expect(call(url)).rejects.toThrow('the receiver did not respond');
  });

  test('an answer that is too long, or breaks off, is truncated, because the call has been made', async () => {
    const long = await listen((_request, response) => response.end('x'.repeat(100_000)));
    expect(await call(long)).toEqual({ status: 200, body: 'x'.repeat(65_536), truncated: true });
    server?.closeAllConnections();
    await new Promise((resolve) => server?.close(resolve));
    const broken = await listen((_request, response) => {
      response.writeHead(201, { 'content-type': 'application/json', 'content-length': 100 });
      response.write('{"id":', () => response.destroy());
    });
    expect(await call(broken)).toMatchObject({ status: 201, truncated: true });
  });

  test('a redirect is not followed', async () => {
    const url = await listen((_request, response) => {
      response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end();
    });
    await expect(call(url)).rejects.toThrow('answered 307');
  });
});

test('an instance whose queues could not be created is refused before anything is deployed', () => {
  expect(() => assertInstanceId('my_calls')).toThrow("Name it 'my-calls'");
  expect(assertInstanceId('my-calls')).toBeUndefined();
  expect(assertInstanceId(undefined)).toBeUndefined();
});
