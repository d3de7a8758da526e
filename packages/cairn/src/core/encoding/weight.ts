/**
 * Approximate size of a value in memory and in an answer: names and text by their UTF-8 bytes, any other value eight bytes, an
 * undefined member zero. Pure.
 */

const OTHER_BYTES = 8;

export function weightOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value !== 'object' || value === null) return OTHER_BYTES;
  if (value instanceof Uint8Array) return value.byteLength;
  let bytes = 0;
  if (value instanceof Map) for (const [key, inner] of value) bytes += weightOfMember(key, inner);
  else for (const name of Object.keys(value)) bytes += weightOfMember(name, value[name as keyof object]);
  return bytes;
}

function weightOfMember(key: unknown, value: unknown): number {
  return value === undefined ? 0 : weightOf(key) + weightOf(value);
}
