/**
 * Turns a caller's query into a complete one: adds implied orders and checks production's rules
 * (firebase.google.com/docs/firestore/query-data/queries#limitations). Pure.
 */
import { valueSize } from '../document-size.ts';
import { type FieldPath, formatFieldPath, NAME_FIELD } from '../field-path.ts';
import {
  MAX_DISJUNCTIONS,
  MAX_INDEXED_VALUE_BYTES,
  MAX_INEQUALITY_FIELDS,
  MAX_NOT_IN_VALUES,
  MAX_QUERY_PARTS,
} from '../limits.ts';
import { parseDocument } from '../resource-name.ts';
import { invalid, shown } from '../status.ts';
import { compareUtf8 } from '../utf8.ts';
import type { Value } from '../value.ts';
import { checkDisjunctions } from './disjunctions.ts';
import type { CompareOp, Comparison, Cursor, FieldOrder, Filter, Query } from './query.ts';

type QueryRequest = Omit<Query, 'explicitOrders'>;

/** Names and most values of the operators that take a list. */
const LISTS: Partial<Record<CompareOp, readonly [string, number]>> = {
  in: ['IN', MAX_DISJUNCTIONS],
  'not-in': ['NOT_IN', MAX_NOT_IN_VALUES],
  'array-contains-any': ['ARRAY_CONTAINS_ANY', MAX_DISJUNCTIONS],
};
const INEQUALITIES: ReadonlySet<CompareOp> = new Set(['<', '<=', '>', '>=', '!=', 'not-in']);

/** @throws INVALID_ARGUMENT that names the violated rule */
export function normaliseQuery(request: QueryRequest): Query {
  const comparisons = leaves(request.filter);
  checkComparisons(comparisons, request);
  checkNameLast(request.orders);
  checkOrders(request.orders);
  const orders = impliedOrders(request.orders, comparisons);
  const query = { ...request, orders, explicitOrders: request.orders.length };
  checkCursor(query.startAt, orders, request.scope.database);
  checkCursor(query.endAt, orders, request.scope.database);
  if (query.offset < 0) throw invalid('offset is negative');
  if (query.limit !== undefined && query.limit < 0) throw invalid('limit is negative');
  return query;
}

/**
 * The query whose results are summed or averaged over `fields`. Documents without one of the fields are omitted, because the query reads
 * an index of the fields. The fields are additional orders: a limit takes the least values, and the required index ends with the fields.
 * No index has fields after the name, so a query by name must order by the fields itself.
 *
 * @throws INVALID_ARGUMENT
 */
export function orderByAggregated(query: Query, fields: readonly FieldPath[]): Query {
  if (fields.length === 0) return query;
  if (query.select) throw invalid('Cannot apply property masks when aggregation fields are present.');
  const name = query.orders.at(-1) as FieldOrder;
  const others = query.orders.slice(0, -1);
  const unordered = byName(fields).filter(
    (field, i, all) => !sameField(field, all[i - 1] ?? []) && !others.some((o) => sameField(o.field, field)),
  );
  const { parent, allDescendants } = query.scope;
  const isByName =
    query.orders.length === query.explicitOrders ||
    leaves(query.filter).some((c) => isNameField(c.field)) ||
    (allDescendants && parent.length > 0);
  if (isByName && unordered.length > 0) {
    const named = shown(unordered.map(formatFieldPath).join(', '));
    throw invalid(
      `This query requires an index that has fields [${named}] after __name__ and Firestore does not currently support such an index. ` +
        'Please try the query again with additional ordering on those fields.',
    );
  }
  const orders = [...others, ...unordered.map((field) => ({ field, descending: name.descending })), name];
  return { ...query, orders, required: fields };
}

export function leaves(filter: Filter | undefined): Comparison[] {
  if (!filter) return [];
  return filter.kind === 'compare' ? [filter] : filter.filters.flatMap(leaves);
}

export function isInequality(op: CompareOp): boolean {
  return INEQUALITIES.has(op);
}

export function isNameField(field: FieldPath): boolean {
  return field.length === 1 && field[0] === NAME_FIELD;
}

export function sameField(a: FieldPath, b: FieldPath): boolean {
  return a.length === b.length && a.every((part, i) => part === b[i]);
}

/** Explicit orders, then inequality fields by name, then `__name__`, in the direction of the last explicit order. */
function impliedOrders(explicit: readonly FieldOrder[], comparisons: readonly Comparison[]): FieldOrder[] {
  const orders = [...explicit];
  const descending = orders.at(-1)?.descending ?? false;
  const fields = comparisons.filter((c) => isInequality(c.op) && !isNameField(c.field)).map((c) => c.field);
  for (const field of byName(fields)) {
    if (!orders.some((o) => sameField(o.field, field))) orders.push({ field, descending });
  }
  if (!orders.some((o) => isNameField(o.field))) orders.push({ field: [NAME_FIELD], descending });
  checkNameLast(orders);
  return orders;
}

/** Compares segment by segment, without quotes: `a.b` before `a b`. */
function byName(fields: readonly FieldPath[]): FieldPath[] {
  return [...fields].sort(comparePaths);
}

function comparePaths(a: FieldPath, b: FieldPath): number {
  const at = a.findIndex((name, i) => name !== b[i]);
  const [own, other] = [a[at], b[at]];
  if (own === undefined) return a.length - b.length;
  return other === undefined ? 1 : compareUtf8(own, other);
}

function checkOrders(orders: readonly FieldOrder[]): void {
  orders.forEach((order, i) => {
    if (orders.findIndex((o) => sameField(o.field, order.field)) !== i) {
      throw invalid(`order by clause cannot contain duplicate fields ${formatFieldPath(order.field)}`);
    }
  });
}

/** Refuses orders after the name, even implied ones, as production does; they have no effect, because names are unique. */
function checkNameLast(orders: readonly FieldOrder[]): void {
  if (orders.slice(0, -1).some((o) => isNameField(o.field))) {
    throw invalid('order by clause cannot contain more fields after the key');
  }
}

function checkComparisons(comparisons: readonly Comparison[], request: QueryRequest): void {
  for (const comparison of comparisons) checkOperand(comparison, request);
  checkParts(comparisons, request);
  const count = (op: CompareOp) => comparisons.filter((c) => c.op === op).length;
  if (count('not-in') && (count('in') || count('array-contains-any'))) {
    throw invalid("'NOT_IN' cannot be used in the same query with 'IN', 'ARRAY_CONTAINS_ANY' or 'OR'.");
  }
  const inequalities = new Set(
    comparisons.filter((c) => isInequality(c.op)).map((c) => formatFieldPath(c.field)),
  );
  checkNameEquality(comparisons, inequalities);
  if (inequalities.size > MAX_INEQUALITY_FIELDS) {
    const named = shown([...inequalities].join(', '));
    throw invalid(
      `The query contains ${inequalities.size} distinct inequality fields: [${named}]. A query may not have more than ${MAX_INEQUALITY_FIELDS} distinct inequality fields.`,
    );
  }
  checkDisjunctions(request.filter);
  checkArrayContains(request.filter);
}

/** Each value of a list counts as a filter; implied orders do not count. */
function checkParts(comparisons: readonly Comparison[], { orders, scope }: QueryRequest): void {
  const filters = comparisons.reduce((total, c) => total + operands(c).length, 0);
  const parents = Math.min(1, scope.parent.length);
  if (filters + orders.length + parents <= MAX_QUERY_PARTS) return;
  throw invalid(
    `A query can have at most ${MAX_QUERY_PARTS} filters, orders and parents together: this one has ${filters} filters, ` +
      `${orders.length} orders and ${parents} parents.`,
  );
}

/** Production refuses an equality on the name beside inequalities, because at most one document is left to order. */
function checkNameEquality(comparisons: readonly Comparison[], inequalities: ReadonlySet<string>): void {
  const namesDocuments = ({ op, field }: Comparison) => (op === '==' || op === 'in') && isNameField(field);
  if (inequalities.size === 0 || inequalities.has(NAME_FIELD) || !comparisons.some(namesDocuments)) return;
  throw invalid(
    'Equality on key is not allowed if there are other inequality fields and key does not appear in inequalities.',
  );
}

/** At most one array-contains in each disjunction. Returns the largest number in any disjunction of `filter`. */
function checkArrayContains(filter: Filter | undefined): number {
  if (!filter) return 0;
  if (filter.kind === 'compare') return filter.op.startsWith('array-contains') ? 1 : 0;
  const counts = filter.filters.map(checkArrayContains);
  const found = filter.kind === 'or' ? Math.max(0, ...counts) : counts.reduce((a, b) => a + b, 0);
  if (found > 1) throw invalid("A maximum of 1 'ARRAY_CONTAINS' filter is allowed per disjunction.");
  return found;
}

function checkOperand(comparison: Comparison, request: QueryRequest): void {
  const { op, field } = comparison;
  const label = formatFieldPath(field);
  checkList(comparison);
  if (!isNameField(field)) {
    for (const operand of operands(comparison)) checkOperandSize(operand, label);
    return;
  }
  if (op.startsWith('array-contains')) throw invalid('the name __key__ is reserved');
  for (const operand of operands(comparison)) checkNameOperand(operand, request.scope.database);
}

function checkList({ op, value }: Comparison): void {
  const list = LISTS[op];
  if (!list) return;
  const [name, most] = list;
  if (value.kind !== 'array') throw invalid(`'${name}' requires an ArrayValue.`);
  if (value.values.length === 0) throw invalid(`'${name}' requires an non-empty ArrayValue.`);
  if (value.values.length > most) throw invalid(`'${name}' supports up to ${most} comparison values.`);
}

function checkOperandSize(operand: Value, label: string): void {
  if (valueSize(operand) > MAX_INDEXED_VALUE_BYTES)
    throw invalid(`value for ${label} is too large to be used in a query`);
}

/** The values that a filter compares with: the elements of its list, or its single value. */
function operands({ op, value }: Comparison): readonly Value[] {
  return LISTS[op] && value.kind === 'array' ? value.values : [value];
}

function checkNameOperand(value: Value, database: string): void {
  if (value.kind !== 'reference') throw invalid('__key__ filter value must be a Key');
  if (!value.value.startsWith(`${database}/documents/`)) {
    throw invalid(`__name__ filter value "${value.value}" is not a document of ${database}.`);
  }
  parseDocument(value.value);
}

function checkCursor(cursor: Cursor | undefined, orders: readonly FieldOrder[], database: string): void {
  if (!cursor) return;
  if (cursor.values.length > orders.length)
    throw invalid('A cursor has more values than the query has orders.');
  cursor.values.forEach((value, i) => {
    if (!isNameField((orders[i] as FieldOrder).field)) return;
    if (value.kind !== 'reference') throw invalid('Cursor __key__ value is not a document reference.');
    checkNameOperand(value, database);
  });
}
