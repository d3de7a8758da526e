/**
 * Firestore values and their two relations: the total order across types that queries and indexes use, and the
 * strict equality that decides whether a write changed anything. Pure.
 */
import { compareUtf8 } from './utf8.ts';

export type Value =
  | { readonly kind: 'null' }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'integer'; readonly value: bigint }
  | { readonly kind: 'double'; readonly value: number }
  | { readonly kind: 'timestamp'; readonly seconds: number; readonly nanos: number }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'bytes'; readonly value: Uint8Array }
  | { readonly kind: 'reference'; readonly value: string }
  | { readonly kind: 'geo'; readonly latitude: number; readonly longitude: number }
  | { readonly kind: 'array'; readonly values: readonly Value[] }
  | { readonly kind: 'map'; readonly fields: Fields };

export type Fields = ReadonlyMap<string, Value>;

export const NULL: Value = { kind: 'null' };

/** Rank of a value's type in the order across types (firebase.google.com/docs/firestore/manage-data/data-types). */
export function typeRank(value: Value): number {
  switch (value.kind) {
    case 'null':
      return 0;
    case 'boolean':
      return 1;
    case 'integer':
    case 'double':
      return 2;
    case 'timestamp':
      return 3;
    case 'string':
      return 4;
    case 'bytes':
      return 5;
    case 'reference':
      return 6;
    case 'geo':
      return 7;
    case 'array':
      return 8;
    case 'map':
      return vectorOf(value.fields) ? 9 : 10;
  }
}

/** The elements of a vector: a map that carries the reserved type mark. Undefined for an ordinary map. */
export function vectorOf(fields: Fields): readonly Value[] | undefined {
  const mark = fields.get('__type__');
  if (mark?.kind !== 'string' || mark.value !== '__vector__') return undefined;
  const elements = fields.get('value');
  return elements?.kind === 'array' ? elements.values : undefined;
}

/** The members of a map, which field paths can address. Undefined for other values, including vectors, which are stored as maps. */
export function membersOf(value: Value | undefined): Fields | undefined {
  return value?.kind === 'map' && !vectorOf(value.fields) ? value.fields : undefined;
}

/** The total order. Integers and doubles compare by number; NaN comes before every other number; -0 equals 0. */
export function compareValues(a: Value, b: Value): number {
  const rank = typeRank(a) - typeRank(b);
  if (rank !== 0) return rank;
  switch (a.kind) {
    case 'null':
      return 0;
    case 'boolean':
      return Number(a.value) - Number((b as typeof a).value);
    case 'integer':
    case 'double':
      return compareNumbers(a.value, (b as typeof a).value);
    case 'timestamp': {
      const other = b as typeof a;
      return a.seconds - other.seconds || a.nanos - other.nanos;
    }
    case 'string':
      return compareUtf8(a.value, (b as typeof a).value);
    case 'bytes':
      return Buffer.compare(a.value, (b as typeof a).value);
    case 'reference':
      return compareReferences(a.value, (b as typeof a).value);
    case 'geo': {
      const other = b as typeof a;
      return a.latitude - other.latitude || a.longitude - other.longitude;
    }
    case 'array':
      return compareLists(a.values, (b as typeof a).values);
    case 'map':
      return compareMaps(a.fields, (b as typeof a).fields);
  }
}

/** True for null and NaN. They match `==`, which means "is null" and "is NaN", but equal nothing in a list. */
export function isUnlisted(value: Value): boolean {
  return value.kind === 'null' || isNaNValue(value);
}

export function isNaNValue(value: Value): boolean {
  return value.kind === 'double' && Number.isNaN(value.value);
}

function compareNumbers(a: number | bigint, b: number | bigint): number {
  if (a < b) return -1;
  if (a > b) return 1;
  // biome-ignore lint/suspicious/noDoubleEquals: an integer and a double of the same number are equal.
  if (a == b) return 0;
  return Number(Number.isNaN(b)) - Number(Number.isNaN(a));
}

/** References compare segment by segment, so that `a/b` comes before `a!/b`. */
function compareReferences(a: string, b: string): number {
  const left = a.split('/');
  const right = b.split('/');
  const length = Math.min(left.length, right.length);
  for (let i = 0; i < length; i++) {
    const order = compareSegments(left[i] as string, right[i] as string);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** Excludes leading zeros, with which one number would have several ids. */
const NUMERIC_ID = /^__id(0|-?[1-9]\d*)__$/;

/** The number of a reserved numeric id (`__id7__`), which sorts before every other id. */
export function numericId(segment: string): bigint | undefined {
  if (!segment.startsWith('__id')) return undefined;
  const match = NUMERIC_ID.exec(segment);
  if (!match) return undefined;
  const id = BigInt(match[1] as string);
  return BigInt.asIntN(64, id) === id ? id : undefined;
}

/** Order of two path segments: numeric ids first and by number, then UTF-8 bytes. */
export function compareSegments(a: string, b: string): number {
  const left = numericId(a);
  const right = numericId(b);
  if (left !== undefined && right !== undefined) return left < right ? -1 : left > right ? 1 : 0;
  if (left !== undefined) return -1;
  if (right !== undefined) return 1;
  return compareUtf8(a, b);
}

function compareLists(a: readonly Value[], b: readonly Value[]): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const order = compareValues(a[i] as Value, b[i] as Value);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareMaps(a: Fields, b: Fields): number {
  const left = vectorOf(a);
  const right = vectorOf(b);
  if (left && right) return left.length - right.length || compareLists(left, right);
  const leftKeys = sortedKeys(a);
  const rightKeys = sortedKeys(b);
  const length = Math.min(leftKeys.length, rightKeys.length);
  for (let i = 0; i < length; i++) {
    const x = leftKeys[i] as string;
    const y = rightKeys[i] as string;
    const order = compareUtf8(x, y) || compareValues(a.get(x) as Value, b.get(y) as Value);
    if (order !== 0) return order;
  }
  return leftKeys.length - rightKeys.length;
}

export function sortedKeys(fields: Fields): string[] {
  return [...fields.keys()].sort(compareUtf8);
}

/** True if replacing one with the other would change nothing. 3 and 3.0 differ; NaN equals NaN. */
export function identical(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind) return false;
  switch (a.kind) {
    case 'double':
      return Object.is(a.value, (b as typeof a).value);
    case 'array': {
      const other = (b as typeof a).values;
      return a.values.length === other.length && a.values.every((v, i) => identical(v, other[i] as Value));
    }
    case 'map':
      return identicalFields(a.fields, (b as typeof a).fields);
    default:
      return compareValues(a, b) === 0;
  }
}

export function identicalFields(a: Fields, b: Fields): boolean {
  if (a.size !== b.size) return false;
  for (const [key, value] of a) {
    const other = b.get(key);
    if (other === undefined || !identical(value, other)) return false;
  }
  return true;
}
