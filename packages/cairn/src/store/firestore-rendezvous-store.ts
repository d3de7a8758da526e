/** Event mailboxes in Firestore. */
import { FieldValue, type Firestore } from '@google-cloud/firestore';
import type {
  Rendezvous,
  RendezvousAddress,
  RendezvousStore,
  StoredRendezvous,
} from '../ports/rendezvous-store.ts';
import type { Version } from '../ports/run-store.ts';
import { call, isStale, isTaken } from './call.ts';
import type { Members } from './codec/kinds.ts';
import { rendezvousCodec } from './codec/rendezvous.ts';
import { Paths } from './paths.ts';
import { lastUpdateTime, versionOf } from './version.ts';

export class FirestoreRendezvousStore implements RendezvousStore {
  readonly #paths: Paths;

  constructor(db: Firestore, prefix?: string) {
    this.#paths = new Paths(db, prefix);
  }

  async read(address: RendezvousAddress): Promise<StoredRendezvous | undefined> {
    const document = this.#paths.rendezvous(address);
    const found = await call('read of a rendezvous', () => document.get());
    const data = found.data();
    if (!data || !found.updateTime) return undefined;
    return {
      rendezvous: rendezvousCodec.decode(data, `rendezvous ${document.id}`),
      version: versionOf(found.updateTime),
    };
  }

  async write(
    address: RendezvousAddress,
    rendezvous: Rendezvous | undefined,
    seen: Version | undefined,
  ): ReturnType<RendezvousStore['write']> {
    const document = this.#paths.rendezvous(address);
    try {
      await call('write of a rendezvous', async () => {
        if (rendezvous === undefined) {
          if (seen !== undefined) await document.delete(lastUpdateTime(seen));
        } else if (seen === undefined) await document.create(rendezvousCodec.encode(rendezvous));
        else await document.update(whole(rendezvous), lastUpdateTime(seen));
      });
      return { kind: 'written' };
    } catch (error) {
      if (isTaken(error) || isStale(error)) return { kind: 'stale' };
      throw error;
    }
  }
}

/** An update that leaves nothing of what was there: only updates can carry the precondition of a version. */
function whole(rendezvous: Rendezvous): Members {
  const members = rendezvousCodec.encode(rendezvous);
  return Object.fromEntries(
    rendezvousCodec.names.map((name) => [name, members[name] ?? FieldValue.delete()]),
  );
}
