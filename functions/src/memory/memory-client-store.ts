/** API clients in memory. */
import type { ApiClient, ClientRegistry } from '../ports/client-store.ts';
import { adopt, type MemoryDatabase } from './memory-database.ts';

export class MemoryClientStore implements ClientRegistry {
  readonly #db: MemoryDatabase;

  constructor(db: MemoryDatabase) {
    this.#db = db;
  }

  async read(clientId: string): Promise<ApiClient | undefined> {
    return this.#db.clients.get(clientId);
  }

  async save(client: ApiClient): Promise<void> {
    this.#db.clients.set(client.id, adopt(client));
  }
}
