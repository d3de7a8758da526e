/**
 * Who calls: an API key becomes a client with a tenant and roles. Only the sha256 of a key's secret is known here.
 *
 * Must not: say why a key is refused: unknown, wrong and disabled look the same.
 */
import { timingSafeEqual } from 'node:crypto';
import { sha256Hex } from '../core/encoding/hash.ts';
import { CairnError } from '../core/errors.ts';
import type { ApiClient, ClientStore, Role } from '../ports/client-store.ts';

export interface Caller {
  readonly clientId: string;
  readonly tenantId: string;
  readonly role: Role;
}

/** How long a client is taken from memory: for so long a disabled key may still work. */
export const CLIENT_TTL_MS = 15_000;
/** Clients in memory at most; the one read longest ago makes room, so that made-up ids cannot fill it. */
const CLIENTS_KEPT = 1_000;

/** `cairn_<client id>_<secret>`; the id has no underscore, so the form has one reading. */
const KEY = /^cairn_([A-Za-z0-9-]{1,64})_([A-Za-z0-9_-]{16,256})$/;
/** Each may do what those before it may. */
const ROLES: readonly Role[] = ['viewer', 'submitter', 'operator', 'admin'];
/** Compared with when there is no client, so that an unknown id takes as long as a wrong secret. */
const NO_HASH = sha256Hex('');

interface CachedClient {
  readonly client: Promise<ApiClient | undefined>;
  readonly until: number;
}

export interface AuthenticatorDeps {
  readonly clients: ClientStore;
  readonly clock: { now(): number };
}

export class Authenticator {
  readonly #deps: AuthenticatorDeps;
  readonly #cache = new Map<string, CachedClient>();

  constructor(deps: AuthenticatorDeps) {
    this.#deps = deps;
  }

  /** @throws CairnError UNAUTHENTICATED */
  async callerOf(headers: Headers): Promise<Caller> {
    const [, key = ''] = /^Bearer +(\S+) *$/i.exec(headers.get('authorization') ?? '') ?? [];
    const [, clientId, secret] = KEY.exec(key) ?? [];
    if (clientId === undefined || secret === undefined) throw refused();
    const client = await this.#client(clientId);
    const isRight = timingSafeEqual(
      Buffer.from(sha256Hex(secret)),
      Buffer.from(client?.secretHash ?? NO_HASH),
    );
    const role = ROLES.findLast((one) => client?.roles.includes(one));
    if (!client || !isRight || client.disabled || role === undefined) throw refused();
    return { clientId, tenantId: client.tenantId, role };
  }

  #client(clientId: string): Promise<ApiClient | undefined> {
    const now = this.#deps.clock.now();
    const known = this.#cache.get(clientId);
    if (known && now < known.until) return known.client;
    const client = this.#deps.clients.read(clientId);
    this.#cache.delete(clientId);
    this.#cache.set(clientId, { client, until: now + CLIENT_TTL_MS });
    // A read that failed, or found nothing, is made again by the next request: a new key works at once.
    const forget = () => {
      if (this.#cache.get(clientId)?.client === client) this.#cache.delete(clientId);
    };
    client.then((found) => found ?? forget(), forget);
    const [oldest] = this.#cache.keys();
    if (this.#cache.size > CLIENTS_KEPT && oldest !== undefined) this.#cache.delete(oldest);
    return client;
  }
}

/** @throws CairnError FORBIDDEN if the caller's role is below `least` */
export function assertRole({ role }: Caller, least: Role): void {
  if (ROLES.indexOf(role) >= ROLES.indexOf(least)) return;
  throw new CairnError('FORBIDDEN', `this needs the role ${least}; the key has ${role}`);
}

function refused(): CairnError {
  return new CairnError('UNAUTHENTICATED', 'the API key is missing or not valid', {
    field: 'Authorization',
    help: 'Send `Authorization: Bearer cairn_<client>_<secret>`.',
  });
}
