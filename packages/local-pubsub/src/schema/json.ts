/** A message that is JSON, as a value. */

/** No integer of 64 bits has more digits with its sign. Longer ones stay numbers, since they fit into no type. */
const LONGEST_INTEGER = 20;
const LONG_INTEGER = /\d{16}/;

/**
 * Integers that a number of JavaScript does not hold exactly are bigints.
 *
 * @throws Error for bytes that are no UTF-8, or no JSON
 */
export function jsonOf(data: Uint8Array): unknown {
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data);
  return LONG_INTEGER.test(text) ? JSON.parse(text, exact) : JSON.parse(text);
}

function exact(_key: string, value: unknown, { source = '' }: { source?: string } = {}): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  return /^-?\d+$/.test(source) && source.length <= LONGEST_INTEGER ? BigInt(source) : value;
}
