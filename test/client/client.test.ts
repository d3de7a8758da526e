import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { CairnClient, type ClientOptions } from '../../packages/client/src/client.ts';
import { followStream } from '../../packages/client/src/follow-stream.ts';
import { isUncertain, Refusal, Unreachable } from '../../packages/client/src/problem.ts';
import type { Fetch } from '../../packages/client/src/transport.ts';
import { Installation } from '../api/installation.ts';
import { readDocument } from '../docs/snippets.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Serves the installation over HTTP; drives each run to its end before it answers the start. */
async function served(installation: Installation) {
  const server = createServer(async (request, response) => {
    const sent = await buffer(request);
    const answer = await installation.api.request(request.url ?? '/', {
      method: request.method ?? 'GET',
      headers: new Headers(request.headers as Record<string, string>),
      ...(sent.length > 0 ? { body: new Uint8Array(sent) } : {}),
    });
    if (request.method === 'POST') await installation.world.run();
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(await answer.text());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

test('the example of its README starts a run, follows it to its end, lists it, and shows a refusal', async () => {
  const installation = new Installation();
  const server = await served(installation);
  mkdirSync(join(ROOT, '.cairn'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, '.cairn/client-'));
  try {
    const [, example = ''] = /```js\n([\s\S]*?)```/.exec(readDocument('packages/client/README.md')) ?? [];
    const file = join(folder, 'example.mjs');
    writeFileSync(file, example);
    const env = {
      ...process.env,
      CAIRN_URL: `${server.url}/`,
      CAIRN_API_KEY: await installation.key('mine'),
    };
    const program = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const [out, complaints, [code]] = await Promise.all([
      text(program.stdout),
      text(program.stderr),
      once(program, 'exit'),
    ]);
    expect({ code, complaints }).toEqual({ code: 0, complaints: '' });
    const lines = out.trim().split('\n');
    expect([lines[0], ...lines.slice(-4)]).toEqual([
      'run_created',
      'run_completed',
      'it ended: completed',
      '1 completed',
      'RUN_NOT_FOUND',
    ]);
  } finally {
    server.close();
    rmSync(folder, { recursive: true });
  }
});

test('waits for the end of a run with as many requests as needed', async () => {
  const requests: string[] = [];
  const statuses = ['running', 'waiting_external', 'failed'];
  const fetch: Fetch = async (url) => {
    requests.push(url);
    const body = { id: 'run_1', status: statuses[requests.length - 1] };
    return { status: 200, headers: new Headers(), body: null, text: async () => JSON.stringify(body) };
  };
  const client = new CairnClient({ url: 'http://cairn.invalid', credential: 'key', fetch });
  expect(await client.untilEnded('run_1')).toMatchObject({ status: 'failed' });
  expect(requests).toEqual(Array.from({ length: 3 }, () => 'http://cairn.invalid/v1/runs/run_1?wait=50s'));
});

test.each([
  [429, 'RATE_LIMITED'],
  [503, 'UNAVAILABLE'],
])(
  'polls for the end of a run while waiting requests are refused (%i), until its signal aborts',
  async (status, code) => {
    const busy = { status, body: { code, title: 'Too many', details: { retryAfterSeconds: 30 } } };
    const { client, pauses } = clientOf([
      ...Array.from({ length: 9 }, () => busy),
      { status: 200, body: { status: 'completed' } },
    ]);
    expect(await client.untilEnded('run_1')).toMatchObject({ status: 'completed' });
    expect(pauses.filter((ms) => ms === 30_000)).toHaveLength(2);
    const givesUp = new AbortController();
    const given = clientOf([busy], { signal: givesUp.signal, sleep: async () => givesUp.abort() });
    await expect(given.client.untilEnded('run_1')).rejects.toThrow(code);
    for (const other of [{ status: 404 }, { status: 500, body: { code: 'DATA_DAMAGED', title: 'Damaged' } }])
      await expect(clientOf([other]).client.untilEnded('run_1')).rejects.toThrow(Refusal);
  },
);

type Step = { readonly status: number; readonly body?: object; readonly after?: string } | 'nobody';

/** Answers with the steps in order, then repeats the last one; takes no time. */
function clientOf(steps: readonly Step[], options: Partial<ClientOptions> = {}) {
  const keys: (string | undefined)[] = [];
  const pauses: number[] = [];
  const credentials: (string | undefined)[] = [];
  const fetch: Fetch = async (_url, { headers }) => {
    const sent = headers as Record<string, string>;
    keys.push(sent['idempotency-key']);
    credentials.push(sent.authorization);
    const step = steps[Math.min(keys.length, steps.length) - 1] as Step;
    if (step === 'nobody') throw new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') });
    const { status, body = {}, after } = step;
    return Response.json(body, { status, headers: after === undefined ? {} : { 'retry-after': after } });
  };
  let made = 0;
  const client = new CairnClient({
    url: 'https://runs.test',
    credential: 'k',
    fetch,
    now: () => 0,
    newKey: () => `key${++made}`,
    sleep: async (ms) => void pauses.push(ms),
    ...options,
  });
  const cancel = (more = {}) =>
    client.change('POST', '/v1/runs/{id}/cancel', { params: { id: 'a' }, body: { reason: 'no' }, ...more });
  return { client, cancel, keys, pauses, credentials };
}

describe('a change', () => {
  test('without an answer is repeated with the same key; the next change gets a new key', async () => {
    const { cancel, keys, pauses } = clientOf(['nobody', { status: 503, after: '2' }, { status: 200 }]);
    await cancel();
    await cancel();
    await cancel({ idempotencyKey: 'mine' });
    expect(keys).toEqual(['key1', 'key1', 'key1', 'key2', 'mine']);
    expect(pauses).toEqual([500, 2_000]);
  });

  test('that is refused is not repeated, and has the reason', async () => {
    const body = { code: 'RUN_FINISHED', title: 'Over', detail: 'it has ended' };
    const { cancel, keys } = clientOf([{ status: 409, body }]);
    const error = await cancel().catch((refused: unknown) => refused);
    expect(error).toBeInstanceOf(Refusal);
    expect(error).toMatchObject({ problem: { code: 'RUN_FINISHED', status: 409 }, key: 'key1' });
    expect([isUncertain(error), keys.length]).toEqual([false, 1]);
  });

  test.each([['nobody' as const], [{ status: 500 }]])(
    'with an unknown outcome (%j) has the key for a repetition',
    async (step) => {
      const { cancel } = clientOf([step], { attempts: 2 });
      const error = await cancel().catch((lost: unknown) => lost);
      expect([isUncertain(error), (error as Unreachable).key]).toEqual([true, 'key1']);
    },
  );
});

describe('a change without a connection', () => {
  const refused = new TypeError('fetch failed', {
    cause: Object.assign(new Error('connect ECONNREFUSED'), { syscall: 'connect' }),
  });

  test.each([
    ['each time', [refused, refused], false],
    ['after one that was cut off', [new TypeError('terminated'), refused], true],
  ] as const)('%s', async (_, failures, expected) => {
    const left: Error[] = [...failures];
    const client = new CairnClient({
      url: 'https://runs.test',
      credential: 'k',
      attempts: 2,
      fetch: () => Promise.reject(left.shift()),
      sleep: () => Promise.resolve(),
    });
    const error = await client
      .change('POST', '/v1/runs', { body: { type: 'any', input: {} } })
      .catch((thrown: unknown) => thrown);
    expect([error instanceof Unreachable, isUncertain(error)]).toEqual([true, expected]);
  });
});

test('a credential is requested for each request, because tokens expire; a failure to get one is not a failure of the API', async () => {
  let requestCount = 0;
  const { client, credentials } = clientOf([{ status: 200 }], {
    credential: async () => `token${++requestCount}`,
  });
  await client.get('/v1/workflows');
  await client.get('/v1/workflows');
  expect(credentials).toEqual(['Bearer token1', 'Bearer token2']);
  const failing = clientOf([{ status: 200 }], { credential: () => Promise.reject(new Error('signed out')) });
  const error = await failing.client.get('/v1/workflows').catch((thrown: unknown) => thrown);
  expect(error).not.toBeInstanceOf(Unreachable);
  expect(failing.pauses).toEqual([]);
});

test('the time is that of the installation in its newest answer', async () => {
  const machine = Date.parse('2026-01-01T00:00:00.000Z');
  let date = '';
  const client = new CairnClient({
    url: 'https://runs.test',
    credential: 'k',
    now: () => machine,
    fetch: async () => new Response('{}', { headers: { date } }),
  });
  expect(client.now()).toBe(machine);
  for (const hours of [3, 0]) {
    date = new Date(machine + hours * 3_600_000).toUTCString();
    await client.get('/v1/workflows');
    expect(Math.abs(client.now() - machine - hours * 3_600_000)).toBeLessThanOrEqual(1_000);
  }
});

test('a list continues over pages up to its limit, and says whether there is more', async () => {
  const page = { status: 200, body: { items: [{ id: 'a' }, { id: 'b' }], next: 'c' } };
  const { client, keys } = clientOf([page]);
  const listed = await client.list('/v1/runs', { limit: 4 });
  expect([listed.items.length, listed.more, keys.length]).toEqual([4, true, 2]);
});

test('an empty web page in place of a stream is reported as not from the API', async () => {
  const { client } = clientOf([], {
    fetch: async () => new Response('', { headers: { 'content-type': 'text/html' } }),
  });
  const { value } = await followStream(client, { target: () => '/v1/stream', after: undefined }).next();
  expect(value).toEqual({ kind: 'again', why: 'The response is not from the Cairn API' });
});
