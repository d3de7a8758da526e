/** Disjunctive normal form: a query is the union of conjunctions, each of which one index can serve. Pure. */
import { ByteWriter } from '../byte-writer.ts';
import { formatFieldPath } from '../field-path.ts';
import { MAX_DISJUNCTIONS } from '../limits.ts';
import { invalid } from '../status.ts';
import { isUnlisted } from '../value.ts';
import { writeValueKey } from '../value-key.ts';
import type { Comparison, Filter } from './query.ts';

export type Conjunction = readonly Comparison[];

/** Comparisons without duplicates, by key, so that each key is computed once. */
type KeyedConjunction = ReadonlyMap<string, Comparison>;
/** Conjunctions without duplicates, by the keys of their comparisons. */
type NormalForm = ReadonlyMap<string, KeyedConjunction>;

/** Most disjunctions that are counted; far above the limit of a query. */
const MOST_COUNTED = 2_000;

/** `in` becomes equalities and `array-contains-any` single memberships. Bounded by `checkDisjunctions`. */
export function disjunctions(filter: Filter | undefined): readonly Conjunction[] {
  const conjunctions = normalForm(filter, (value) => !isUnlisted(value)).values();
  return [...conjunctions].map((keyed) => [...keyed.values()]);
}

/**
 * Counts equal conjunctions once, as Google's emulator does.
 *
 * @throws INVALID_ARGUMENT
 */
export function checkDisjunctions(filter: Filter | undefined): void {
  const { size } = normalForm(filter, () => true);
  if (size > MAX_DISJUNCTIONS) throw tooMany(size);
}

function tooMany(count: number): Error {
  return invalid(
    `Too many disjunctions after normalization. Result had ${count} disjunctions which is more than the maximum of ${MAX_DISJUNCTIONS}`,
  );
}

/** @param isListed false for values of a list that are ignored */
function normalForm(
  filter: Filter | undefined,
  isListed: (value: Comparison['value']) => boolean,
): NormalForm {
  if (!filter) return one(new Map());
  if (filter.kind === 'compare') {
    const keyed = expand(filter, isListed).map((comparison) => [keyOf(comparison), comparison] as const);
    return new Map(keyed.map(([key, comparison]) => [key, new Map([[key, comparison]])]));
  }
  const parts = filter.filters.map((part) => normalForm(part, isListed));
  if (filter.kind === 'or') return new Map(parts.flatMap((part) => [...part]));
  // Fast path for most queries: a list of comparisons, without a product.
  if (parts.every(({ size }) => size === 1))
    return one(new Map(parts.flatMap((part) => [...part.values()].flatMap((keyed) => [...keyed]))));
  return parts.reduce(product, one(new Map()));
}

function one(conjunction: KeyedConjunction): NormalForm {
  return new Map([[nameOf(conjunction), conjunction]]);
}

function nameOf(conjunction: KeyedConjunction): string {
  return [...conjunction.keys()].sort().join();
}

function product(left: NormalForm, right: NormalForm): NormalForm {
  const joined = new Map<string, KeyedConjunction>();
  for (const own of left.values()) {
    for (const other of right.values()) {
      const both = new Map([...own, ...other]);
      joined.set(nameOf(both), both);
      if (joined.size > MOST_COUNTED) throw tooMany(joined.size);
    }
  }
  return joined;
}

/** The same key for comparisons that match the same values, such as 1 and 1.0. */
function keyOf({ field, op, value }: Comparison): string {
  const writer = new ByteWriter();
  writeValueKey(writer, value);
  return JSON.stringify([formatFieldPath(field), op, Buffer.from(writer.take()).toString('latin1')]);
}

function expand(
  comparison: Comparison,
  isListed: (value: Comparison['value']) => boolean,
): readonly Comparison[] {
  const { op, value, field } = comparison;
  if (value.kind !== 'array') return [comparison];
  const listed = () => value.values.filter(isListed);
  if (op === 'in') return listed().map((v) => ({ kind: 'compare', field, op: '==', value: v }));
  if (op === 'array-contains-any')
    return listed().map((v) => ({ kind: 'compare', field, op: 'array-contains', value: v }));
  return [comparison];
}
