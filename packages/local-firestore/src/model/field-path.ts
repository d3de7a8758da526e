/**
 * Field paths: `a.b`, with back-ticks around segments that are not simple names. Reads and writes the field at a path. Pure.
 */
import { MAX_FIELD_NAME_BYTES, MAX_FIELD_PATH_BYTES, MAX_VALUE_DEPTH, RESERVED_NAME } from './limits.ts';
import { invalid, type StatusError } from './status.ts';
import { type Fields, membersOf, type Value } from './value.ts';

export type FieldPath = readonly string[];

/** Pseudo field for the document's name in orders, filters and indexes. */
export const NAME_FIELD = '__name__';

const SIMPLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const CACHE_LIMIT = 4_096;
const cache = new Map<string, FieldPath>();

/** @throws INVALID_ARGUMENT when the text is not a field path. */
export function parseFieldPath(text: string): FieldPath {
  const known = cache.get(text);
  if (known) return known;
  const path = parse(text);
  if (cache.size >= CACHE_LIMIT) cache.clear();
  cache.set(text, path);
  return path;
}

/** @throws INVALID_ARGUMENT if nothing can be stored at the path, because a name is reserved or the path is too deep */
export function checkWritable(path: FieldPath): void {
  const reserved = path.find((part) => RESERVED_NAME.test(part));
  if (reserved !== undefined) {
    throw invalid(`Field name "${reserved}" is reserved: names cannot begin and end with "__".`);
  }
  if (path.length - 1 > MAX_VALUE_DEPTH) {
    throw invalid(`"${path.join('.').slice(0, 40)}…" is nested deeper than ${MAX_VALUE_DEPTH} levels.`);
  }
}

/**
 * Elements of arrays add nothing to a path.
 *
 * @param outer bytes of the path so far, with its last dot
 * @throws INVALID_ARGUMENT for a field whose path is too long
 */
export function checkPathSizes(fields: Fields, outer = 0): void {
  for (const [name, value] of fields) {
    const bytes = outer + Buffer.byteLength(name);
    checkPathSize(bytes, name);
    checkPathsWithin(value, bytes + 1);
  }
}

function checkPathsWithin(value: Value, outer: number): void {
  if (value.kind === 'map') checkPathSizes(value.fields, outer);
  if (value.kind === 'array') for (const element of value.values) checkPathsWithin(element, outer);
}

function checkPathSize(bytes: number, last: string): void {
  if (bytes <= MAX_FIELD_PATH_BYTES) return;
  throw invalid(`The path of field "${last.slice(0, 40)}…" is longer than ${MAX_FIELD_PATH_BYTES} bytes.`);
}

export function formatFieldPath(path: FieldPath): string {
  return path
    .map((part) => (SIMPLE.test(part) ? part : `\`${part.replace(/[\\`]/g, (c) => `\\${c}`)}\``))
    .join('.');
}

function parse(text: string): FieldPath {
  const parts: string[] = [];
  let at = 0;
  for (;;) {
    const { part, end } = text[at] === '`' ? quoted(text, at) : plain(text, at);
    if (part === '') throw malformed(text);
    if (Buffer.byteLength(part) > MAX_FIELD_NAME_BYTES) throw invalid(`A segment of "${text}" is too long.`);
    parts.push(part);
    if (end === text.length) {
      checkPathSize(Buffer.byteLength(parts.join('.')), part);
      if (text !== NAME_FIELD) checkReserved(parts);
      return parts;
    }
    if (text[end] !== '.') throw malformed(text);
    at = end + 1;
  }
}

/** Applies to reads too, because no field can have a reserved name. */
function checkReserved(path: FieldPath): void {
  const reserved = path.find((part) => RESERVED_NAME.test(part));
  if (reserved === undefined || (path.length === 1 && reserved === NAME_FIELD)) return;
  throw invalid(
    reserved === NAME_FIELD
      ? 'the name __key__ is reserved'
      : `Invalid reserved name in field path ${reserved}`,
  );
}

function plain(text: string, at: number): { part: string; end: number } {
  const dot = text.indexOf('.', at);
  const end = dot < 0 ? text.length : dot;
  const part = text.slice(at, end);
  if (part !== '' && !SIMPLE.test(part)) throw malformed(text);
  return { part, end };
}

function quoted(text: string, at: number): { part: string; end: number } {
  let part = '';
  for (let i = at + 1; i < text.length; i++) {
    const char = text[i] as string;
    if (char === '`') return { part, end: i + 1 };
    part += char === '\\' ? (text[++i] ?? '') : char;
  }
  throw malformed(text);
}

function malformed(text: string): StatusError {
  if (text === '') return invalid('Invalid empty property path string.');
  return invalid(
    `Invalid property path "${text}". Unquoted property paths must match regex ([a-zA-Z_][a-zA-Z_0-9]*), ` +
      'and quoted property paths must match regex (`(?:[^`\\\\]|(?:\\\\.))+`)',
  );
}

export function getField(fields: Fields, path: FieldPath): Value | undefined {
  let level: Fields = fields;
  for (let i = 0; ; i++) {
    const value = level.get(path[i] as string);
    if (value === undefined || i === path.length - 1) return value;
    const members = membersOf(value);
    if (!members) return undefined;
    level = members;
  }
}

/** A copy of `fields` with the field set, or removed when `value` is undefined. Only the touched maps are copied. */
export function withField(fields: Fields, path: FieldPath, value: Value | undefined): Fields {
  const [head, ...rest] = path as [string, ...string[]];
  if (rest.length === 0) {
    if (value === undefined && !fields.has(head)) return fields;
    const copy = new Map(fields);
    if (value === undefined) copy.delete(head);
    else copy.set(head, value);
    return copy;
  }
  const changed = withinValue(fields.get(head), rest, value);
  return changed ? new Map(fields).set(head, changed) : fields;
}

/** A copy of the value with the field set or removed. Undefined if there is nothing to remove. */
function withinValue(outer: Value | undefined, path: FieldPath, value: Value | undefined): Value | undefined {
  const members = membersOf(outer);
  if (value === undefined && !members) return undefined;
  return { kind: 'map', fields: withField(members ?? new Map(), path, value) };
}

/** The parts of `fields` that the paths name, as a projection or a read mask returns them. */
export function project(fields: Fields, paths: readonly FieldPath[]): Fields {
  return overlay(new Map(), fields, paths);
}

/**
 * A copy of `under` with the fields at `paths` from `over`; fields that `over` lacks are removed. Makes one copy for all paths, because
 * a copy for each of the forty paths of a mask would be slow.
 */
export function overlay(under: Fields, over: Fields, paths: readonly FieldPath[]): Fields {
  const copy = new Map(under);
  for (const path of paths) {
    const [head, ...rest] = path as [string, ...string[]];
    const value = getField(over, path);
    if (rest.length === 0) {
      if (value === undefined) copy.delete(head);
      else copy.set(head, value);
      continue;
    }
    const changed = withinValue(copy.get(head), rest, value);
    if (changed) copy.set(head, changed);
  }
  return copy;
}
