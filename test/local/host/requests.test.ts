import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../support.ts';
import { type CloudFixture, startFixture } from './cloud-fixture.ts';

let fixture: CloudFixture;
beforeAll(async () => {
  fixture = await startFixture();
});
afterAll(() => fixture.stop());

interface Echo {
  readonly method: string;
  readonly url: string;
  readonly originalUrl: string;
  readonly headers: Record<string, string>;
  readonly body: unknown;
  readonly rawBody?: string;
  readonly ip: string;
}

const send = (path: string, init: RequestInit = {}) => fetch(`${fixture.cloud.gateway}${path}`, init);
async function echo(init: RequestInit, path = '/echo/a'): Promise<Echo> {
  return (await (await send(path, init)).json()) as Echo;
}
const post = (type: string, body: NonNullable<RequestInit['body']>) =>
  echo({ method: 'POST', headers: { 'content-type': type }, body });
const raw = (seen: Echo) => Buffer.from(seen.rawBody ?? '', 'base64');

describe('the request a function gets', () => {
  test('JSON is parsed, its bytes kept', async () => {
    const seen = await post('application/json', '{ "a":  1 }');
    expect(seen.body).toEqual({ a: 1 });
    expect(raw(seen).toString()).toBe('{ "a":  1 }');
  });

  test('a form is parsed', async () => {
    const seen = await post('application/x-www-form-urlencoded', 'text=a+b&x%5By%5D=1');
    expect(seen.body).toEqual({ text: 'a b', x: { y: '1' } });
    expect(raw(seen).toString()).toBe('text=a+b&x%5By%5D=1');
  });

  test('text is a string', async () => {
    expect((await post('text/plain', 'héllo')).body).toBe('héllo');
  });

  test('any other type is bytes', async () => {
    const bytes = Buffer.from([0, 255, 128, 10]);
    const seen = await post('application/octet-stream', bytes);
    expect(raw(seen)).toEqual(bytes);
    expect(seen.body).toEqual({ type: 'Buffer', data: [...bytes] });
  });

  test('JSON that does not parse arrives as bytes without a body: the function answers', async () => {
    const seen = await post('application/json', '{"a":');
    expect(seen.body).toBe('undefined');
    expect(raw(seen).toString()).toBe('{"a":');
  });

  test('a body that was read is marked as Express 4 marks it, so that no parser reads it again', async () => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"a":1}' };
    expect(await (await fetch(`${fixture.cloud.functionsUrl}/parsesAgain`, init)).json()).toEqual({
      body: { a: 1 },
      read: true,
    });
    expect(await (await fetch(`${fixture.cloud.functionsUrl}/parsesAgain`)).json()).toEqual({
      body: {},
      read: false,
    });
  });

  test('without a body it has an empty one', async () => {
    const seen = await echo({});
    expect(seen.body).toEqual({});
    expect(seen.rawBody).toBeUndefined();
  });

  test('path and query are those of the client', async () => {
    const seen = await echo({}, '/echo/b%20c/d?x=1&x=2');
    expect(seen.url).toBe('/echo/b%20c/d?x=1&x=2');
    expect(seen.originalUrl).toBe('/echo/b%20c/d?x=1&x=2');
  });

  test('headers name the caller and the host', async () => {
    const seen = await echo({ headers: { 'x-forwarded-for': '203.0.113.9', 'x-mine': 'kept' } });
    expect(seen.headers).toMatchObject({
      'x-forwarded-for': '203.0.113.9, 127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': new URL(fixture.cloud.gateway).host,
      'x-mine': 'kept',
    });
    expect(seen.ip).toBe('203.0.113.9');
  });
});

test.each(['GET', 'DELETE', 'POST'])('a %s with a body of unknown length arrives whole', async (method) => {
  const { port } = new URL(fixture.cloud.gateway);
  const answer = await new Promise<string>((resolve, reject) => {
    const headers = { 'transfer-encoding': 'chunked', 'content-type': 'text/plain' };
    const outgoing = request({ host: '127.0.0.1', port, path: '/echo/x', method, headers });
    outgoing.on('response', async (response) => resolve(Buffer.concat(await response.toArray()).toString()));
    outgoing.on('error', reject);
    outgoing.write('GET /echo/smuggled HTTP/1.1\r\n\r\n');
    outgoing.end('end');
  });
  const seen = JSON.parse(answer) as Echo;
  expect(seen).toMatchObject({ method, body: 'GET /echo/smuggled HTTP/1.1\r\n\r\nend' });
  expect((await echo({})).body).toEqual({});
});

test('the port of the functions refuses foreign pages and rebound names', async () => {
  const statusFor = (headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve, reject) => {
      request(`${fixture.cloud.functionsUrl}/echo`, { headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end();
    });
  expect(await statusFor({})).toBe(200);
  expect(await statusFor({ origin: 'http://localhost:5173' })).toBe(200);
  expect(await statusFor({ origin: 'https://foreign.example' })).toBe(403);
  expect(await statusFor({ host: 'rebound.example' })).toBe(403);
});

test('a client that expects 100-continue gets it', async () => {
  const { port } = new URL(fixture.cloud.gateway);
  const answer = await new Promise<string>((resolve, reject) => {
    const headers = { expect: '100-continue', 'content-type': 'text/plain', 'content-length': 4 };
    const outgoing = request({ host: '127.0.0.1', port, path: '/echo/x', method: 'POST', headers });
    outgoing.on('continue', () => outgoing.end('body'));
    outgoing.on('response', async (response) => resolve(Buffer.concat(await response.toArray()).toString()));
    outgoing.on('error', reject);
    outgoing.flushHeaders();
  });
  const seen = JSON.parse(answer) as Echo;
  expect(seen.body).toBe('body');
  expect(seen.headers.expect).toBeUndefined();
});

describe('limits and failures', () => {
  test('a body over 32 MiB is 413, announced or not', async () => {
    const big = Buffer.alloc(32 * 1024 * 1024 + 1);
    const announced = await send('/echo/x', { method: 'POST', body: big });
    expect(announced.status).toBe(413);
    const chunks = new ReadableStream({
      start(controller) {
        for (let i = 0; i < 33; i++) controller.enqueue(Buffer.alloc(1024 * 1024));
        controller.close();
      },
    });
    const streamed = await send('/echo/x', { method: 'POST', body: chunks, duplex: 'half' } as RequestInit);
    expect(streamed.status).toBe(413);
  });

  test('a function that throws is 500, without its stack', async () => {
    const answer = await send('/throws');
    expect(answer.status).toBe(500);
    expect(await answer.text()).toBe('Internal Server Error');
  });

  test('a function that exceeds its timeout is 504, and its client is disconnected', async () => {
    const answer = await send('/slow');
    expect(answer.status).toBe(504);
    await until(() => fixture.trace('slow-abandoned').length === 1, 'the function to notice');
  });

  test('a worker that dies under a request is 503, and the next request is served', async () => {
    const before = fixture.cloud.pids.workers;
    expect((await send('/crash')).status).toBe(503);
    expect((await echo({})).method).toBe('GET');
    expect(fixture.cloud.pids.workers).not.toEqual(before);
    expect(fixture.log.join()).toMatch(/ended by SIGKILL; starting another$/);
  });

  test('a function with concurrency 1 never runs twice at once', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => send('/alone')));
    for (const answer of answers) expect(await answer.json()).toEqual({ most: 1 });
  });
});

describe('the environment of functions', () => {
  test('has the platform variables, the local servers, parameters and a generated secret', async () => {
    const { cloud } = fixture;
    const seen = (await (await send('/environment')).json()) as {
      secret: string;
      greeting: string;
      env: Record<string, string>;
    };
    expect(seen.secret).toBe(cloud.secrets.github);
    expect(seen.secret).toMatch(/^[\w-]{32}$/);
    expect(seen.greeting).toBe('hello');
    expect(seen.env).toMatchObject({
      GCLOUD_PROJECT: 'demo-cairn',
      GOOGLE_CLOUD_PROJECT: 'demo-cairn',
      FIREBASE_CONFIG: JSON.stringify({
        projectId: 'demo-cairn',
        databaseURL: 'https://demo-cairn.firebaseio.com',
        storageBucket: 'demo-cairn.appspot.com',
      }),
      FIRESTORE_EMULATOR_HOST: cloud.firestore,
      CAIRN_TASKS_HOST: cloud.tasks,
      CAIRN_FUNCTIONS_URL: cloud.functionsUrl,
      FUNCTION_REGION: 'us-central1',
    });
  });
});

describe('the front end of functions', () => {
  test('serves a nested export under its deployed name only', async () => {
    const nested = await fetch(`${fixture.cloud.functionsUrl}/group-nested`);
    expect(await nested.text()).toBe('nested');
    expect((await fetch(`${fixture.cloud.functionsUrl}/nobody`)).status).toBe(404);
  });
});
