import { expect, test } from '@jest/globals';
import { filterOf, filterText, isFiltered } from '../../../packages/console/src/pages/runs/filter/filter.ts';

test.each([
  ['', {}],
  [
    '?status=failed&type=review&repo=a%2Fb&thread=t',
    { status: 'failed', type: 'review', repoId: 'a/b', threadId: 't' },
  ],
  ['?status=nonsense&type=++', {}],
  ['?q=1&tab=x', {}],
])('the address %j filters by %j', (search, wanted) => {
  expect(filterOf(search)).toEqual({
    status: undefined,
    type: undefined,
    repoId: undefined,
    threadId: undefined,
    ...wanted,
  });
  expect(isFiltered(filterOf(search))).toBe(Object.keys(wanted).length > 0);
});

test.each([
  [{}, 'all runs'],
  [{ status: 'awaiting_approval' }, 'runs awaiting approval'],
  [{ status: 'failed', type: 'review', repoId: 'a/b' }, 'runs failed, of review, about a/b'],
] as const)('the filter %j reads %s', (filter, text) => {
  expect(filterText(filter)).toBe(text);
});
