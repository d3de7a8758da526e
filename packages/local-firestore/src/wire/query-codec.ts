/** Converts `google.firestore.v1.StructuredQuery` to the model's query. */
import { type FieldPath, formatFieldPath, NAME_FIELD, parseFieldPath } from '../model/field-path.ts';
import { isNameField, leaves, normaliseQuery } from '../model/query/normalise.ts';
import type { CompareOp, Cursor, FieldOrder, Filter, Query } from '../model/query/query.ts';
import { checkCollectionId, parseParent } from '../model/resource-name.ts';
import { Code, invalid, StatusError, unimplemented } from '../model/status.ts';
import { isNaNValue, NULL, type Value } from '../model/value.ts';
import type { WireNearest } from './search-codec.ts';
import { decodeOperand } from './value-decoder.ts';

interface WireField {
  readonly fieldPath?: string | null;
}

interface WireFilter {
  readonly filterType?: 'compositeFilter' | 'fieldFilter' | 'unaryFilter';
  readonly compositeFilter?: { readonly op?: number; readonly filters?: readonly WireFilter[] | null } | null;
  readonly fieldFilter?: {
    readonly field?: WireField | null;
    readonly op?: number;
    readonly value?: Uint8Array | null;
  } | null;
  readonly unaryFilter?: { readonly op?: number; readonly field?: WireField | null } | null;
}

interface WireCursor {
  readonly values?: readonly Uint8Array[] | null;
  readonly before?: boolean | null;
}

export interface WireQuery {
  readonly select?: { readonly fields?: readonly WireField[] | null } | null;
  readonly from?: readonly { collectionId?: string | null; allDescendants?: boolean | null }[] | null;
  readonly where?: WireFilter | null;
  readonly orderBy?: readonly { readonly field?: WireField | null; readonly direction?: number }[] | null;
  readonly startAt?: WireCursor | null;
  readonly endAt?: WireCursor | null;
  readonly offset?: number | null;
  readonly limit?: { readonly value?: number | null } | null;
  readonly findNearest?: WireNearest | null;
}

const FIELD_OPS: Record<number, CompareOp> = {
  1: '<',
  2: '<=',
  3: '>',
  4: '>=',
  5: '==',
  6: '!=',
  7: 'array-contains',
  8: 'in',
  9: 'array-contains-any',
  10: 'not-in',
};
const NEGATED_FIELD_OPS: ReadonlySet<number> = new Set([6, 10]);
/** IS_NOT_NAN and IS_NOT_NULL. */
const NEGATED_UNARY_OPS: ReadonlySet<number> = new Set([4, 5]);
const NAN = { kind: 'double', value: Number.NaN } as const;
const DESCENDING = 2;
/** Operators that compare a whole field with one value. */
const SINGLE_VALUE_OPS: ReadonlySet<CompareOp> = new Set(['==', '!=', '<', '<=', '>', '>=']);
const NOTHING: Filter = { kind: 'or', filters: [] };

/** Refuses vector searches, which only RunQuery supports (`search-codec.ts`). */
export function decodeQuery(parent: string, wire: WireQuery): Query {
  const { database, segments } = parseParent(parent);
  if (wire.findNearest) throw unimplemented('Only RunQuery supports vector search (findNearest).');
  if ((wire.from?.length ?? 0) > 1)
    throw invalid('StructuredQuery.from cannot have more than one collection selector.');
  const from = wire.from?.[0];
  const collectionId = from?.collectionId || undefined;
  if (collectionId !== undefined) {
    checkCollectionId(collectionId);
  }
  const orders = (wire.orderBy ?? []).map(
    (o): FieldOrder => ({ field: path(o.field), descending: isDescending(o.direction ?? 0) }),
  );
  const filter = wire.where ? decodeFilter(wire.where) : undefined;
  checkNegations(wire.where);
  if (collectionId === undefined) checkEveryCollection(orders, filter);
  else if (from?.allDescendants && segments.length > 0) checkGroupBelow(orders, wire.where);
  return normaliseQuery({
    scope: { database, parent: segments, collectionId, allDescendants: from?.allDescendants ?? false },
    filter,
    orders,
    startAt: decodeCursor(wire.startAt, orders),
    endAt: decodeCursor(wire.endAt, orders),
    offset: wire.offset ?? 0,
    limit: wire.limit ? (wire.limit.value ?? 0) : undefined,
    required: [],
    select: wire.select ? decodeSelect(wire.select.fields ?? []) : undefined,
  });
}

/** Production queries all collections at once only by document name. */
function checkEveryCollection(orders: readonly FieldOrder[], filter: Filter | undefined): void {
  const other = leaves(filter).find((c) => !isNameField(c.field));
  if (other) throw invalid(`kind is required for filter: ${formatFieldPath(other.field)}`);
  if (orders.some((o) => !isNameField(o.field) || o.descending)) {
    throw invalid('kind is required for all orders except __key__ ascending');
  }
}

/** Collection group indexes cover the whole database, so below a document only the name list can be used. */
function checkGroupBelow(orders: readonly FieldOrder[], where: WireFilter | null | undefined): void {
  const fields = [...fieldsOf(where), ...orders.map(({ field }) => field)];
  if (!fields.every(isNameField))
    throw invalid('collection group queries are only allowed at the root parent');
  if (orders.some((o) => o.descending)) {
    throw new StatusError(
      Code.FAILED_PRECONDITION,
      "collection group queries are only allowed if they're at the root or they're an ascending primary key scan",
    );
  }
}

/** Fields of all comparisons, including those that the decoder drops. */
function fieldsOf(where: WireFilter | null | undefined): readonly FieldPath[] {
  if (!where) return [];
  const { compositeFilter, fieldFilter, unaryFilter } = where;
  const own = fieldFilter ?? unaryFilter;
  return [...(own ? [path(own.field)] : []), ...(compositeFilter?.filters ?? []).flatMap(fieldsOf)];
}

/** Includes negations that the decoder drops. */
function checkNegations(where: WireFilter | null | undefined): void {
  if (where && countNegations(where) > 1) {
    throw invalid(
      "Only a single 'NOT_EQUAL', 'NOT_IN', 'IS_NOT_NAN', or 'IS_NOT_NULL' filter allowed per query.",
    );
  }
}

function countNegations({ compositeFilter, fieldFilter, unaryFilter }: WireFilter): number {
  const parts = compositeFilter?.filters ?? [];
  const isNegated =
    NEGATED_FIELD_OPS.has(fieldFilter?.op ?? 0) || NEGATED_UNARY_OPS.has(unaryFilter?.op ?? 0);
  return parts.reduce((total, part) => total + countNegations(part), isNegated ? 1 : 0);
}

function isDescending(direction: number): boolean {
  if (direction > DESCENDING || direction < 0) throw invalid(`Unknown direction ${direction} of an order.`);
  return direction === DESCENDING;
}

/** A projection of only the name is `__name__` or an empty list. */
function decodeSelect(fields: readonly WireField[]): FieldPath[] {
  return fields.map(path).filter((p) => !(p.length === 1 && p[0] === NAME_FIELD));
}

function path(field: WireField | null | undefined): FieldPath {
  return parseFieldPath(field?.fieldPath ?? '');
}

/** Implied orders take no cursor value; clients that need one make the order explicit. */
function decodeCursor(
  cursor: WireCursor | null | undefined,
  explicit: readonly FieldOrder[],
): Cursor | undefined {
  if (!cursor) return undefined;
  if ((cursor.values?.length ?? 0) > explicit.length) throw invalid('Cursor has too many values.');
  return { values: (cursor.values ?? []).map(decodeOperand), before: cursor.before ?? false };
}

function decodeFilter(wire: WireFilter): Filter {
  switch (wire.filterType) {
    case 'compositeFilter': {
      const filters = (wire.compositeFilter?.filters ?? []).map(decodeFilter);
      const op = wire.compositeFilter?.op;
      if (op !== 1 && op !== 2) throw invalid('Unsupported CompositeFilter operator.');
      if (op === 2 && filters.length === 0)
        throw invalid('Composite filter must have at least one sub-filter.');
      return { kind: op === 1 ? 'and' : 'or', filters };
    }
    case 'fieldFilter': {
      const op = FIELD_OPS[wire.fieldFilter?.op ?? 0];
      if (!op) throw invalid('Unknown FieldFilter operator.');
      if (!wire.fieldFilter?.value) throw invalid('Cannot convert firestore.v1.Value with type unset.');
      return decodeComparison(path(wire.fieldFilter.field), op, decodeOperand(wire.fieldFilter.value));
    }
    case 'unaryFilter':
      return decodeUnary(wire.unaryFilter?.op ?? 0, path(wire.unaryFilter?.field));
    default:
      throw invalid('Unknown Filter type.');
  }
}

/**
 * Only unary filters find null and NaN. As comparison values, which no official client sends, null is neither equal nor unequal to any
 * value, and NaN is unequal to every value, as in production. No value is less or greater than either.
 */
function decodeComparison(field: FieldPath, op: CompareOp, value: Value): Filter {
  if (isNameField(field) || !SINGLE_VALUE_OPS.has(op)) return { kind: 'compare', field, op, value };
  if (value.kind === 'null') return NOTHING;
  if (isNaNValue(value) && op !== '!=') return NOTHING;
  if (isNaNValue(value)) return { kind: 'compare', field, op, value: NULL };
  return { kind: 'compare', field, op, value };
}

function decodeUnary(op: number, field: FieldPath): Filter {
  switch (op) {
    case 2:
      return { kind: 'compare', field, op: '==', value: NAN };
    case 3:
      return { kind: 'compare', field, op: '==', value: NULL };
    case 4:
      return { kind: 'compare', field, op: '!=', value: NAN };
    case 5:
      return { kind: 'compare', field, op: '!=', value: NULL };
    default:
      throw invalid('Unknown UnaryFilter operator.');
  }
}
