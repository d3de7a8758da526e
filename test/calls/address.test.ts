import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { callUrl } from '../../packages/calls/src/address.ts';
import { HttpCall } from '../../packages/calls/src/capabilities.ts';

const reached = (base: string, path: string) => callUrl(base, path).href;

test.each([
  ['https://api.example.com', '/', 'https://api.example.com/'],
  ['https://api.example.com/', '/orders?dry=1', 'https://api.example.com/orders?dry=1'],
  ['https://api.example.com/v2', '/orders/../bills', 'https://api.example.com/v2/bills'],
  ['https://api.example.com:8443/v2/', '//host/x', 'https://api.example.com:8443/v2//host/x'],
])('%s and %s are %s', (base, path, url) => {
  expect(reached(base, path)).toBe(url);
});

test.each(['/../admin', '/..', '/%2e%2e/admin', '/a/../../admin', '/.%2E/v22'])(
  '%s leads outside the receiver',
  (path) => {
    expect(() => reached('https://api.example.com/v2', path)).toThrow('leads out of CALL_TARGET_URL');
  },
);

test.each([
  '',
  'api.example.com',
  'ftp://a.example',
  'https://a:b@c.example',
  'https://a.example?x',
  'https://a.example#b',
])('%j is not an address of a receiver, and is not shown', (base) => {
  expect(() => reached(base, '/')).toThrow('CALL_TARGET_URL must be an http or https URL');
});

describe('for any path of a caller', () => {
  const part = fc.constantFrom(
    '..',
    '.',
    '%2e%2e',
    '\\',
    '/',
    'v2',
    '@b.example',
    ':',
    '?',
    '#',
    'a',
    '//b.example',
  );
  const path = fc.array(part, { maxLength: 8 }).map((parts) => `/${parts.join('')}`);

  test('the call goes below the address, or is refused', () => {
    fc.assert(
      fc.property(path, (given) => {
        fc.pre(HttpCall.safeParse({ path: given }).success);
        let url: URL;
        try {
          url = callUrl('https://api.example.com/v2', given);
        } catch (error) {
          expect(String(error)).toContain('leads out');
          return;
        }
        expect([url.origin, url.username]).toEqual(['https://api.example.com', '']);
        expect(url.pathname).toMatch(/^\/v2\//);
      }),
    );
  });
});
