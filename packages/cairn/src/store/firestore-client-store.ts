/** API clients in Firestore. */
import { FieldPath } from '@google-cloud/firestore';
import type { ApiClient, ClientRegistry, ListedClients, StoredClient } from '../ports/access/client-store.ts';
import type { Version } from '../ports/run-store.ts';
import { call } from './call.ts';
import { clientCodec } from './codec/access.ts';
import { FirestoreStore } from './firestore-store.ts';
import { readableIn } from './lists/readable.ts';
import { lastUpdateTime } from './version.ts';
import { changedVersion, createdVersion, readVersioned, wholeUpdate } from './versioned-document.ts';

export class FirestoreClientStore extends FirestoreStore implements ClientRegistry {
  async read(clientId: string): Promise<ApiClient | undefined> {
    return (await this.find(clientId))?.client;
  }

  async find(clientId: string): Promise<StoredClient | undefined> {
    const named = { what: 'read of an API client', name: `API client ${clientId}` };
    const found = await readVersioned(this.paths.client(clientId), clientCodec, named);
    return found && { client: found.value, version: found.version };
  }

  async create(client: ApiClient): ReturnType<ClientRegistry['create']> {
    const document = this.paths.client(client.id);
    const members = clientCodec.encode(client);
    const created = await createdVersion('creation of an API client', () => document.create(members));
    return { kind: created ? 'created' : 'exists' };
  }

  async replace(client: ApiClient, seen: Version): ReturnType<ClientRegistry['replace']> {
    const document = this.paths.client(client.id);
    const members = wholeUpdate(clientCodec, client);
    const changed = await changedVersion('replacement of an API client', () =>
      document.update(members, lastUpdateTime(seen)),
    );
    return { kind: changed ? 'replaced' : 'stale' };
  }

  async list(tenantId: string, limit: number): Promise<ListedClients> {
    const own = this.paths.clients().where('tenantId', '==', tenantId).orderBy(FieldPath.documentId());
    const { docs } = await call('list of API clients', () => own.limit(limit).get());
    return readableIn(docs, (document, id) => clientCodec.decode(document, `API client ${id}`));
  }
}
