/** API keys: `cairn_<client id>_<secret>`. The id has no underscore, so the form has one reading. Only the hash of a secret is stored. */
import { sha256Hex } from './hash.ts';

const ID = '[A-Za-z0-9-]{1,64}';
const CLIENT_ID = new RegExp(`^${ID}$`);
const KEY = new RegExp(`^cairn_(${ID})_([A-Za-z0-9_-]{16,256})$`);

export interface ApiKey {
  readonly clientId: string;
  readonly secret: string;
}

export function isClientId(text: string): boolean {
  return CLIENT_ID.test(text);
}

export function apiKeyText({ clientId, secret }: ApiKey): string {
  return `cairn_${clientId}_${secret}`;
}

/** Undefined: it does not have the form of a key. */
export function parseApiKey(text: string): ApiKey | undefined {
  const [, clientId, secret] = KEY.exec(text) ?? [];
  return clientId === undefined || secret === undefined ? undefined : { clientId, secret };
}

/** A secret has 256 random bits: nothing to guess, so a plain hash is enough. */
export function secretHashOf(secret: string): string {
  return sha256Hex(secret);
}
