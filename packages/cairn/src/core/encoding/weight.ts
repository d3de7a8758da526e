/**
 * The room that a value takes in memory and in an answer, roughly: names and text by their UTF-8 bytes, anything else eight bytes; a
 * member that is undefined has none. Pure.
 */

const OTHER_BYTES = 8;

export function weightOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value !== 'object' || value === null) return OTHER_BYTES;
  if (value instanceof Uint8Array) return value.byteLength;
  const members = value instanceof Map ? [...value] : Object.entries(value);
  return members.reduce(
    (sum, [name, inner]) => (inner === undefined ? sum : sum + weightOf(name) + weightOf(inner)),
    0,
  );
}
