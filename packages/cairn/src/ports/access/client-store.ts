/** API clients: the owners of API keys. Only the sha256 of a secret is stored. */
import type { Version } from '../run-store.ts';

/** `installation`: an admin of its own tenant who may also change settings of all tenants. */
export type Role = 'viewer' | 'submitter' | 'operator' | 'admin' | 'installation';

/** A secret that another took the place of. */
export interface RetiredSecret {
  /** sha256 of the secret, hex. */
  readonly secretHash: string;
  /** Up to then it is accepted still, epoch ms. */
  readonly until: number;
}

export interface ApiClient {
  readonly id: string;
  readonly tenantId: string;
  readonly roles: readonly Role[];
  /** sha256 of the secret, hex. */
  readonly secretHash: string;
  /** Set by a revocation; none of its secrets is accepted. */
  readonly disabled: boolean;
  /** Epoch ms. */
  readonly createdAt: number;
  readonly name?: string | undefined;
  /** The principal that made it; none for those of the command line and the local cloud. */
  readonly createdBy?: string | undefined;
  /** Newest first. */
  readonly retired?: readonly RetiredSecret[] | undefined;
  /** The request that made the secret: by it a repetition of that request knows that it was done. */
  readonly secretOf?: string | undefined;
}

export interface StoredClient {
  readonly client: ApiClient;
  readonly version: Version;
}

export interface ListedClients {
  readonly items: readonly ApiClient[];
  /** Ids of clients whose documents cannot be decoded. */
  readonly unreadable: readonly string[];
}

export interface ClientStore {
  read(clientId: string): Promise<ApiClient | undefined>;
}

/**
 * Management of clients, for admins and for the development key of the local cloud. Throws `OutcomeUnknown` if it is
 * unknown whether a write was applied.
 */
export interface ClientRegistry extends ClientStore {
  /** Creates the client or replaces it as a whole. */
  save(client: ApiClient): Promise<void>;
  find(clientId: string): Promise<StoredClient | undefined>;
  /** `exists`: a client of that id is there, and nothing was written. */
  create(client: ApiClient): Promise<{ readonly kind: 'created' | 'exists' }>;
  /** Replaces the version last seen; `stale` means that another write won. */
  replace(client: ApiClient, seen: Version): Promise<{ readonly kind: 'replaced' | 'stale' }>;
  /** Clients of a tenant by id, at most `limit` with the `unreadable` ones. */
  list(tenantId: string, limit: number): Promise<ListedClients>;
}
