/** The secrets of API clients: their creation, and their stored hashes. */
import { sha256Hex } from '../../core/encoding/hash.ts';
import type { Randomness } from '../../ports/randomness.ts';

interface NewSecret {
  /** Shown once, stored nowhere. */
  readonly secret: string;
  readonly secretHash: string;
}

/** 256 random bits: nothing to guess, so a plain hash is enough. */
export function newSecret(random: Randomness): NewSecret {
  const secret = random.token() + random.token();
  return { secret, secretHash: sha256Hex(secret) };
}

/** The API key that a caller sends. */
export function apiKeyOf(clientId: string, secret: string): string {
  return `cairn_${clientId}_${secret}`;
}
