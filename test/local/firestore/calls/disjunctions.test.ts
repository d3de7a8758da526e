/** The normal form matches exactly what its filter matches, and costs no more than its size. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  checkDisjunctions,
  disjunctions,
} from '../../../../packages/local-firestore/src/model/query/disjunctions.ts';
import type { Comparison, Filter } from '../../../../packages/local-firestore/src/model/query/query.ts';

const FIELDS = ['a', 'b', 'c', 'd'];
const compare = (field: string): Comparison => ({
  kind: 'compare',
  field: [field],
  op: '==',
  value: { kind: 'boolean', value: true },
});
const { filter: anyFilter } = fc.letrec<{ filter: Filter }>((tie) => ({
  filter: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(...FIELDS).map(compare),
    fc.record({
      kind: fc.constantFrom('and' as const, 'or' as const),
      filters: fc.array(tie('filter'), { minLength: 1, maxLength: 4 }),
    }),
  ),
}));

function holds(filter: Filter, fields: ReadonlySet<string>): boolean {
  if (filter.kind === 'compare') return fields.has(filter.field[0] ?? '');
  const each = (part: Filter) => holds(part, fields);
  return filter.kind === 'and' ? filter.filters.every(each) : filter.filters.some(each);
}

test('a filter matches a value exactly if one of its conjunctions does, and no conjunction is duplicated', () => {
  fc.assert(
    fc.property(anyFilter, fc.subarray(FIELDS), (filter, fields) => {
      const given = new Set(fields);
      const conjunctions = disjunctions(filter);
      expect(conjunctions.some((all) => all.every((one) => holds(one, given)))).toBe(holds(filter, given));
      const names = conjunctions.map((all) => all.map(({ field }) => String(field)).sort());
      for (const name of names) expect(new Set(name).size).toBe(name.length);
      expect(new Set(names.map(String)).size).toBe(names.length);
    }),
  );
});

test.each([
  ['one list', []],
  ['a list and an alternative', [{ kind: 'or', filters: [compare('x'), compare('y')] } as const]],
])('each comparison is looked at once, however many there are: %s', (_what, others) => {
  let looks = 0;
  const comparisons = Array.from({ length: 90 }, (_, i) => ({
    ...compare(`f${i}`),
    get field() {
      looks++;
      return [`f${i}`];
    },
  }));
  checkDisjunctions({ kind: 'and', filters: [...comparisons, ...others] });
  // One for its expansion and one for its key.
  expect(looks).toBeLessThanOrEqual(2 * comparisons.length);
});
