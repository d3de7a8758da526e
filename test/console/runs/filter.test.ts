import { expect, test } from '@jest/globals';
import {
  askedFilter,
  causeQuery,
  filterOf,
  filterText,
  isFiltered,
  isShown,
  rangeOf,
  spanOf,
  startOf,
  tagOrMatch,
  toggledStatus,
} from '../../../packages/console/src/pages/runs/filter/filter.ts';
import { type RunSummary, rowOf } from '../../../packages/console/src/pages/runs/row.ts';
import { summary } from './support/summaries.ts';

test.each([
  ['', {}],
  [
    '?status=failed&type=review&repo=a%2Fb&thread=t&tag=customer%3A42',
    { status: 'failed', type: 'review', repoId: 'a/b', threadId: 't', tag: 'customer:42' },
  ],
  ['?match=amount%3E100&sort=longest', { match: 'amount>100', sort: 'longest' }],
  ['?sort=nonsense', {}],
  ['?status=nonsense&type=++', {}],
  ['?status=cancelled,nonsense,failed', { status: 'failed,cancelled' }],
  ['?q=1&tab=x', {}],
])('the address %j filters by %j', (search, wanted) => {
  expect(filterOf(search)).toEqual({
    status: undefined,
    type: undefined,
    repoId: undefined,
    threadId: undefined,
    tag: undefined,
    match: undefined,
    sort: undefined,
    topLevel: true,
    ...wanted,
  });
  expect(isFiltered(filterOf(search))).toBe(Object.keys(wanted).length > 0);
});

test('child runs are hidden by default, without counting as a filter', () => {
  expect(filterOf('?children=1')).toEqual({ ...filterOf(''), topLevel: undefined });
});

test.each([
  [{}, 'runs'],
  [{ status: 'awaiting_approval' }, 'runs that are awaiting approval'],
  [{ status: 'failed,cancelled' }, 'runs that are failed or cancelled'],
  [{ since: '2026-01-31T08:00:00.000Z' }, 'runs created since 2026-01-31 08:00 UTC'],
  [
    { since: '2026-01-31T08:00:00.000Z', until: '2026-02-01T00:00:00.000Z' },
    'runs created since 2026-01-31 08:00 UTC, created before 2026-02-01 00:00 UTC',
  ],
  [{ status: 'failed', type: 'review', repoId: 'a/b' }, 'runs that are failed, of review, about a/b'],
  [{ tag: 'customer:42' }, 'runs tagged customer:42'],
  [{ match: 'amount>100', sort: 'longest' }, 'runs that match amount>100, longest first'],
] as const)('the filter %j reads %s', (filter, text) => {
  expect(filterText(filter)).toBe(text);
});

test('a status is added and removed in a fixed order', () => {
  const both = toggledStatus(toggledStatus(undefined, 'failed'), 'pending');
  expect(both).toBe('pending,failed');
  expect(toggledStatus(both, 'failed')).toBe('pending');
  expect(toggledStatus('pending', 'pending')).toBeUndefined();
});

test('a span of time in the address starts at a full minute; an unknown one is none', () => {
  const now = Date.parse('2026-01-31T08:30:59.999Z');
  expect(spanOf('?since=24h')).toBe('24h');
  expect([spanOf('?since=constructor'), spanOf('')]).toEqual([undefined, undefined]);
  expect(startOf('24h', now)).toBe('2026-01-30T08:30:00.000Z');
});

test.each([
  ['', {}],
  ['?since=24h&until=2026-01-31T08:00Z', { span: '24h' }],
  [
    '?since=2026-01-31T08:00%2B01:00&until=2026-02-01T00:00Z',
    { since: '2026-01-31T07:00:00.000Z', until: '2026-02-01T00:00:00.000Z' },
  ],
  ['?until=2026-02-01T00:00Z', { until: '2026-02-01T00:00:00.000Z' }],
  ['?since=yesterday&until=nonsense', {}],
])('the address %j lists the time of creation %j', (search, wanted) => {
  expect(rangeOf(search)).toEqual(wanted);
});

test.each([
  ['customer:42', { tag: 'customer:42' }],
  ['name:Ada Lovelace', { tag: 'name:Ada Lovelace' }],
  ['amount>100', { match: 'amount>100' }],
  ['customer:4*', { match: 'customer:4*' }],
  ['customer:', { match: 'customer:' }],
  ['ada', { match: 'ada' }],
  [undefined, {}],
])('the text %j of the field Tag filters by %j', (text, wanted) => {
  expect(tagOrMatch(text)).toEqual({ tag: undefined, match: undefined, ...wanted });
});

test('the address of a cause lists the failed runs that the statistics count for it', () => {
  const query = causeQuery({ type: 'order', code: 'STEP_FAILED', step: 'charge' });
  const filter = filterOf(`?${new URLSearchParams(query)}`);
  expect(filter).toMatchObject({
    status: 'failed',
    type: 'order',
    cause: 'STEP_FAILED:charge',
    topLevel: undefined,
  });
  expect(filterText(filter)).toBe('runs that are failed, of order, by the cause STEP_FAILED at charge');
  expect(askedFilter(filter)).not.toHaveProperty('cause');
  const row = (stepId: string, status = 'failed') =>
    rowOf(
      summary({
        status,
        error: { code: 'STEP_FAILED', message: '', stepId, retryable: false },
      } as Partial<RunSummary>),
    );
  expect(
    [row('charge'), row('charge[7]'), row('book'), row('charge', 'running')].map((one) =>
      isShown(one, filter),
    ),
  ).toEqual([true, true, false, false]);
});
