/** Priority of Hosting's rules (https://firebase.google.com/docs/hosting/full-config#hosting_priority_order). */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Gateway, startGateway } from '../../../packages/local/src/gateway/gateway.ts';
import { readRewrites, readUnserved, sourceMatcher } from '../../../packages/local/src/gateway/rewrites.ts';
import { readSite } from '../../../packages/local/src/gateway/site.ts';

let folder: string;
let gateway: Gateway | undefined;
afterEach(async () => {
  await gateway?.stop(0);
  rmSync(folder, { recursive: true, force: true });
});

/** @param files files in `public`, each containing its name */
async function siteWith(hosting: object, files: readonly string[]) {
  folder = mkdtempSync(join(tmpdir(), 'cairn-own-site-'));
  mkdirSync(join(folder, 'public/assets'), { recursive: true });
  for (const file of files) writeFileSync(join(folder, 'public', file), file);
  const firebaseJson = join(folder, 'firebase.json');
  writeFileSync(firebaseJson, JSON.stringify({ hosting: { public: 'public', ...hosting } }));
  const rewrites = readRewrites(firebaseJson);
  gateway = await startGateway({
    port: 0,
    rewrites: () => rewrites,
    now: Date.now,
    serve: (name, _request, response) => void response.end(`function ${name}`),
    site: readSite(firebaseJson),
    unserved: readUnserved(firebaseJson),
  });
  const { url } = gateway;
  return async (path: string, method = 'GET') => {
    const answer = await fetch(url + path, { method });
    return answer.ok ? answer.text() : answer.status;
  };
}

test('a function for all other paths does not hide the files of the site', async () => {
  const ask = await siteWith({ rewrites: [{ source: '**', function: 'ssr' }] }, ['assets/app.css', 'a.html']);
  expect(await ask('/assets/app.css')).toBe('assets/app.css');
  expect(await ask('/a.html')).toBe('a.html');
  for (const path of ['/', '/a', '/assets/', '/assets/missing.css'])
    expect([path, await ask(path)]).toEqual([path, 'function ssr']);
  expect(await ask('/assets/app.css', 'POST')).toBe('function ssr');
});

test('the first rewrite that matches decides, whether to a page or to a function', async () => {
  const rewrites = [
    { source: '/app/api/**', function: 'api' },
    { source: '/app/**', destination: '/app.html' },
    { source: '**', function: 'ssr' },
  ];
  const ask = await siteWith({ rewrites }, ['app.html']);
  expect(await ask('/app/api/x')).toBe('function api');
  expect(await ask('/app/x')).toBe('app.html');
  expect(await ask('/x')).toBe('function ssr');
});

test('a path of a Cloud Run service goes to no later function or page, and is answered with the reason', async () => {
  const rewrites = [
    { source: '/svc/**', run: { serviceId: 'billing' } },
    { source: '/svc/page', destination: '/app.html' },
    { source: '**', function: 'ssr' },
  ];
  const ask = await siteWith({ rewrites }, ['app.html']);
  expect([await ask('/svc/x'), await ask('/svc/page'), await ask('/x')]).toEqual([404, 404, 'function ssr']);
  const answer = await fetch(`${gateway?.url}/svc/x`);
  expect(await answer.json()).toMatchObject({
    detail:
      "firebase.json rewrites /svc/x to the Cloud Run service 'billing', which the local cloud does not serve",
    help: expect.stringContaining('Call the service at its own address'),
  });
});

test('a path that no function gets because a segment begins with a dot is answered with that reason', async () => {
  const rewrites = [
    { source: '/app/api/**', function: 'api' },
    { source: '/app/**', destination: '/app.html' },
    { source: '**', function: 'ssr' },
  ];
  const ask = await siteWith({ rewrites }, ['app.html', '404.html']);
  expect(await ask('/app/api/x')).toBe('function api');
  for (const path of ['/app/api/.x', '/app/api/a/.x/b', '/app/api/%2Ex', '/app/api/..x'])
    expect(await (await fetch(`${gateway?.url}${path}`)).json()).toMatchObject({
      status: 404,
      detail: expect.stringContaining(`${decodeURIComponent(path)} has a segment that begins with a dot`),
      help: expect.stringMatching(/^Send the request to the address of the function itself/),
    });
  for (const path of ['/.x', '/app/.x', '/other/.x'])
    expect(await (await fetch(`${gateway?.url}${path}`)).text()).toBe('404.html');
});

test('in any order of rewrites the first that matches decides', () => {
  const source = fc.constantFrom('/a/**', '/a/b', '/b', '**', '!/a/**');
  const target = fc.constantFrom(
    { function: 'one' },
    { function: { functionId: 'two' } },
    { destination: '/index.html' },
    { run: { serviceId: 'svc' } },
    { dynamicLinks: true },
  );
  const rewrite = fc.tuple(source, target).map(([from, to]) => ({ source: from, ...to }));
  folder = mkdtempSync(join(tmpdir(), 'cairn-own-site-'));
  const firebaseJson = join(folder, 'firebase.json');
  fc.assert(
    fc.property(
      fc.array(rewrite, { maxLength: 5 }),
      fc.constantFrom('/a/b', '/a/c', '/b', '/c'),
      (made, path) => {
        writeFileSync(firebaseJson, JSON.stringify({ hosting: { rewrites: made } }));
        const first = made.find((one) => sourceMatcher(one.source)(path)) ?? { destination: '/missing' };
        const wanted = 'function' in first ? first.function : undefined;
        const found = readRewrites(firebaseJson).find(({ matches }) => matches(path));
        expect(found?.functionName).toBe(typeof wanted === 'object' ? wanted.functionId : wanted);
        const isUnserved = !('function' in first || 'destination' in first);
        expect(readUnserved(firebaseJson)(path) !== undefined).toBe(isUnserved);
      },
    ),
  );
});

test('with cleanUrls pages are served without .html, before rewrites; others are not', async () => {
  const rewrites = [{ source: '/api/**', function: 'api' }];
  for (const cleanUrls of [true, false]) {
    await gateway?.stop(0);
    const ask = await siteWith({ cleanUrls, rewrites }, ['index.html', 'about.html']);
    expect(await ask('/about')).toBe(cleanUrls ? 'about.html' : 404);
    expect(await ask('/')).toBe('index.html');
  }
});

test('a rewrite to a page that is not there answers 404', async () => {
  const ask = await siteWith({ rewrites: [{ source: '**', destination: '/index.html' }] }, ['a.html']);
  expect(await ask('/x')).toBe(404);
});
