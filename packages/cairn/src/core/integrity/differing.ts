/** Comparison of stored values, with the members in which they differ. Total over all decoded values. */
import { isMap } from 'immutable';
import { canonicalJson, type Json } from '../encoding/json.ts';

/** Names of the members in which they differ, in order. A member that is undefined is absent. */
export function differing(a: object, b: object): string[] {
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...names].filter((name) => !isSameValue(left[name], right[name])).sort();
}

export function isSameValue(a: unknown, b: unknown): boolean {
  return a === b || comparableText(a) === comparableText(b);
}

export function comparableText(value: unknown): string {
  if (value === undefined) return '';
  return canonicalJson((isMap(value) ? plain(value) : value) as Json);
}

function plain(map: Iterable<[unknown, unknown]>): unknown[] {
  return [...map]
    .map(([key, value]) => [String(key), value])
    .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
}
