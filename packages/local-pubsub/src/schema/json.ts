/** A message that is JSON, as a value. */

/** @throws Error for bytes that are no UTF-8, or no JSON */
export function jsonOf(data: Uint8Array): unknown {
  return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(data));
}
