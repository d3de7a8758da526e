/** Verifies that a request was signed recently with the secret shared with Slack. */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** Largest difference between Slack's clock and ours; a recorded request that is sent again later is refused. */
export const MAX_SKEW_MS = 5 * 60_000;

const SIGNATURE = /^v0=([0-9a-f]{64})$/;
/** Unix seconds; as many digits as a date can have. */
const TIMESTAMP = /^[0-9]{1,12}$/;

export interface Signed {
  /** The bytes as they came. */
  readonly body: Uint8Array;
  /** `X-Slack-Signature`. */
  readonly signature: string | null;
  /** `X-Slack-Request-Timestamp`. */
  readonly timestamp: string | null;
}

/**
 * True if the signature was made over exactly these bytes and this time with one of the secrets. While a secret is being
 * exchanged the old and the new one are both valid. Compares in constant time.
 *
 * @param now epoch ms
 */
export function isSigned(
  { body, signature, timestamp }: Signed,
  secrets: readonly string[],
  now: number,
): boolean {
  const [, digits] = SIGNATURE.exec(signature ?? '') ?? [];
  if (digits === undefined || timestamp === null || !TIMESTAMP.test(timestamp)) return false;
  if (Math.abs(now - Number(timestamp) * 1_000) > MAX_SKEW_MS) return false;
  const sent = Buffer.from(digits, 'hex');
  let signed = false;
  for (const secret of secrets) {
    const expected = createHmac('sha256', secret).update(`v0:${timestamp}:`).update(body).digest();
    signed = timingSafeEqual(expected, sent) || signed;
  }
  return signed;
}
