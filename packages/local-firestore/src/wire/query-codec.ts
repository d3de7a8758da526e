/** `google.firestore.v1.StructuredQuery` to the model's query. */
import { type FieldPath, NAME_FIELD, parseFieldPath } from '../model/field-path.ts';
import { normaliseQuery } from '../model/query/normalise.ts';
import type { CompareOp, Cursor, FieldOrder, Filter, Query } from '../model/query/query.ts';
import { checkCollectionId, parseParent } from '../model/resource-name.ts';
import { invalid, unimplemented } from '../model/status.ts';
import { NULL } from '../model/value.ts';
import type { WireNearest } from './search-codec.ts';
import { decodeOperand } from './value-decoder.ts';

interface WireField {
  readonly fieldPath?: string | null;
}

export interface WireFilter {
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
const NAN = { kind: 'double', value: Number.NaN } as const;
const DESCENDING = 2;

/** A search for the nearest vectors is `search-codec.ts`'s, and only RunQuery's. */
export function decodeQuery(parent: string, wire: WireQuery): Query {
  const { database, segments } = parseParent(parent);
  if (wire.findNearest) throw unimplemented('Only RunQuery supports vector search (findNearest).');
  if ((wire.from?.length ?? 0) !== 1) throw invalid('A query must have exactly one "from" clause.');
  const from = wire.from?.[0];
  const collectionId = from?.collectionId || undefined;
  if (collectionId !== undefined) checkCollectionId(collectionId);
  else if (!from?.allDescendants)
    throw invalid('A query needs a collection id unless it asks for all descendants.');
  return normaliseQuery({
    scope: { database, parent: segments, collectionId, allDescendants: from?.allDescendants ?? false },
    filter: wire.where ? decodeFilter(wire.where) : undefined,
    orders: (wire.orderBy ?? []).map(
      (o): FieldOrder => ({ field: path(o.field), descending: isDescending(o.direction ?? 0) }),
    ),
    startAt: decodeCursor(wire.startAt),
    endAt: decodeCursor(wire.endAt),
    offset: wire.offset ?? 0,
    limit: wire.limit ? (wire.limit.value ?? 0) : undefined,
    required: [],
    select: wire.select ? decodeSelect(wire.select.fields ?? []) : undefined,
  });
}

function isDescending(direction: number): boolean {
  if (direction > DESCENDING || direction < 0) throw invalid(`Unknown direction ${direction} of an order.`);
  return direction === DESCENDING;
}

/** A projection of nothing but the name is written as `__name__` alone. */
function decodeSelect(fields: readonly WireField[]): FieldPath[] | undefined {
  if (fields.length === 0) return undefined;
  return fields.map(path).filter((p) => !(p.length === 1 && p[0] === NAME_FIELD));
}

function path(field: WireField | null | undefined): FieldPath {
  return parseFieldPath(field?.fieldPath ?? '');
}

function decodeCursor(cursor: WireCursor | null | undefined): Cursor | undefined {
  if (!cursor) return undefined;
  return { values: (cursor.values ?? []).map(decodeOperand), before: cursor.before ?? false };
}

function decodeFilter(wire: WireFilter): Filter {
  switch (wire.filterType) {
    case 'compositeFilter': {
      const filters = (wire.compositeFilter?.filters ?? []).map(decodeFilter);
      const op = wire.compositeFilter?.op;
      if (op !== 1 && op !== 2) throw invalid('A composite filter needs the operator AND or OR.');
      if (filters.length === 0) throw invalid('A composite filter needs at least one filter.');
      return { kind: op === 1 ? 'and' : 'or', filters };
    }
    case 'fieldFilter': {
      const op = FIELD_OPS[wire.fieldFilter?.op ?? 0];
      if (!op) throw invalid(`Unknown filter operator ${wire.fieldFilter?.op}.`);
      if (!wire.fieldFilter?.value) throw invalid('A field filter needs a value.');
      const value = decodeOperand(wire.fieldFilter.value);
      return { kind: 'compare', field: path(wire.fieldFilter.field), op, value };
    }
    case 'unaryFilter':
      return decodeUnary(wire.unaryFilter?.op ?? 0, path(wire.unaryFilter?.field));
    default:
      throw invalid('A filter has no type set.');
  }
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
      throw invalid(`Unknown unary operator ${op}.`);
  }
}
