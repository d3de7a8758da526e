import { expect, test } from '@jest/globals';
import { sitesOf, sourceMatcher } from '../../packages/local/src/gateway/rewrites.ts';

const FIREBASE_JSON = new URL('../../firebase.json', import.meta.url).pathname;
const [site = {}] = sitesOf(FIREBASE_JSON);

function headersOf(path: string): Map<string, string> {
  const rules = (site.headers ?? []).filter(({ source }) => sourceMatcher(source)(path));
  // As in Hosting, the last matching rule counts.
  return new Map(rules.flatMap((rule) => rule.headers.map(({ key, value }) => [key, value] as const)));
}

// Hosting replaces headers of a function's response with those of a rule. With `no-cache` in place of `no-store` its
// cache would keep responses of functions: https://github.com/firebase/firebase-functions/issues/932
test('Hosting leaves the headers of function responses alone', () => {
  const paths = (site.rewrites ?? []).flatMap(({ source = '', function: target }) =>
    target === undefined ? [] : [source.replace('**', 'runs'), source.replace('**', 'runs/run_1/stream')],
  );
  expect(paths).toContain('/v1/runs/run_1/stream');
  expect(paths.filter((path) => headersOf(path).size > 0)).toEqual([]);
});

test.each(['/', '/index.html', '/runs', '/runs/run_1', '/console.json', '/nothing'])(
  'Hosting serves %s with the policy, and has it revalidated each time',
  (path) => {
    const headers = headersOf(path);
    expect(headers.get('Content-Security-Policy')).toContain("default-src 'none'");
    expect(headers.get('Cache-Control')).toBe('no-cache');
  },
);

test('Hosting lets files with a hash in their name be cached', () => {
  const headers = headersOf('/assets/index-abc.js');
  expect(headers.get('Content-Security-Policy')).toContain("default-src 'none'");
  expect(headers.get('Cache-Control')).toContain('immutable');
});
