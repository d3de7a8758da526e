import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { builtFunctions } from '../../../scripts/test-functions/built.ts';
import { type CloudFixture, startFixture } from '../../local/host/cloud-fixture.ts';

const ROOT = join(import.meta.dirname, '../../..');
let fixture: CloudFixture;
beforeAll(async () => {
  fixture = await startFixture({
    functionsModule: builtFunctions(join(ROOT, 'functions/src/index.ts')),
    firebaseJson: join(ROOT, 'firebase.json'),
    keepsSpare: false,
  });
});
afterAll(() => fixture.stop());

interface Sent {
  readonly line: string;
  readonly headers?: readonly string[];
  readonly body?: string;
}

interface Got {
  readonly status: number;
  readonly media: string | undefined;
  readonly code: string | undefined;
  /** True if it has a help text. */
  readonly helps: boolean;
}

/** Written as bytes, because HTTP clients refuse to send these requests. */
function raw(origin: string, { line, headers = [], body = '' }: Sent): Promise<Got> {
  const { host } = new URL(origin);
  const head = [line, `Host: ${host}`, 'Connection: close', ...headers].join('\r\n');
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(Number(new URL(origin).port), '127.0.0.1', () => {
      socket.write(Buffer.from(`${head}\r\n\r\n${body}`, 'latin1'));
    });
    socket.on('data', (chunk) => {
      text += chunk;
    });
    // A server that refuses a request while it is being sent may reset the connection after its answer.
    socket.on('error', (error) => (text === '' ? reject(error) : undefined));
    socket.on('close', () => {
      const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(text) ?? [];
      const [, media] = /^content-type: ([^\r;]*)/im.exec(text) ?? [];
      const [, code] = /"code":"(\w+)"/.exec(text) ?? [];
      resolve({ status: Number(status), media, code, helps: /"help":"./.test(text) });
    });
  });
}

/** Response of the gateway to exactly this text. */
function answerTo(request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(Number(new URL(fixture.cloud.gateway).port), '127.0.0.1', () =>
      socket.write(request),
    );
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
  });
}

test.each(['GET /v1/healthz HTTP/1.0\r\n\r\n', 'GET /v1/healthz\r\n\r\n'])(
  'a request without a host is answered, as clients before HTTP/1.1 send it: %j',
  async (request) => {
    expect(await answerTo(request)).toMatch(/^HTTP\/1\.1 200 .*"status":"ok"/s);
  },
);

test('a request of HTTP/1.1 without a host is refused with a reason', async () => {
  const answer = await answerTo('GET /v1/healthz HTTP/1.1\r\nConnection: close\r\n\r\n');
  expect(answer).toMatch(/^HTTP\/1\.1 400 .*"code":"INVALID_INPUT","field":"Host"/s);
});

/** Headers with this many bytes in total, at most 4,000 each. */
function headersOf(bytes: number): string[] {
  const headers: string[] = [];
  for (let left = bytes, i = 0; left > 0; left -= 4_000, i += 1)
    headers.push(`X-${i}: ${'x'.repeat(Math.min(4_000, left) - 8)}`);
  return headers;
}

const json = (body: string, ...more: string[]) => ({
  headers: ['Content-Type: application/json', `Content-Length: ${body.length}`, ...more],
  body,
});
const OPEN = 'GET /v1/healthz HTTP/1.1';
const GITHUB = 'POST /webhooks/github HTTP/1.1';
const SLACK = 'POST /webhooks/slack HTTP/1.1';
const START = 'POST /v1/runs HTTP/1.1';
const PROBLEM = 'application/problem+json';

const CASES: readonly (readonly [what: string, sent: Sent, status: number, code: string])[] = [
  ['headers of 13 KiB are taken', { line: OPEN, headers: headersOf(13_000) }, 200, ''],
  [
    'headers of 15 KiB are refused by the API',
    { line: OPEN, headers: headersOf(15_000) },
    431,
    'HEADERS_TOO_LARGE',
  ],
  [
    'headers of 15 KiB are refused by GitHub’s door',
    { line: GITHUB, headers: headersOf(15_000) },
    431,
    'HEADERS_TOO_LARGE',
  ],
  [
    'headers of 15 KiB are refused by Slack’s door',
    { line: SLACK, headers: headersOf(15_000) },
    431,
    'HEADERS_TOO_LARGE',
  ],
  [
    'headers just below what the server reads',
    { line: OPEN, headers: headersOf(16_200) },
    431,
    'HEADERS_TOO_LARGE',
  ],
  ['headers the server does not read', { line: OPEN, headers: headersOf(20_000) }, 431, 'HEADERS_TOO_LARGE'],
  ['headers without end', { line: OPEN, headers: headersOf(2_000_000) }, 431, 'HEADERS_TOO_LARGE'],
  [
    'one header of 9 KiB',
    { line: OPEN, headers: [`Cookie: ${'x'.repeat(9_000)}`] },
    431,
    'HEADERS_TOO_LARGE',
  ],
  [
    '120 headers',
    { line: OPEN, headers: Array.from({ length: 120 }, (_, i) => `X-${i}: 1`) },
    431,
    'HEADERS_TOO_LARGE',
  ],
  ['a path of 9,000 characters', { line: `GET /v1/runs/${'x'.repeat(9_000)} HTTP/1.1` }, 414, 'URI_TOO_LONG'],
  [
    'a query of 9,000 characters',
    { line: `GET /v1/healthz?a=${'x'.repeat(9_000)} HTTP/1.1` },
    414,
    'URI_TOO_LONG',
  ],
  [
    'a path the server does not read',
    { line: `GET /v1/${'x'.repeat(20_000)} HTTP/1.1` },
    431,
    'HEADERS_TOO_LARGE',
  ],
  ['a path that is not encoded', { line: 'GET /v1/\xe9 HTTP/1.1' }, 400, ''],
  ['no HTTP at all', { line: 'hello' }, 400, 'INVALID_INPUT'],
  ['a header without a colon', { line: OPEN, headers: ['nonsense'] }, 400, 'INVALID_INPUT'],
  [
    'two lengths',
    { line: START, headers: ['Content-Length: 1', 'Content-Length: 2'], body: 'xx' },
    400,
    'INVALID_INPUT',
  ],
  [
    'a length and chunks',
    { line: START, headers: ['Content-Length: 4', 'Transfer-Encoding: chunked'], body: '0\r\n\r\n' },
    400,
    'INVALID_INPUT',
  ],
  ['an expectation nobody has', { line: OPEN, headers: ['Expect: a miracle'] }, 417, 'INVALID_INPUT'],
  [
    'a body in an encoding nobody knows',
    { line: START, ...json('{}', 'Content-Encoding: rot13') },
    415,
    'UNSUPPORTED_MEDIA_TYPE',
  ],
  [
    'a body that is not encoded as it says',
    { line: START, ...json('{}', 'Content-Encoding: gzip') },
    415,
    'UNSUPPORTED_MEDIA_TYPE',
  ],
  [
    'a body that says it is larger than any may be',
    { line: START, headers: ['Content-Type: application/json', 'Content-Length: 99999999999'], body: '{' },
    413,
    'PAYLOAD_TOO_LARGE',
  ],
  ['a form of 2 MiB', { line: SLACK, ...json('x'.repeat(2 * 1024 * 1024)) }, 413, 'PAYLOAD_TOO_LARGE'],
];

describe.each(['gateway', 'functions'] as const)('over the %s', (door) => {
  // In the URL of the functions the first segment names the function.
  const atFunction = (line: string) =>
    line
      .replace(' /v1', ' /api/v1')
      .replace(' /webhooks/github', ' /githubWebhook')
      .replace(' /webhooks/slack', ' /slackWebhook');
  const origin = () => (door === 'gateway' ? fixture.cloud.gateway : fixture.cloud.functionsUrl);

  test.each(CASES)('%s', async (_, sent, status, code) => {
    const line = door === 'gateway' ? sent.line : atFunction(sent.line);
    const got = await raw(origin(), { ...sent, line });
    expect(got.status).toBe(status);
    if (code === '') return;
    expect(got).toEqual({ status, media: PROBLEM, code, helps: status >= 400 });
  });

  test('a body that is too deep, has too many values, or an invalid number is refused with a key, too', async () => {
    const authorization = `Authorization: Bearer ${fixture.cloud.apiKey}`;
    const line = door === 'gateway' ? START : atFunction(START);
    const start = (input: string) =>
      raw(origin(), { line, ...json(`{"type":"nightly-cleanup","input":${input}}`, authorization) });
    expect(await start(`${'['.repeat(100)}${']'.repeat(100)}`)).toMatchObject({ code: 'INVALID_INPUT' });
    expect(await start(`[${'1,'.repeat(1_000_000)}1]`)).toMatchObject({
      status: 413,
      code: 'PAYLOAD_TOO_LARGE',
    });
    expect(await start('1e400')).toMatchObject({ status: 400, code: 'INVALID_INPUT' });
    const runs = await fetch(`${fixture.cloud.gateway}/v1/runs`, {
      headers: { authorization: `Bearer ${fixture.cloud.apiKey}` },
    });
    expect(await runs.json()).toEqual({ items: [] });
  });
});
