/** API clients in memory. */

import { frozenCopy, type MemoryDatabase } from '../../../packages/cairn/src/memory/memory-database.ts';
import type {
  ApiClient,
  ClientRegistry,
  ListedClients,
  StoredClient,
} from '../../../packages/cairn/src/ports/access/client-store.ts';
import type { Version } from '../../../packages/cairn/src/ports/run-store.ts';

export class MemoryClientStore implements ClientRegistry {
  readonly #db: MemoryDatabase;
  readonly #versions = new WeakMap<ApiClient, Version>();

  constructor(db: MemoryDatabase) {
    this.#db = db;
  }

  async read(clientId: string): Promise<ApiClient | undefined> {
    return this.#db.clients.get(clientId);
  }

  async find(clientId: string): Promise<StoredClient | undefined> {
    const client = this.#db.clients.get(clientId);
    return client && { client, version: this.#versionOf(client) };
  }

  async create(client: ApiClient): ReturnType<ClientRegistry['create']> {
    if (this.#db.clients.has(client.id)) return { kind: 'exists' };
    this.#db.clients.set(client.id, frozenCopy(client));
    return { kind: 'created' };
  }

  async replace(client: ApiClient, seen: Version): ReturnType<ClientRegistry['replace']> {
    const stored = this.#db.clients.get(client.id);
    if (!stored || this.#versionOf(stored) !== seen) return { kind: 'stale' };
    this.#db.clients.set(client.id, frozenCopy(client));
    return { kind: 'replaced' };
  }

  async list(tenantId: string, limit: number): Promise<ListedClients> {
    const items = [...this.#db.clients.values()]
      .filter((client) => client.tenantId === tenantId)
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .slice(0, limit);
    return { items, unreadable: [] };
  }

  /** Version of the client. Every write creates a new object. */
  #versionOf(client: ApiClient): Version {
    const version = this.#versions.get(client) ?? this.#db.nextVersion();
    this.#versions.set(client, version);
    return version;
  }
}
