/**
 * Reference implementation of queries that examines every document. Written from Firestore's documentation, without code of
 * the server. Uses the client's own values.
 */
import { DocumentReference, GeoPoint, Timestamp } from '@google-cloud/firestore';

export type Op =
  | '<'
  | '<='
  | '>'
  | '>='
  | '=='
  | '!='
  | 'in'
  | 'not-in'
  | 'array-contains'
  | 'array-contains-any';

export type Condition =
  | { readonly field: string; readonly op: Op; readonly value: unknown }
  | { readonly all: readonly Condition[] }
  | { readonly any: readonly Condition[] };

export interface Question {
  readonly where: Condition | undefined;
  readonly orderBy: readonly { readonly field: string; readonly descending: boolean }[];
  readonly start: { readonly values: readonly unknown[]; readonly inclusive: boolean } | undefined;
  readonly end: { readonly values: readonly unknown[]; readonly inclusive: boolean } | undefined;
  readonly offset: number;
  readonly limit: number | undefined;
}

export interface Doc {
  readonly path: string;
  readonly data: Record<string, unknown>;
}

export const NAME = '__name__';
const MISSING = Symbol('missing');

/** Paths of the answer, in order. */
export function answer(docs: readonly Doc[], question: Question): string[] {
  const orders = completeOrders(question);
  const position = (doc: Doc, values: readonly unknown[]) =>
    firstDifference(
      values.map((value, i) =>
        directed(compare(read(doc, orders[i]?.field as string), value), orders[i]?.descending),
      ),
    );
  const { start, end } = question;
  const found = docs
    .filter((doc) => orders.every((o) => read(doc, o.field) !== MISSING))
    .filter((doc) => question.where === undefined || holds(doc, question.where))
    .filter(
      (doc) =>
        !start || (start.inclusive ? position(doc, start.values) >= 0 : position(doc, start.values) > 0),
    )
    .filter((doc) => !end || (end.inclusive ? position(doc, end.values) <= 0 : position(doc, end.values) < 0))
    .sort((a, b) =>
      firstDifference(orders.map((o) => directed(compare(read(a, o.field), read(b, o.field)), o.descending))),
    );
  const last = question.limit === undefined ? undefined : question.offset + question.limit;
  return found.slice(question.offset, last).map((doc) => doc.path);
}

export function completeOrders(question: Question): { field: string; descending: boolean }[] {
  const orders = [...question.orderBy];
  const descending = orders.at(-1)?.descending ?? false;
  const ordered = (field: string) => orders.some((o) => o.field === field);
  if (ordered(NAME)) return orders;
  for (const field of inequalityFields(question.where).sort())
    if (!ordered(field)) orders.push({ field, descending });
  orders.push({ field: NAME, descending });
  return orders;
}

export function inequalityFields(condition: Condition | undefined): string[] {
  if (!condition) return [];
  if ('all' in condition) return condition.all.flatMap(inequalityFields);
  if ('any' in condition) return condition.any.flatMap(inequalityFields);
  return ['<', '<=', '>', '>=', '!=', 'not-in'].includes(condition.op) ? [condition.field] : [];
}

function firstDifference(differences: readonly number[]): number {
  return differences.find((d) => d !== 0) ?? 0;
}

function directed(difference: number, descending: boolean | undefined): number {
  return descending ? -difference : difference;
}

export function read(doc: Doc, field: string): unknown {
  if (field === NAME) return { name: doc.path };
  let value: unknown = doc.data;
  for (const part of field.split('.')) {
    if (kind(value) !== 'map' || !Object.hasOwn(value as object, part)) return MISSING;
    value = (value as Record<string, unknown>)[part];
  }
  return value;
}

function holds(doc: Doc, condition: Condition): boolean {
  if ('all' in condition) return condition.all.every((c) => holds(doc, c));
  if ('any' in condition) return condition.any.some((c) => holds(doc, c));
  const value = read(doc, condition.field);
  if (value === MISSING) return false;
  const operand = condition.value;
  const list = Array.isArray(operand) ? operand : [];
  const equal = (other: unknown) => compare(value, other) === 0;
  const member = (other: unknown) => Array.isArray(value) && value.some((v) => compare(v, other) === 0);
  switch (condition.op) {
    case '==':
      return equal(operand);
    case '!=':
      return value !== null && !equal(operand);
    case 'in':
      return list.some((v) => known(v) && equal(v));
    case 'not-in':
      return value !== null && !list.includes(null) && !list.some(equal);
    case 'array-contains':
      return known(operand) && member(operand);
    case 'array-contains-any':
      return list.some((v) => known(v) && member(v));
    default:
      if (rank(value) !== rank(operand) || Number.isNaN(value) || Number.isNaN(operand)) return false;
  }
  const order = compare(value, operand);
  if (condition.op === '<') return order < 0;
  if (condition.op === '<=') return order <= 0;
  return condition.op === '>' ? order > 0 : order >= 0;
}

/** Null and NaN match only an explicit ==. */
function known(value: unknown): boolean {
  return value !== null && !Number.isNaN(value);
}

const RANKS = ['null', 'boolean', 'number', 'time', 'string', 'bytes', 'name', 'geo', 'array', 'map'];

function rank(value: unknown): number {
  return RANKS.indexOf(kind(value));
}

function kind(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'boolean' || typeof value === 'number' || typeof value === 'string')
    return typeof value;
  if (value instanceof Timestamp) return 'time';
  if (Buffer.isBuffer(value)) return 'bytes';
  if (value instanceof GeoPoint) return 'geo';
  if (value instanceof DocumentReference || isName(value)) return 'name';
  return Array.isArray(value) ? 'array' : 'map';
}

function isName(value: unknown): value is { name: string } {
  return typeof value === 'object' && value !== null && Object.keys(value).join() === 'name';
}

export function compare(a: unknown, b: unknown): number {
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  switch (kind(a)) {
    case 'null':
      return 0;
    case 'boolean':
      return Number(a) - Number(b);
    case 'number':
      return compareNumbers(a as number, b as number);
    case 'time':
      return sign((a as Timestamp).toMillis() - (b as Timestamp).toMillis());
    case 'string':
      return Buffer.compare(Buffer.from(a as string), Buffer.from(b as string));
    case 'bytes':
      return Buffer.compare(a as Buffer, b as Buffer);
    case 'name':
      return compareAll(pathOf(a).split('/'), pathOf(b).split('/'));
    case 'geo': {
      const [x, y] = [a as GeoPoint, b as GeoPoint];
      return sign(x.latitude - y.latitude) || sign(x.longitude - y.longitude);
    }
    case 'array':
      return compareAll(a as unknown[], b as unknown[]);
    default:
      return compareAll(entries(a as object), entries(b as object));
  }
}

function pathOf(value: unknown): string {
  return value instanceof DocumentReference ? value.path : (value as { name: string }).name;
}

function entries(map: object): unknown[] {
  return Object.entries(map)
    .sort(([x], [y]) => Buffer.compare(Buffer.from(x), Buffer.from(y)))
    .flat();
}

function compareAll(a: readonly unknown[], b: readonly unknown[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = compare(a[i], b[i]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareNumbers(a: number, b: number): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(b)) - Number(Number.isNaN(a));
  return sign(a - b) || 0;
}

function sign(x: number): number {
  return x < 0 ? -1 : x > 0 ? 1 : 0;
}
