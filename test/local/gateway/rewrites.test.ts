import { posix } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sourceMatcher } from '../../../packages/local/src/gateway/rewrites.ts';

const segment = fc.constantFrom(
  'v1',
  'runs',
  'a',
  'a.b',
  'a_b',
  '.',
  '..',
  '.well-known',
  '',
  'a b',
  'é',
  '**',
  '*',
  '~x',
  '-',
  '@1',
);
const path = fc.array(segment, { maxLength: 4 }).map((segments) => `/${segments.join('/')}`);
const source = fc
  .tuple(path, fc.constantFrom('', '/', '/**', '/*', '/*.js', '/**/*.@(js|css)'))
  .map(([place, end]) => place + end);

describe('the source of a Hosting rule', () => {
  test.each([
    ['/v1/**', '/v1/runs', true],
    ['/v1/**', '/v1/runs/a/b', true],
    ['/v1/**', '/v10/runs', false],
    ['/webhooks/github', '/webhooks/github', true],
    ['/webhooks/github', '/webhooks/githubs', false],
    ['!/v1/**', '/v1/runs', false],
    ['!/v1/**', '/index.html', true],
    ['**', '/anything/at/all', true],
  ])('%s and %s: %s', (rule, asked, matches) => {
    expect(sourceMatcher(rule)(asked)).toBe(matches);
  });

  test('matches what the glob matches', () => {
    fc.assert(
      fc.property(source, path, (rule, asked) => {
        expect(sourceMatcher(rule)(asked)).toBe(posix.matchesGlob(asked, rule));
        expect(sourceMatcher(`!${rule}`)(asked)).toBe(!posix.matchesGlob(asked, rule));
      }),
      {
        numRuns: 2_000,
        examples: [
          ['/v1/**', '/v1'],
          ['/v1/**', '/v1/'],
          ['/v1/**', '/v1/.x'],
          ['/v1', '/v1/'],
          ['/a/./b', '/a/b'],
        ],
      },
    );
  });
});
