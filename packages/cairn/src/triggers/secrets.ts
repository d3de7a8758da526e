/** Secrets that are shared with a sender of webhooks. */
import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * The secrets in a parameter: one, or during an exchange several, separated by commas.
 *
 * @param name of the parameter
 * @throws Error if there is none: this is a configuration error, and every request would be refused
 */
export function secretsIn(name: string, parameter: string): string[] {
  const secrets = parameter
    .split(',')
    .map((secret) => secret.trim())
    .filter((secret) => secret !== '');
  if (secrets.length === 0) throw new Error(`${name} is empty`);
  return secrets;
}

/**
 * True if one of the secrets makes this SHA-256 HMAC, of 64 hex digits, of the parts. While a secret is being exchanged the old and
 * the new one are both valid. Compares in constant time.
 */
export function isHmacOf(
  parts: readonly (string | Uint8Array)[],
  digits: string,
  secrets: readonly string[],
): boolean {
  const sent = Buffer.from(digits, 'hex');
  let isMade = false;
  for (const secret of secrets) {
    const hmac = createHmac('sha256', secret);
    for (const part of parts) hmac.update(part);
    isMade = timingSafeEqual(hmac.digest(), sent) || isMade;
  }
  return isMade;
}
