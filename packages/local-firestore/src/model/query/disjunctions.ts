/** Disjunctive normal form: a query is the union of conjunctions, each of which one index can serve. Pure. */
import { isUnlisted } from '../value.ts';
import type { Comparison, Filter } from './query.ts';

export type Conjunction = readonly Comparison[];

/** `in` becomes equalities and `array-contains-any` single memberships. Bounded by the query's own limit of 30. */
export function disjunctions(filter: Filter | undefined): readonly Conjunction[] {
  if (!filter) return [[]];
  switch (filter.kind) {
    case 'compare':
      return expand(filter).map((comparison) => [comparison]);
    case 'or':
      return filter.filters.flatMap(disjunctions);
    case 'and':
      return filter.filters
        .map(disjunctions)
        .reduce((left, right) => left.flatMap((l) => right.map((r) => [...l, ...r])), [[]]);
  }
}

function expand(comparison: Comparison): readonly Comparison[] {
  const { op, value, field } = comparison;
  if (value.kind !== 'array') return [comparison];
  const listed = value.values.filter((v) => !isUnlisted(v));
  if (op === 'in') return listed.map((v) => ({ kind: 'compare', field, op: '==', value: v }));
  if (op === 'array-contains-any') {
    return listed.map((v) => ({ kind: 'compare', field, op: 'array-contains', value: v }));
  }
  return [comparison];
}
