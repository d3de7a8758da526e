/** API clients: the owners of API keys. Only the sha256 of a secret is stored. */
import type { Version } from '../run-store.ts';

/** `installation`: an admin of its own tenant who may also change settings of all tenants. */
export type Role = 'viewer' | 'submitter' | 'operator' | 'admin' | 'installation';

/** An earlier secret of a client, replaced by a newer one. */
export interface RetiredSecret {
  /** sha256 of the secret, hex. */
  readonly secretHash: string;
  /** The secret is accepted until this time, epoch ms. */
  readonly until: number;
}

export interface ApiClient {
  readonly id: string;
  readonly tenantId: string;
  readonly roles: readonly Role[];
  /** sha256 of the secret, hex. */
  readonly secretHash: string;
  /** True after a revocation. No secret of the client is accepted then. */
  readonly disabled: boolean;
  /** Epoch ms. */
  readonly createdAt: number;
  readonly name?: string | undefined;
  /** The principal that created it; absent if the command line or the local cloud did. */
  readonly createdBy?: string | undefined;
  /** Newest first. */
  readonly retired?: readonly RetiredSecret[] | undefined;
  /** Id of the request that created the secret, by which its repetition is recognised. */
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

/** Management of clients, for admins. Throws `OutcomeUnknown` if it is unknown whether a write was applied. */
export interface ClientRegistry extends ClientStore {
  find(clientId: string): Promise<StoredClient | undefined>;
  /** `exists`: there is a client with that id, and nothing was written. */
  create(client: ApiClient): Promise<{ readonly kind: 'created' | 'exists' }>;
  /** Replaces the version last seen. `stale`: another write won. */
  replace(client: ApiClient, seen: Version): Promise<{ readonly kind: 'replaced' | 'stale' }>;
  /** Clients of a tenant by id. At most `limit`, including the `unreadable` ones. */
  list(tenantId: string, limit: number): Promise<ListedClients>;
}
