/**
 * Converts values to text: canonical JSON (RFC 8785). Refuses every value that JSON would silently change, so that the hashed and
 * stored values are equal and a step gets back exactly what it returned.
 *
 * Must not: convert a value (a Date is refused, not turned into a string) or know the purpose of the text.
 */
import { CairnError, invalidInput } from '../errors.ts';
import { MAX_PAYLOAD_BYTES } from '../run/limits.ts';
import { messageOf } from '../thrown.ts';
import { writeCanonical } from './canonical.ts';

/** A value that JSON can carry unchanged. Members that are `undefined` are dropped, as JSON does. */
export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [key: string]: Json | undefined };

/** Deepest nesting accepted of user values: far above real data, far below the stack's limit. */
export const MAX_JSON_DEPTH = 200;

/** Canonical JSON text (RFC 8785). For values that are known to be JSON; user values go through {@link toJsonText}. */
export function canonicalJson(value: Json): string {
  const text = writeCanonical(value);
  if (text === undefined) throw new TypeError('a value without a JSON form reached canonicalJson');
  return text;
}

const texts = new WeakMap<object, string>();

/** {@link canonicalJson} of an immutable value, computed once per object, because an event's data is both hashed and stored. */
export function canonicalTextOf(value: object): string {
  let text = texts.get(value);
  if (text === undefined) {
    text = canonicalJson(value as Json);
    texts.set(value, text);
  }
  return text;
}

/**
 * Canonical JSON text of a value that came from user code. `undefined` becomes `null`.
 *
 * @param what names the value in the error, e.g. `output of step "verdict"`
 * @throws CairnError INVALID_INPUT with the path of the first value that JSON would change or lose; PAYLOAD_TOO_LARGE for text
 * above the limit of a run
 */
export function toJsonText(value: unknown, what: string): string {
  if (value === undefined) return 'null';
  let violation: JsonViolation | undefined;
  const walk: Walk = { ancestors: [], room: MAX_PAYLOAD_BYTES };
  try {
    violation = findViolation(value, walk);
    if (violation === undefined) return readAgain(canonicalJson(value as Json));
  } catch (cause) {
    // A getter or proxy of user code may throw, or return something else the second time.
    throw invalidInput(what, `${what} could not be read as JSON: ${messageOf(cause)}`, {
      help: PLAIN_HELP,
      cause,
    });
  }
  if (walk.room < 0) {
    const most = `has more than ${MAX_PAYLOAD_BYTES} bytes, the most there can be`;
    throw new CairnError('PAYLOAD_TOO_LARGE', `${what} ${most}`, { field: what });
  }
  const { description, help = PLAIN_HELP } = violation;
  const path = `${what}${shownPath(violation)}`;
  throw invalidInput(path, `${path} is ${description}`, { help });
}

const PLAIN_HELP = 'Use only plain objects, arrays, strings, finite numbers, booleans and null.';
const CYCLE_HELP = 'An object must not contain itself. Leave that member out, or put an id in its place.';
const DEEP_HELP =
  'Make it flatter: a list of entries that name their parent, or text made by JSON.stringify.';
/** Parts of a path that are shown at its beginning and at its end, and characters of each. */
const SHOWN_PARTS = { first: 8, last: 3, chars: 80 } as const;

function shownPath({ path, ends = path.length }: JsonViolation): string {
  const parts = path
    .reverse()
    .slice(0, ends)
    .map((part) =>
      part.length > SHOWN_PARTS.chars ? `${part.slice(0, SHOWN_PARTS.chars).toWellFormed()}…` : part,
    );
  const { first, last } = SHOWN_PARTS;
  if (parts.length <= first + last) return parts.join('');
  const left = parts.length - first - last;
  return `${parts.slice(0, first).join('')}…(${left} more)…${parts.slice(-last).join('')}`;
}

/**
 * Parses the text again, because a getter that returned a number during the check may return a function during writing, for which
 * `writeCanonical` writes `undefined`. Only called for such values, because parsing costs as much as writing.
 *
 * @throws SyntaxError
 */
function readAgain(text: string): string {
  if (text.includes(':undefined')) JSON.parse(text);
  return text;
}

/**
 * A violation and the path to it, innermost part first. The path is filled in while returning, so that valid values cost nothing.
 */
interface JsonViolation {
  readonly description: string;
  readonly path: string[];
  readonly help?: string;
  /** Number of parts of the path, from the outermost, that lead to the violation. Default: all. */
  readonly ends?: number;
}

/** State of the walk through a value. */
interface Walk {
  readonly ancestors: object[];
  /**
   * Remaining characters of the text, without punctuation. A small value that refers to an object many times can have a text
   * larger than memory.
   */
  room: number;
}

function findViolation(value: unknown, walk: Walk): JsonViolation | undefined {
  walk.room -= typeof value === 'string' ? value.length : 1;
  if (walk.room < 0) return violation('too large');
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? undefined : violation('a string with a lone surrogate');
    case 'number':
      return Number.isFinite(value) ? undefined : violation(`${value}, which JSON cannot represent`);
    case 'boolean':
      return undefined;
    case 'object':
      return value === null ? undefined : findViolationInObject(value, walk);
    default:
      return violation(typeof value === 'undefined' ? 'undefined' : `a ${typeof value}`);
  }
}

function findViolationInObject(value: object, walk: Walk): JsonViolation | undefined {
  const { ancestors } = walk;
  if (ancestors.length >= MAX_JSON_DEPTH) return tooDeep(value, ancestors);
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return violation(`${describeClass(value)} with a toJSON method, which JSON would replace`);
  }
  ancestors.push(value);
  const found = Array.isArray(value) ? findInArray(value, walk) : findInRecord(value, walk);
  ancestors.pop();
  return found;
}

function findInArray(value: readonly unknown[], walk: Walk): JsonViolation | undefined {
  // The Array.prototype of another realm is an array; the prototype of a subclass is not.
  if (!Array.isArray(Object.getPrototypeOf(value))) return violation(describeClass(value));
  for (let index = 0; index < value.length; index += 1) {
    const found = findViolation(value[index], walk);
    if (found !== undefined) return within(found, `[${index}]`);
  }
  if (Object.keys(value).length !== value.length) return violation('an array with named members');
  return undefined;
}

function findInRecord(value: object, walk: Walk): JsonViolation | undefined {
  if (!isPlain(value)) return violation(describeClass(value));
  if (Object.getOwnPropertySymbols(value).length > 0) return violation('an object with symbol keys');
  for (const key of Object.keys(value)) {
    if (!key.isWellFormed()) return violation('an object with a lone surrogate in a key');
    const member = (value as Record<string, unknown>)[key];
    if (member === undefined) continue;
    walk.room -= key.length;
    const found = findViolation(member, walk);
    if (found !== undefined) return within(found, pathPart(key));
  }
  return undefined;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return true;
  // Detects the Object.prototype of another realm (a vm context): the end of a prototype chain with its own `isPrototypeOf`.
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, 'isPrototypeOf');
}

/** Called at the depth limit, so that valid values need no bookkeeping. There, an object that is its own ancestor is a cycle. */
function tooDeep(value: object, ancestors: readonly object[]): JsonViolation {
  const seen = new Set<object>();
  const ends = [...ancestors, value].findIndex((one) => seen.size === seen.add(one).size);
  if (ends === -1)
    return { description: `nested deeper than ${MAX_JSON_DEPTH} levels`, path: [], help: DEEP_HELP };
  return { description: 'a reference cycle', path: [], help: CYCLE_HELP, ends };
}

function violation(description: string): JsonViolation {
  return { description: description, path: [] };
}

function within(inner: JsonViolation, part: string): JsonViolation {
  inner.path.push(part);
  return inner;
}

function pathPart(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

function describeClass(value: object): string {
  const name: unknown = value.constructor?.name;
  return typeof name === 'string' && name !== '' ? `an instance of ${name}` : 'an object with a prototype';
}
