import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';

const DIST = join(import.meta.dirname, '../../packages/console/dist');
const MAX_BYTES = 350 * 1024;
/** Addresses in the bundle that are never requested: XML namespaces, links to help, an example, unused Firebase sign-in methods. */
const NEVER_ASKED = new Set([
  'http://www.w3.org',
  'https://react.dev',
  'https://reactflow.dev',
  'https://example.com',
  'https://apis.google.com',
  'https://www.google.com',
]);

const files = readdirSync(DIST, { recursive: true, encoding: 'utf8' }).filter((name) =>
  /\.(?:js|css|html|svg)$/.test(name),
);
const read = (name: string) => readFileSync(join(DIST, name));

test('the whole console, including lazy chunks, is at most 350 KB compressed', () => {
  const sizes = files.map((name) => gzipSync(read(name)).length);
  expect(sizes.length).toBeGreaterThan(5);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(MAX_BYTES);
});

test('nothing is loaded from other origins', () => {
  const html = read('index.html').toString();
  const loaded = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address);
  expect(loaded.length).toBeGreaterThan(2);
  for (const address of loaded) expect(address).toMatch(/^\/[^/]/);
  const css = files.filter((name) => name.endsWith('.css')).map((name) => read(name).toString());
  expect(css.join('\n')).not.toMatch(/@import|url\(['"]?(?:https?:)?\/\//);
});

test('the policy allows every foreign address in the bundle, except those that are never requested', () => {
  const policy = readFileSync(join(DIST, '../../../firebase.json'), 'utf8');
  const hosts = files
    .filter((name) => name.endsWith('.js'))
    .flatMap((name) =>
      [
        ...read(name)
          .toString()
          .matchAll(/https?:\/\/[\w.-]+\.[a-z]{2,}/g),
      ].map(([address]) => address),
    );
  const unknown = hosts.filter((address) => !policy.includes(address) && !NEVER_ASKED.has(address));
  expect([...new Set(unknown)]).toEqual([]);
});
