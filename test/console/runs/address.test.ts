import { expect, test } from '@jest/globals';
import { changedQuery } from '../../../packages/console/src/shell/query-text.ts';

test.each([
  ['?a=1', { b: '2' }, 'a=1&b=2'],
  ['?a=1&b=2', { a: '3' }, 'a=3&b=2'],
  ['?a=1&b=2', { a: undefined }, 'b=2'],
  ['?a=1', { a: '' }, ''],
  ['', { q: 'a b&c=ü' }, 'q=a+b%26c%3D%C3%BC'],
  ['?a=1', {}, 'a=1'],
])('the query %j with %j changed is %j: the rest of the view stays', (search, changes, wanted) => {
  expect(changedQuery(search, changes)).toBe(wanted);
});
