/** Verifies the signature of a delivery with the secret shared with GitHub. */
import { createHmac, timingSafeEqual } from 'node:crypto';

const SIGNATURE = /^sha256=([0-9a-f]{64})$/;

/**
 * True if the signature (`sha256=` and the HMAC in hex) was made over exactly these bytes with one of the secrets. During a
 * rotation both the old and the new secret are valid. Compares in constant time.
 */
export function isSigned(body: Uint8Array, signature: string, secrets: readonly string[]): boolean {
  const [, digits] = SIGNATURE.exec(signature) ?? [];
  // GitHub never sends a delivery without a body.
  if (digits === undefined || body.length === 0) return false;
  const sent = Buffer.from(digits, 'hex');
  let signed = false;
  for (const secret of secrets) {
    const expected = createHmac('sha256', secret).update(body).digest();
    signed = timingSafeEqual(expected, sent) || signed;
  }
  return signed;
}
