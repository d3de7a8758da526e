/** Replaces the values of secret members, named by their paths, in JSON text that people may read. Pure. */
import { canonicalJson, type Json } from './encoding/json.ts';

const REDACTED = '[redacted]';

/**
 * The text with `[redacted]` at each existing dotted path; `*` stands for every member of an object or list. Returns
 * the same string if there is no such member.
 */
export function redacted(text: string, paths: readonly string[]): string {
  if (paths.length === 0) return text;
  const value = JSON.parse(text) as Json;
  let found = false;
  for (const path of paths) found = redact(value, path.split('.')) || found;
  return found ? canonicalJson(value) : text;
}

function redact(value: unknown, [name, ...rest]: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null || name === undefined) return false;
  const members = value as Record<string, unknown>;
  let found = false;
  for (const member of name === '*' ? Object.keys(members) : [name]) {
    if (!Object.hasOwn(members, member)) continue;
    if (rest.length > 0) found = redact(members[member], rest) || found;
    else {
      members[member] = REDACTED;
      found = true;
    }
  }
  return found;
}
