/** Letters that no other request has: 128 random bits. Browsers have `crypto.randomUUID` only at HTTPS and at localhost. */
export function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
