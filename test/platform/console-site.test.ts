import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { cairnFunctions } from 'cairn/functions';
import { consoleFolder, isOfConsole } from '../../packages/cairn/src/platform/console/location.ts';
import { consoleSite } from '../../packages/cairn/src/platform/console/site.ts';
import type { FunctionHandler } from '../../packages/local/src/host/function-spec.ts';
import { functionsServer } from '../../packages/local/src/host/functions-server.ts';

const SCRIPT = `// ${'x'.repeat(2_000)}\n`;

let folder: string;
let site: ReturnType<typeof consoleSite>;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-console-'));
  mkdirSync(join(folder, 'dist/assets'), { recursive: true });
  const hosting = readFileSync(join(import.meta.dirname, '../../packages/console/hosting.json'), 'utf8');
  const files = {
    'hosting.json': hosting,
    'secret.txt': 'not of the site',
    'dist/index.html': '<title>the console</title>',
    'dist/404.html': '<title>not here</title>',
    'dist/.built-of': 'not of the site',
    'dist/console.json': '{"local":false}',
    'dist/assets/app.js': SCRIPT,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  site = consoleSite(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  site(new Request(`http://functions.invalid${path}`, { method, headers }));

describe('the console served by the function api', () => {
  test.each([
    '/',
    '/runs',
    '/runs/run_a',
    '/inbox',
    '/workflows/order',
    '/schedules',
    '/health',
    '/runs?status=failed',
  ])('%s is answered with its page', async (path) => {
    const answer = await get(path);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(await answer.text()).toContain('the console');
  });

  test.each([
    '/nowhere',
    '/.built-of',
    '/../secret.txt',
    '/%2e%2e/secret.txt',
    '/assets/',
    '/__/firebase/init.json',
    '//',
  ])('%s is not found', async (path) => {
    const answer = await get(path);
    expect(answer.status).toBe(404);
    expect(await answer.text()).toContain('not here');
  });

  test('has the headers of Hosting: pages are revalidated, files with a hash in their name are cached', async () => {
    for (const path of ['/', '/nowhere', '/assets/app.js']) {
      const { headers } = await get(path);
      expect(headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; script-src 'self';.*frame-ancestors 'none'/,
      );
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('strict-transport-security')).toMatch(/^max-age=31556926/);
      expect(headers.get('cache-control')).toBe(
        path === '/assets/app.js' ? 'public, max-age=31536000, immutable' : 'no-cache',
      );
    }
  });

  test('a cached page is not sent again, and a script is sent compressed to clients that accept it', async () => {
    const etag = (await get('/')).headers.get('etag') ?? '';
    const again = await get('/', { 'if-none-match': etag });
    expect([again.status, await again.text()]).toEqual([304, '']);
    const plain = await get('/assets/app.js');
    expect([plain.headers.get('content-encoding'), await plain.text()]).toEqual([null, SCRIPT]);
    const small = await get('/assets/app.js', { 'accept-encoding': 'gzip, br' });
    expect(small.headers.get('content-encoding')).toBe('gzip');
    expect(gunzipSync(Buffer.from(await small.arrayBuffer())).toString()).toBe(SCRIPT);
  });

  test('a compressed script has a validator of its own', async () => {
    const of = async (headers: Record<string, string>) =>
      (await get('/assets/app.js', headers)).headers.get('etag') ?? '';
    const plain = await of({});
    const small = await of({ 'accept-encoding': 'gzip' });
    expect(small).not.toBe(plain);
    const status = async (etag: string, accepted: string) =>
      (await get('/assets/app.js', { 'if-none-match': etag, 'accept-encoding': accepted })).status;
    expect(await status(small, 'gzip')).toBe(304);
    expect(await status(plain, 'gzip')).toBe(200);
    expect(await status(plain, 'gzip;q=0')).toBe(304);
  });

  test.each([
    ['weakened by a proxy', (etag: string) => `W/${etag}`, 304],
    ['among others', (etag: string) => `"other", ${etag}`, 304],
    ['any', () => '*', 304],
    ['another', () => '"other"', 200],
  ])('a request that names %s as known is answered accordingly', async (_, known, status) => {
    const etag = (await get('/')).headers.get('etag') ?? '';
    expect((await get('/', { 'if-none-match': known(etag) })).status).toBe(status);
  });

  test('is read-only', async () => {
    const answer = await get('/', {}, 'POST');
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});

test.each([
  ['/v1', false],
  ['/v1/runs', false],
  ['//v1/runs', false],
  ['/v1?x', false],
  ['/', true],
  ['/v10', true],
  ['/runs/v1', true],
  ['/?path=/v1', true],
])('%s belongs to the console: %s', (url, is) => {
  expect(isOfConsole(url)).toBe(is);
});

describe('cairnFunctions({ console: true })', () => {
  let server: Server;
  const on = (options: { readonly console?: boolean }) =>
    cairnFunctions({ workflows: [], database: 'runs', collectionPrefix: 'gwi_', ...options })
      .api as unknown as FunctionHandler;

  beforeAll(async () => {
    // A workspace without a build has no console; `npm test` builds it.
    expect(consoleFolder()).toMatch(/packages\/console\/$/);
    server = functionsServer(new Map([['with', on({ console: true })]]), Date.now);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  test('serves the built console beside the API, with files that its page names', async () => {
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/with`;
    const page = await fetch(`${base}/runs`);
    expect(page.status).toBe(200);
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(await page.text())?.[1];
    const file = await fetch(`${base}${script}`);
    expect([file.status, file.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8']);
  });
});
