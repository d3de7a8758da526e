/** Secrets shared with senders of webhooks. */
import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * The secrets in a parameter: one, or several separated by commas during a rotation.
 *
 * @param name of the parameter
 * @throws Error if there is none, which is a configuration error: every request would be refused
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
 * True if one of the secrets produces this SHA-256 HMAC (64 hex digits) of the parts. During a rotation the old and
 * the new secret are both valid. Compares in constant time.
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
