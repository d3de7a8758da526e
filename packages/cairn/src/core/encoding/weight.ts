/**
 * Approximate size of a value in memory and in an answer: names and text by their UTF-8 bytes, any other value eight bytes, an
 * undefined member zero. Pure.
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
