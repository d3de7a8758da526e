/**
 * Approximate size of a value in memory and in a response: UTF-8 bytes of names and text, eight bytes for any other value, none
 * for an undefined member. Pure.
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
