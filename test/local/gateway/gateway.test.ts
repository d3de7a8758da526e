import { mkdtempSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { PullRequestEvent } from '../../../functions/src/workflows/review-pull-request/event.ts';
import {
  CairnError,
  ERROR_CODES,
  type ErrorCode,
  toProblem,
} from '../../../packages/cairn/src/core/errors.ts';
import { type Gateway, startGateway } from '../../../packages/local/src/gateway/gateway.ts';
import { readRewrites } from '../../../packages/local/src/gateway/rewrites.ts';
import { commandsToTry, EXAMPLE_PAYLOAD, welcomePage } from '../../../packages/local/src/gateway/welcome.ts';
import { IDLE_LOOKS, LOOK_EVERY_MS } from '../../../packages/local/src/idle-gc.ts';
import { PROBLEMS, refusalOf } from '../../../packages/local-kit/src/http/problem.ts';

function rewrites(hosting: unknown) {
  const file = join(mkdtempSync(join(tmpdir(), 'cairn-gateway-')), 'firebase.json');
  writeFileSync(file, JSON.stringify({ hosting }));
  return readRewrites(file);
}

describe('rewrites of firebase.json', () => {
  const rules = rewrites({
    rewrites: [
      { source: '/v1/**', function: { functionId: 'api' } },
      { source: '/webhooks/@(github|slack)', function: 'webhook' },
      { regex: '^/r/[0-9]+$', function: 'numbers' },
      { source: '/static/**', destination: '/index.html' },
      { source: '/v1/late', function: 'never' },
      { source: '/static/api', function: 'never' },
    ],
  });
  const functionFor = (path: string) => rules.find((rule) => rule.matches(path))?.functionName;

  test.each([
    ['/v1/runs', 'api'],
    ['/v1/runs/a/events', 'api'],
    ['/v1/late', 'api'],
    ['/v1', undefined],
    ['/v10', undefined],
    ['/webhooks/github', 'webhook'],
    ['/webhooks/gitlab', undefined],
    ['/webhooks/github/x', undefined],
    ['/r/12', 'numbers'],
    ['/r/x', undefined],
    ['/static/a', undefined],
    ['/static/api', undefined],
    ['/', undefined],
  ])('%s is answered by %s', (path, name) => {
    expect(functionFor(path)).toBe(name);
  });

  test('several sites are read in order; no site means no rewrites', () => {
    const sites = [
      { rewrites: [{ source: '**', function: 'a' }] },
      { rewrites: [{ source: '**', function: 'b' }] },
    ];
    expect(rewrites(sites).map((rule) => rule.functionName)).toEqual(['a', 'b']);
    expect(rewrites(undefined)).toEqual([]);
  });
});

test('an idle port frees the memory used at start', async () => {
  const collect = jest.fn();
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
  try {
    const gateway = await startGateway({ port: 0, rewrites: () => [], now: () => 0, serve() {}, collect });
    jest.advanceTimersByTime(IDLE_LOOKS * LOOK_EVERY_MS);
    expect(collect).toHaveBeenCalledTimes(1);
    await gateway.stop(0);
  } finally {
    jest.useRealTimers();
  }
});

const NOW = Date.UTC(2030, 0, 2, 3, 4, 5);

describe('the port', () => {
  let gateway: Gateway;
  const served: string[] = [];
  beforeAll(async () => {
    gateway = await startGateway({
      port: 0,
      rewrites: () => rewrites({ rewrites: [{ source: '/v1/**', function: 'api' }] }),
      now: () => NOW,
      serve(name, request, response) {
        served.push(`${name} ${request.url} ${request.headers['x-forwarded-host']}`);
        response.end('served');
      },
      consoleJson: () => '{"local":true}',
      welcome: () => 'welcome',
    });
  });
  afterAll(() => gateway.stop(0));

  test('routes a request to the function that its path names, with the path unchanged', async () => {
    const answer = await fetch(`${gateway.url}/v1/runs%2Fa?q=1`);
    expect(await answer.text()).toBe('served');
    expect(answer.headers.get('date')).toBe('Wed, 02 Jan 2030 03:04:05 GMT');
    expect(served).toEqual([`api /v1/runs%2Fa?q=1 ${new URL(gateway.url).host}`]);
  });

  test('answers an unknown path with a problem document', async () => {
    const answer = await fetch(`${gateway.url}/nothing`);
    expect(answer.status).toBe(404);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(await answer.json()).toMatchObject({
      status: 404,
      code: 'NOT_FOUND',
      help: expect.any(String),
      detail: 'nothing is served at /nothing',
    });
  });

  test('refuses a path that cannot be decoded', async () => {
    const answer = await fetch(`${gateway.url}/%zz`);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      code: 'INVALID_INPUT',
      field: 'path',
      help: expect.any(String),
    });
  });

  test('refuses a path with unencoded bytes', async () => {
    const { port } = new URL(gateway.url);
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), '127.0.0.1', () => {
        socket.end(Buffer.from('GET /v1/\xe9 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 'latin1'));
      });
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('end', () => resolve(text));
      socket.on('error', reject);
    });
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
  });

  test('an absolute URL in the request line is served like its path, under its own host', async () => {
    const word = fc.stringMatching(/^[a-z][\w.~% -]{0,7}$/).map(encodeURIComponent);
    const path = fc
      .tuple(fc.array(word, { maxLength: 3 }), fc.option(word))
      .map(([words, query]) => `/v1/${words.join('/')}${query === null ? '' : `?${query}`}`);
    const host = fc.tuple(fc.constantFrom('a.example', '127.0.0.1', '[::1]'), fc.option(fc.nat(65_535)));
    await fc.assert(
      fc.asyncProperty(path, host, fc.constantFrom('http', 'HTTPS'), async (asked, [name, port], scheme) => {
        const authority = port === null ? name : `${name}:${port}`;
        served.length = 0;
        const head = 'Host: other\r\nConnection: close\r\n\r\n';
        expect(await sent(`GET ${scheme}://${authority}${asked} HTTP/1.1\r\n${head}`)).toMatch(/ 200 OK/);
        expect(served).toEqual([`api ${asked} ${authority}`]);
      }),
    );
    expect(await sent('GET http://h?q HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n')).toContain(
      'welcome',
    );
  });

  test('a CONNECT request gets a response before the connection is closed', async () => {
    expect(await sent('CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 400 [\s\S]*"INVALID_INPUT"/,
    );
  });

  test('the key serves only reads of pages of this address, whatever the request line says', async () => {
    const ask = (line: string, host: string) =>
      sent(`${line} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(await ask('GET /console.json', 'localhost:1')).toMatch(/"local":true/);
    expect(await ask('GET http://a.example/console.json', 'localhost')).toMatch(/ 403 /);
    for (const method of ['OPTIONS', 'POST', 'TRACE', 'DELETE'])
      expect(await ask(`${method} /console.json`, 'localhost')).toMatch(/ 404 /);
  });

  /** Everything received until the connection is closed. */
  async function sent(request: string): Promise<string> {
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    socket.write(request);
    return text(socket);
  }

  test('serves a read-only welcome page', async () => {
    expect(await (await fetch(gateway.url)).text()).toBe('welcome');
    expect((await fetch(gateway.url, { method: 'POST' })).status).toBe(404);
  });

  test('listens on loopback only', () => {
    expect(new URL(gateway.url).hostname).toBe('127.0.0.1');
  });
});

describe('the welcome', () => {
  const github = 'http://127.0.0.1:2';
  const welcome = { gateway: 'http://127.0.0.1:1', github, apiKey: 'cairn_dev_x', githubSecret: 's' };

  test('shows a signed delivery, the list of runs, and the address of the comment', () => {
    const [deliver, list, comments] = commandsToTry(welcome);
    expect(deliver).toMatch(/webhooks\/github.*x-hub-signature-256: sha256=[0-9a-f]{64}/s);
    expect(list).toContain("/v1/runs -H 'authorization: Bearer cairn_dev_x'");
    expect(comments).toBe('curl -s http://127.0.0.1:2/repos/acme/uploader/issues/7/comments');
  });

  test('shows a delivery that the shipped review workflow accepts', () => {
    expect(PullRequestEvent.safeParse(JSON.parse(EXAMPLE_PAYLOAD)).error).toBeUndefined();
    expect(EXAMPLE_PAYLOAD).not.toContain("'");
  });

  test('quotes the commands as HTML', () => {
    const page = welcomePage(welcome);
    expect(page).toContain('curl -i http://127.0.0.1:1/webhooks/github');
    expect(page).not.toMatch(/<pre>[^<]*'\{"action":"[^<]*<(?!\/pre)/);
  });
});

test('refusals of the local cloud are problem documents like those of the API', () => {
  for (const { code, title, help } of Object.values(PROBLEMS))
    expect(ERROR_CODES[code as ErrorCode]).toMatchObject({ title, help });
  expect(JSON.parse(refusalOf(400, 'why').body)).toEqual(toProblem(new CairnError('INVALID_INPUT', 'why')));
});
