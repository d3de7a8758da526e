/** Masks the secret values of a run's input wherever they occur in texts that bodies log, throw or memoise. Pure. */

import type { Json } from '../encoding/json.ts';

/** Shorter values occur in ordinary text by chance: masking them would make lines unreadable and reveal the value. */
const SHORTEST_SECRET = 6;
/** More secret values than a person's input has. */
const MAX_SECRETS = 200;
export const MASK = '[redacted]';

/** Texts at the dotted paths; `*` stands for every member of an object or list. Longest first. */
export function secretTexts(input: unknown, paths: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const path of paths) collect(input, path.split('.'), found);
  return longestFirst(found);
}

/** Texts of the input where its readable form has {@link MASK} instead. Longest first. */
export function secretsBetween(input: unknown, readable: unknown): readonly string[] {
  const found = new Set<string>();
  compare(input, readable, found);
  return longestFirst(found);
}

/** Undefined: there is nothing to mask. */
export function maskOf(secrets: readonly string[]): ((text: string) => string) | undefined {
  if (secrets.length === 0) return undefined;
  return (text) => {
    let masked = text;
    for (const secret of secrets) masked = masked.replaceAll(secret, MASK);
    return masked;
  };
}

/** A JSON value with the secrets masked in its texts, its numbers and the names of its members. */
export function maskedValue(value: Json, masked: (text: string) => string): Json {
  if (Array.isArray(value)) return value.map((item) => maskedValue(item, masked));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, member]) =>
        member === undefined ? [] : [[masked(name), maskedValue(member, masked)]],
      ),
    );
  if (typeof value === 'string') return masked(value);
  if (typeof value !== 'number') return value;
  const shown = masked(String(value));
  return shown === String(value) ? value : shown;
}

function longestFirst(texts: Iterable<string>): readonly string[] {
  return [...texts].sort((a, b) => b.length - a.length);
}

function compare(input: unknown, readable: unknown, found: Set<string>): void {
  if (readable === MASK) {
    if (input !== MASK) collect(input, [], found);
    return;
  }
  if (!isObject(input) || !isObject(readable)) return;
  for (const [name, member] of Object.entries(readable)) compare(input[name], member, found);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function collect(value: unknown, [name, ...rest]: readonly string[], found: Set<string>): void {
  if (found.size >= MAX_SECRETS) return;
  if (name === undefined) {
    if (typeof value === 'object' && value !== null)
      for (const member of Object.values(value)) collect(member, [], found);
    else if (value !== undefined && String(value).length >= SHORTEST_SECRET) found.add(String(value));
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const members = value as Record<string, unknown>;
  for (const member of name === '*' ? Object.keys(members) : [name])
    if (Object.hasOwn(members, member)) collect(members[member], rest, found);
}
