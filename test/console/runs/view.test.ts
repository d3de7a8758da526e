import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  hiddenIn,
  OPTIONAL_COLUMNS,
  type OptionalColumn,
  toggledColumn,
} from '../../../packages/console/src/pages/runs/view/columns.ts';
import {
  isSameQuery,
  MAX_NAME_CHARS,
  MAX_VIEWS,
  saveVerb,
  viewsIn,
  withoutView,
  withView,
} from '../../../packages/console/src/pages/runs/view/saved-views.ts';

const failed = { name: 'failed orders', query: 'status=failed&type=order' };

test('views are sorted by name, and a view replaces another of the same name', () => {
  const one = withView([], failed) ?? [];
  const two = withView(one, { name: '  all  ', query: '' }) ?? [];
  expect(two).toEqual([{ name: 'all', query: '' }, failed]);
  expect(viewsIn(JSON.stringify(two))).toEqual(two);
  expect(withView(two, { ...failed, query: 'status=failed' })).toEqual([
    { name: 'all', query: '' },
    { name: 'failed orders', query: 'status=failed' },
  ]);
  expect(saveVerb(two, ' all ')).toBe('Replace');
  expect(saveVerb(two, 'another')).toBe('Save');
  expect(withoutView(two, 'all')).toEqual([failed]);
});

test('a view is refused without a name, and when the menu is full', () => {
  expect(withView([], { name: ' ', query: '' })).toBeUndefined();
  expect(withView([], { name: 'x'.repeat(MAX_NAME_CHARS + 1), query: '' })).toBeUndefined();
  const full = Array.from({ length: MAX_VIEWS }, (_, i) => ({ name: `view ${i}`, query: '' }));
  expect(withView(full, failed)).toBeUndefined();
  expect(withView(full, { name: 'view 3', query: 'a=b' })).toHaveLength(MAX_VIEWS);
});

test('any stored browser data is accepted, and only valid views are used', () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string(), fc.constant(null)), (text) => {
      for (const { name, query } of viewsIn(text)) {
        expect(typeof query).toBe('string');
        expect(name.length).toBeGreaterThan(0);
      }
    }),
  );
  expect(viewsIn(JSON.stringify([failed, { name: 7 }, null, { name: 'no query' }]))).toEqual([failed]);
});

test('the order of the values does not matter', () => {
  expect(isSameQuery('a=1&b=2', 'b=2&a=1')).toBe(true);
  expect(isSameQuery('a=1', 'a=2')).toBe(false);
});

test('columns are hidden and shown by the address alone', () => {
  const columns = Object.keys(OPTIONAL_COLUMNS) as OptionalColumn[];
  fc.assert(
    fc.property(fc.subarray(columns), fc.constantFrom(...columns), (hidden, column) => {
      const shown = (text: string | undefined) => hiddenIn(text === undefined ? '' : `hide=${text}`);
      const once = shown(toggledColumn(hidden, column));
      expect(once.includes(column)).toBe(!hidden.includes(column));
      expect(new Set(shown(toggledColumn(once, column)))).toEqual(new Set(hidden));
    }),
  );
  expect(hiddenIn('?hide=trigger,nothing,status')).toEqual(['trigger']);
  expect(hiddenIn('')).toEqual([]);
});
