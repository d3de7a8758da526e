/**
 * Authentication: an API key becomes a client with a tenant and roles, an ID token a user (see id-token.ts). Only the sha256 of
 * a key's secret is known here.
 *
 * Must not: reveal why a key or token is refused: unknown, wrong, expired and disabled look the same.
 */

import { timingSafeEqual } from 'node:crypto';
import { BoundedMap } from '../core/bounded-map.ts';
import { type ApiKey, parseApiKey, secretHashOf } from '../core/encoding/api-key.ts';
import { CairnError } from '../core/errors.ts';
import type { ApiClient, ClientStore, Role } from '../ports/access/client-store.ts';
import type { TokenVerifier } from '../ports/access/token-verifier.ts';
import { userOf } from './id-token.ts';

export interface Caller {
  /** Name in keys and journals: `c.` and a client id, or `u.` and a user id. */
  readonly principal: string;
  readonly tenantId: string;
  readonly role: Role;
}

/** Time for which a client is cached: a disabled key may work for this long. */
export const CLIENT_TTL_MS = 15_000;
/** Minimum time between two reads of a client whose cached secrets do not match: the presented secret may be newer. */
export const CLIENT_LOOK_AGAIN_MS = 1_000;
/**
 * Time an unknown client id is cached: a client requested before it was created is refused for this long by this
 * instance. Other instances accept it immediately.
 */
export const CLIENT_MISS_TTL_MS = 5_000;
/** Unknown ids kept in a cache of their own, so that they do not evict clients. */
const MISSES_KEPT = 1_000;
const CLIENTS_KEPT = 1_000;

/** In ascending order: each role includes the earlier ones. */
export const ROLES = [
  'viewer',
  'submitter',
  'operator',
  'admin',
  'installation',
] as const satisfies readonly Role[];
/** Compared when there is no client, so that an unknown id takes as long as a wrong secret. */
const NO_HASH = secretHashOf('');
const NO_CLIENT = Promise.resolve(undefined);

interface CachedClient {
  readonly client: Promise<ApiClient | undefined>;
  /** Epoch ms. */
  readonly readAt: number;
}

interface AuthenticatorDeps {
  readonly clients: ClientStore;
  readonly tokens: TokenVerifier;
  readonly clock: { now(): number };
}

export class Authenticator {
  readonly #deps: AuthenticatorDeps;
  readonly #cache = new BoundedMap<string, CachedClient>(CLIENTS_KEPT);
  /** By unknown client id: end of the time it is cached, epoch ms. */
  readonly #misses = new BoundedMap<string, number>(MISSES_KEPT);

  constructor(deps: AuthenticatorDeps) {
    this.#deps = deps;
  }

  /** @throws CairnError UNAUTHENTICATED, FORBIDDEN for a user of no tenant, UNAVAILABLE */
  async callerOf(headers: Headers): Promise<Caller> {
    const [, bearer = ''] = /^Bearer +(\S+) *$/i.exec(headers.get('authorization') ?? '') ?? [];
    const key = parseApiKey(bearer);
    const caller = key ? await this.#keyHolder(key) : await userOf(this.#deps.tokens, bearer, ROLES);
    if (!caller) throw refused();
    return caller;
  }

  async #keyHolder({ clientId, secret }: ApiKey): Promise<Caller | undefined> {
    const now = this.#deps.clock.now();
    const hash = secretHashOf(secret);
    let client = await this.#client(clientId, CLIENT_TTL_MS);
    let isRight = isSecretOf(client, hash, now);
    if (client && !isRight) {
      client = await this.#client(clientId, CLIENT_LOOK_AGAIN_MS);
      isRight = isSecretOf(client, hash, now);
    }
    const role = ROLES.findLast((one) => client?.roles.includes(one));
    if (!client || !isRight || client.disabled || role === undefined) return undefined;
    return { principal: `c.${clientId}`, tenantId: client.tenantId, role };
  }

  /** @param maxAgeMs older cache entries are read again */
  #client(clientId: string, maxAgeMs: number): Promise<ApiClient | undefined> {
    const now = this.#deps.clock.now();
    if (now < (this.#misses.get(clientId) ?? 0)) return NO_CLIENT;
    const known = this.#cache.get(clientId);
    if (known && now < known.readAt + maxAgeMs) return known.client;
    const client = this.#deps.clients.read(clientId);
    this.#cache.set(clientId, { client, readAt: now });
    const forget = () => {
      if (this.#cache.get(clientId)?.client === client) this.#cache.delete(clientId);
    };
    // A failed read is not cached: the next request repeats it.
    client.then((found) => {
      if (found) return;
      forget();
      // A flood of requests with one made-up id costs one read every few seconds, not one each.
      this.#misses.set(clientId, this.#deps.clock.now() + CLIENT_MISS_TTL_MS);
    }, forget);
    return client;
  }
}

/** Compares with every accepted secret, so that the time does not reveal a match. */
function isSecretOf(client: ApiClient | undefined, hash: string, now: number): boolean {
  const accepted = (client?.retired ?? []).filter(({ until }) => now < until);
  const hashes = [client?.secretHash ?? NO_HASH, ...accepted.map(({ secretHash }) => secretHash)];
  const call = Buffer.from(hash);
  return hashes.map((one) => timingSafeEqual(call, Buffer.from(one))).includes(true);
}

/** @throws CairnError FORBIDDEN if the caller's role is below `least` */
export function assertRole({ role }: Caller, least: Role): void {
  if (mayActAs(role, least)) return;
  throw new CairnError('FORBIDDEN', `this operation requires the role ${least}; the caller has ${role}`);
}

export function mayActAs(role: Role, least: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(least);
}

function refused(): CairnError {
  return new CairnError('UNAUTHENTICATED', 'the API key or ID token is missing or invalid', {
    field: 'Authorization',
    help: 'Send `Authorization: Bearer cairn_<client>_<secret>`, or a Firebase ID token instead.',
  });
}
