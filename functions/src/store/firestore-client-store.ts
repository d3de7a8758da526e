/** API clients in Firestore. */
import type { Firestore } from '@google-cloud/firestore';
import type { ApiClient, ClientRegistry } from '../ports/client-store.ts';
import { call } from './call.ts';
import { clientCodec } from './codec/access.ts';
import { Paths } from './paths.ts';

export class FirestoreClientStore implements ClientRegistry {
  readonly #paths: Paths;

  constructor(db: Firestore, prefix?: string) {
    this.#paths = new Paths(db, prefix);
  }

  async read(clientId: string): Promise<ApiClient | undefined> {
    const document = this.#paths.client(clientId);
    const found = await call('read of an API client', () => document.get());
    const data = found.data();
    return data && clientCodec.decode(data, `API client ${clientId}`);
  }

  async save(client: ApiClient): Promise<void> {
    const document = this.#paths.client(client.id);
    await call('write of an API client', () => document.set(clientCodec.encode(client)));
  }
}
