/** Matches a document against a query and gives its position in the query's order. Pure; needs no index. */
import { getField } from '../field-path.ts';
import { compareValues, type Fields, isNaNValue, isUnlisted, typeRank, type Value } from '../value.ts';
import { isNameField } from './normalise.ts';
import type { Comparison, Cursor, FieldOrder, Filter, Query } from './query.ts';

/** The parts of a document that queries use. */
export interface Candidate {
  readonly name: string;
  readonly fields: Fields;
}

/** The value of the field an order or filter names; the document's reference for `__name__`. */
export function fieldValue(candidate: Candidate, field: readonly string[]): Value | undefined {
  if (isNameField(field)) return { kind: 'reference', value: candidate.name };
  return getField(candidate.fields, field);
}

/** The fields of a document that decide whether it matches, and its position. */
export function fieldsRead({ filter, orders, required }: Query): Set<string> {
  const filtered = filter === undefined ? [] : fieldsOf(filter);
  const paths = [...filtered, ...orders.map(({ field }) => field), ...required];
  return new Set(paths.map(([head]) => head as string));
}

function fieldsOf(filter: Filter): (readonly string[])[] {
  return filter.kind === 'compare' ? [filter.field] : filter.filters.flatMap(fieldsOf);
}

/** Filter and existence of every ordered field. Scope, cursors, offset and limit are not checked. */
export function matches(query: Pick<Query, 'filter' | 'orders' | 'required'>, candidate: Candidate): boolean {
  for (const field of query.required) if (fieldValue(candidate, field) === undefined) return false;
  for (const order of query.orders) if (fieldValue(candidate, order.field) === undefined) return false;
  return query.filter === undefined || matchesFilter(query.filter, candidate);
}

function matchesFilter(filter: Filter, candidate: Candidate): boolean {
  if (filter.kind === 'and') return filter.filters.every((f) => matchesFilter(f, candidate));
  if (filter.kind === 'or') return filter.filters.some((f) => matchesFilter(f, candidate));
  const value = fieldValue(candidate, filter.field);
  return value !== undefined && matchesComparison(filter, value);
}

function matchesComparison(comparison: Comparison, value: Value): boolean {
  const operand = comparison.value;
  switch (comparison.op) {
    case '==':
      return compareValues(value, operand) === 0;
    case '!=':
      return value.kind !== 'null' && compareValues(value, operand) !== 0;
    case 'in':
      return !isUnlisted(value) && contains(operand, value);
    case 'not-in':
      // null means "unknown", so no value is known to differ from it.
      return value.kind !== 'null' && !contains(operand, { kind: 'null' }) && !contains(operand, value);
    case 'array-contains':
      return !isUnlisted(operand) && contains(value, operand);
    case 'array-contains-any':
      return operand.kind === 'array' && operand.values.some((v) => !isUnlisted(v) && contains(value, v));
    default:
      if (typeRank(value) !== typeRank(operand) || isNaNValue(value) || isNaNValue(operand)) return false;
      return isOrdered(comparison.op, compareValues(value, operand));
  }
}

function isOrdered(op: '<' | '<=' | '>' | '>=', order: number): boolean {
  switch (op) {
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
  }
}

function contains(list: Value, value: Value): boolean {
  return list.kind === 'array' && list.values.some((v) => compareValues(v, value) === 0);
}

/** The query's order, for documents that have every ordered field. */
export function compareCandidates(orders: readonly FieldOrder[], a: Candidate, b: Candidate): number {
  for (const { field, descending } of orders) {
    const order = compareValues(fieldValue(a, field) as Value, fieldValue(b, field) as Value);
    if (order !== 0) return descending ? -order : order;
  }
  return 0;
}

/** True if the document is between the query's cursors. */
export function withinCursors(query: Query, candidate: Candidate): boolean {
  if (query.startAt) {
    const position = positionOf(query.startAt, query.orders, candidate);
    if (query.startAt.before ? position < 0 : position <= 0) return false;
  }
  if (query.endAt) {
    const position = positionOf(query.endAt, query.orders, candidate);
    if (query.endAt.before ? position >= 0 : position > 0) return false;
  }
  return true;
}

/** Negative when the document comes before the cursor's values, zero when it equals them. */
function positionOf(cursor: Cursor, orders: readonly FieldOrder[], candidate: Candidate): number {
  for (let i = 0; i < cursor.values.length; i++) {
    const { field, descending } = orders[i] as FieldOrder;
    const order = compareValues(fieldValue(candidate, field) as Value, cursor.values[i] as Value);
    if (order !== 0) return descending ? -order : order;
  }
  return 0;
}
