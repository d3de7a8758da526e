/** API clients in Firestore. */
import { FieldPath, FieldValue, type Firestore } from '@google-cloud/firestore';
import type { ApiClient, ClientRegistry, StoredClient } from '../ports/access/client-store.ts';
import type { Version } from '../ports/run-store.ts';
import { call, isStale, isTaken } from './call.ts';
import { clientCodec } from './codec/access.ts';
import type { Members } from './codec/kinds.ts';
import { Paths } from './paths.ts';
import { lastUpdateTime, versionOf } from './version.ts';

export class FirestoreClientStore implements ClientRegistry {
  readonly #paths: Paths;

  constructor(db: Firestore, prefix?: string) {
    this.#paths = new Paths(db, prefix);
  }

  async read(clientId: string): Promise<ApiClient | undefined> {
    return (await this.find(clientId))?.client;
  }

  async find(clientId: string): Promise<StoredClient | undefined> {
    const document = this.#paths.client(clientId);
    const found = await call('read of an API client', () => document.get());
    const data = found.data();
    if (!data || !found.updateTime) return undefined;
    const client = clientCodec.decode(data, `API client ${clientId}`);
    return { client, version: versionOf(found.updateTime) };
  }

  async save(client: ApiClient): Promise<void> {
    const document = this.#paths.client(client.id);
    await call('write of an API client', () => document.set(clientCodec.encode(client)));
  }

  async create(client: ApiClient): ReturnType<ClientRegistry['create']> {
    const document = this.#paths.client(client.id);
    try {
      await call('creation of an API client', () => document.create(clientCodec.encode(client)));
      return { kind: 'created' };
    } catch (error) {
      if (isTaken(error)) return { kind: 'exists' };
      throw error;
    }
  }

  async replace(client: ApiClient, seen: Version): ReturnType<ClientRegistry['replace']> {
    const document = this.#paths.client(client.id);
    try {
      await call('replacement of an API client', () => document.update(whole(client), lastUpdateTime(seen)));
      return { kind: 'replaced' };
    } catch (error) {
      if (isStale(error)) return { kind: 'stale' };
      throw error;
    }
  }

  async list(tenantId: string, limit: number): Promise<readonly ApiClient[]> {
    const own = this.#paths.clients().where('tenantId', '==', tenantId).orderBy(FieldPath.documentId());
    const { docs } = await call('list of API clients', () => own.limit(limit).get());
    return docs.map((found) => clientCodec.decode(found.data(), `API client ${found.id}`));
  }
}

/** An update that leaves nothing of what was there: only updates can carry the precondition of a version. */
function whole(client: ApiClient): Members {
  const members = clientCodec.encode(client);
  return Object.fromEntries(clientCodec.names.map((name) => [name, members[name] ?? FieldValue.delete()]));
}
