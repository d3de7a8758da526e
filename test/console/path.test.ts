import { expect, test } from '@jest/globals';
import { pageOf, unescaped } from '../../packages/console/src/shell/path.ts';

test.each([
  ['/', 'runs'],
  ['/runs', 'runs'],
  ['/runs/', 'runs'],
  ['/runs/run_a', 'run'],
  ['/workflows/deploy', 'workflows'],
  ['/constructor', 'constructor'],
])('%s is the page %s', (path, page) => {
  expect(pageOf(path)).toBe(page);
});

test.each([
  ['a%20b', 'a b'],
  ['100%', '100%'],
  ['%E0%A4%A', '%E0%A4%A'],
])('%s of a path means %s', (part, meant) => {
  expect(unescaped(part)).toBe(meant);
});
