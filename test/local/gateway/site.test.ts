import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Gateway, startGateway } from '../../../packages/local/src/gateway/gateway.ts';
import { readSite } from '../../../packages/local/src/gateway/site.ts';

const HOSTING = {
  public: 'site/dist',
  rewrites: [
    { source: '/v1/**', function: 'api' },
    { source: '/', destination: '/index.html' },
    { source: '/runs', destination: '/index.html' },
    { source: '/runs/**', destination: '/index.html' },
  ],
  headers: [
    {
      source: '!/@(v1|webhooks)/**',
      headers: [
        { key: 'Content-Security-Policy', value: "default-src 'none'" },
        { key: 'Cache-Control', value: 'no-cache' },
      ],
    },
    { source: '/assets/**', headers: [{ key: 'Cache-Control', value: 'immutable' }] },
  ],
};
const SECRET = 'not for the site';

let folder: string;
let gateway: Gateway;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-site-'));
  mkdirSync(join(folder, 'site/dist/assets'), { recursive: true });
  mkdirSync(join(folder, 'site/dist-old'));
  const files = {
    'firebase.json': JSON.stringify({ hosting: HOSTING, note: SECRET }),
    'package.json': SECRET,
    'site/dist-old/index.html': SECRET,
    'site/dist/.built-of': SECRET,
    'site/dist/index.html': '<title>the page</title>',
    'site/dist/assets/app.js': 'export {};',
    'site/dist/console.json': SECRET,
  };
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
  gateway = await startGateway({
    port: 0,
    rewrites: () => [],
    now: Date.now,
    serve: () => {},
    site: readSite(join(folder, 'firebase.json')),
    consoleJson: () => '{"local":true,"apiKey":"cairn_dev_x"}',
    welcome: () => 'welcome',
  });
});
afterAll(async () => {
  await gateway?.stop(0);
  rmSync(folder, { recursive: true, force: true });
});

interface Answer {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Sends the path unchanged, while `fetch` would resolve `..`. */
function ask(path: string, { method = 'GET', headers = {} } = {}): Promise<Answer> {
  const { hostname, port } = new URL(gateway.url);
  return new Promise((resolve, reject) => {
    request({ hostname, port, path, method, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      answer.on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, text }));
    })
      .on('error', reject)
      .end();
  });
}

describe('the site', () => {
  test.each(['/', '/runs', '/runs/run_1', '/runs/a/b?tab=journal', '/index.html'])(
    'shows the page at %s',
    async (path) => {
      const { status, headers, text } = await ask(path);
      expect({ status, text }).toEqual({ status: 200, text: '<title>the page</title>' });
      expect(headers['content-type']).toMatch(/^text\/html; ?charset=utf-8$/);
      expect(headers['content-security-policy']).toBe("default-src 'none'");
      expect(headers['cache-control']).toBe('no-cache');
    },
  );

  test('serves a file with the last matching header', async () => {
    const { status, headers, text } = await ask('/assets/app.js?v=1');
    expect({ status, text }).toEqual({ status: 200, text: 'export {};' });
    expect(headers['content-type']).toMatch(/javascript/);
    expect(headers['cache-control']).toBe('immutable');
    expect(headers['content-security-policy']).toBe("default-src 'none'");
  });

  test.each(['/', '/runs/run_1', '/assets/app.js'])('answers HEAD for %s without content', async (path) => {
    const { status, headers, text } = await ask(path, { method: 'HEAD' });
    expect({ status, text }).toEqual({ status: 200, text: '' });
    expect(headers['content-security-policy']).toBe("default-src 'none'");
  });

  test.each(['/nothing', '/runs.html', '/assets', '/assets/', '/assets/nothing.js', '/runs/.hidden', '/%00'])(
    'has nothing at %s',
    async (path) => {
      const { status, headers, text } = await ask(path);
      expect(status).toBe(404);
      expect(headers['content-type']).toBe('application/problem+json');
      expect(JSON.parse(text)).toMatchObject({ status: 404 });
    },
  );

  test('answers an unknown path with its own 404 page, if it has one', async () => {
    const page = join(folder, 'site/dist/404.html');
    writeFileSync(page, '<title>nothing is here</title>');
    const [read, head, sent] = await Promise.all([
      ask('/nothing'),
      ask('/runs.html', { method: 'HEAD' }),
      ask('/nothing', { method: 'POST' }),
    ]);
    rmSync(page);
    expect(read).toMatchObject({ status: 404, text: '<title>nothing is here</title>' });
    expect(read.headers['content-security-policy']).toBe("default-src 'none'");
    expect(head).toMatchObject({ status: 404, text: '' });
    expect(sent.headers['content-type']).toBe('application/problem+json');
  });

  test.each(['POST', 'PUT', 'DELETE'])('is read-only: %s finds nothing', async (method) => {
    const answers = await Promise.all(['/', '/runs', '/assets/app.js'].map((path) => ask(path, { method })));
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
  });

  test.each([
    '/..%2f..%2fpackage.json',
    '/../../package.json',
    '/assets/../../firebase.json',
    '/assets/../../../firebase.json',
    '/assets/..%2f..%2f..%2ffirebase.json',
    '/..%2fdist-old/index.html',
    '/../dist-old/index.html',
    '/%2e%2e/%2e%2e/package.json',
    '/..%5c..%5cpackage.json',
    '//etc/passwd',
    '/.built-of',
    '/runs/..%2f..%2f..%2fpackage.json',
    '/runs/../../../package.json',
  ])('serves nothing outside its folder: %s', async (path) => {
    const { status, text } = await ask(path);
    expect(status).toBe(404);
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain('root:');
  });

  test('does not exist before its build, or if no folder is named', () => {
    const other = mkdtempSync(join(folder, 'other-'));
    const at = (hosting: object) => {
      writeFileSync(join(other, 'firebase.json'), JSON.stringify({ hosting }));
      return readSite(join(other, 'firebase.json'));
    };
    expect(at({ public: 'dist' })).toBeUndefined();
    expect(at({})).toBeUndefined();
  });
});

describe('details that only this machine gets', () => {
  const own = '{"local":true,"apiKey":"cairn_dev_x"}';

  test.each([
    ['a page of its own', { 'sec-fetch-site': 'same-origin' }],
    ['who types the address', { 'sec-fetch-site': 'none' }],
    ['a program', {}],
    ['one that calls it localhost', { host: 'localhost:4000' }],
  ])('is told to %s, and kept nowhere', async (_, headers) => {
    const { status, headers: response, text } = await ask('/console.json', { headers });
    expect({ status, text }).toEqual({ status: 200, text: own });
    expect(response['cache-control']).toBe('no-store');
    expect(response['access-control-allow-origin']).toBeUndefined();
  });

  test.each([
    ['another origin', { 'sec-fetch-site': 'cross-site' }],
    ['another port of this machine', { 'sec-fetch-site': 'same-site' }],
    ['a name that was made to lead here', { host: 'evil.example' }],
    ['a name that only begins as this machine', { host: '127.0.0.1.evil.example' }],
    ['a name that only ends as this machine', { host: 'evil.example@127.0.0.1' }],
  ])('is not told to a page of %s', async (_, headers) => {
    const { status, text } = await ask('/console.json', { headers });
    expect(status).toBe(403);
    expect(text).not.toContain('cairn_dev_x');
  });
});
