/**
 * Masks secrets: members at the paths that a definition names, and their values wherever they occur in texts that bodies log, throw
 * or memoise. Pure; drivers only call it.
 */
import { canonicalJson, type Json } from '../encoding/json.ts';
import { loggable, messageOf, readableThrown, stackOf } from '../thrown.ts';

export const REDACTED = '[redacted]';
/** Shorter values occur in ordinary text by chance: masking them would make lines unreadable and reveal the value. */
const SHORTEST_SECRET = 6;
/** More secret values than a realistic input has. */
const MAX_SECRETS = 200;

/** Replaces secret values in a text by {@link REDACTED}. */
export type Mask = (text: string) => string;

type LogMembers = Readonly<Record<string, unknown>>;

/**
 * Replaces the values at dotted paths of a JSON text; `*` matches every member of an object or list. Returns the same string if
 * no path exists.
 */
export function maskPaths(text: string, paths: readonly string[]): string {
  if (paths.length === 0) return text;
  const value = JSON.parse(text) as Json;
  let found = false;
  for (const path of paths) found = redact(value, path.split('.')) || found;
  return found ? canonicalJson(value) : text;
}

/** Texts at the dotted paths; `*` matches every member of an object or list. Longest first. */
export function secretTexts(input: unknown, paths: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const path of paths) collect(input, path.split('.'), found);
  return longestFirst(found);
}

/** Texts of the input that are {@link REDACTED} in its readable form. Longest first. */
export function secretsBetween(input: unknown, readableInput: unknown): readonly string[] {
  const found = new Set<string>();
  compare(input, readableInput, found);
  return longestFirst(found);
}

/** Undefined if there is nothing to mask. */
export function maskOf(secrets: readonly string[]): Mask | undefined {
  if (secrets.length === 0) return undefined;
  return (text) => {
    let masked = text;
    for (const secret of secrets) masked = masked.replaceAll(secret, REDACTED);
    return masked;
  };
}

/** A JSON value with the secrets masked in its texts, its numbers and the names of its members. */
export function maskValue(value: Json, mask: Mask): Json {
  if (Array.isArray(value)) return value.map((item) => maskValue(item, mask));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, member]) =>
        member === undefined ? [] : [[mask(name), maskValue(member, mask)]],
      ),
    );
  if (typeof value === 'string') return mask(value);
  if (typeof value !== 'number') return value;
  const shown = mask(String(value));
  return shown === String(value) ? value : shown;
}

/** Fields of a log line. A field that JSON cannot carry is replaced by the error, because it may hold a secret. */
export function maskFields(fields: LogMembers, mask: Mask): LogMembers {
  const shown: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) {
    try {
      const text = JSON.stringify(fields[name], (_name, value: unknown) => loggable(value));
      if (text !== undefined) shown[mask(name)] = maskValue(JSON.parse(text) as Json, mask);
    } catch (error) {
      shown[mask(name)] = mask(messageOf(error));
    }
  }
  return shown;
}

/** The thrown value, or an error of the same class with masked texts and without the cause. */
export function maskThrown(thrown: unknown, mask: Mask): unknown {
  const error = readableThrown(thrown);
  if (!(error instanceof Error)) return typeof error === 'string' ? mask(error) : error;
  const [message, stack] = [messageOf(error), stackOf(error) ?? ''];
  const shown = { message: mask(message), stack: mask(stack) };
  if (shown.message === message && shown.stack === stack) return error;
  return Object.create(error, {
    message: { value: shown.message },
    stack: { value: shown.stack },
    cause: { value: undefined },
  });
}

function redact(value: unknown, [name, ...rest]: readonly string[]): boolean {
  if (!isObject(value) || name === undefined) return false;
  let found = false;
  for (const member of membersAt(value, name)) {
    if (rest.length > 0) found = redact(value[member], rest) || found;
    else {
      (value as Record<string, unknown>)[member] = REDACTED;
      found = true;
    }
  }
  return found;
}

function compare(input: unknown, shown: unknown, found: Set<string>): void {
  if (shown === REDACTED) {
    if (input !== REDACTED) collect(input, [], found);
    return;
  }
  if (!isObject(input) || !isObject(shown)) return;
  for (const [name, member] of Object.entries(shown)) compare(input[name], member, found);
}

function collect(value: unknown, [name, ...rest]: readonly string[], found: Set<string>): void {
  if (found.size >= MAX_SECRETS) return;
  if (name === undefined) {
    if (isObject(value)) for (const member of Object.values(value)) collect(member, [], found);
    else if (value !== undefined && String(value).length >= SHORTEST_SECRET) found.add(String(value));
    return;
  }
  if (isObject(value)) for (const member of membersAt(value, name)) collect(value[member], rest, found);
}

function membersAt(value: LogMembers, name: string): readonly string[] {
  return name === '*' ? Object.keys(value) : [name].filter((member) => Object.hasOwn(value, member));
}

function longestFirst(texts: Iterable<string>): readonly string[] {
  return [...texts].sort((a, b) => b.length - a.length);
}

function isObject(value: unknown): value is LogMembers {
  return typeof value === 'object' && value !== null;
}
