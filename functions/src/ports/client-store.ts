/** API clients: who a key belongs to. Only the sha256 of the secret is ever stored. */
export type Role = 'viewer' | 'submitter' | 'operator' | 'admin';

export interface ApiClient {
  readonly id: string;
  readonly tenantId: string;
  readonly roles: readonly Role[];
  /** sha256 of the secret, hex. */
  readonly secretHash: string;
  readonly disabled: boolean;
  /** Epoch ms. */
  readonly createdAt: number;
}

export interface ClientStore {
  read(clientId: string): Promise<ApiClient | undefined>;
}

/** What those who issue keys need as well: the command line, and the local cloud for its development key. */
export interface ClientRegistry extends ClientStore {
  /** Creates the client or replaces it as a whole. */
  save(client: ApiClient): Promise<void>;
}
