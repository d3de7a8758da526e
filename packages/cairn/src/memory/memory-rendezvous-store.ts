/** Event mailboxes in memory. */
import {
  type Rendezvous,
  type RendezvousAddress,
  type RendezvousStore,
  rendezvousId,
  type StoredRendezvous,
} from '../ports/rendezvous-store.ts';
import type { Version } from '../ports/run-store.ts';
import { adopt, type MemoryDatabase } from './memory-database.ts';

export class MemoryRendezvousStore implements RendezvousStore {
  readonly #db: MemoryDatabase;

  constructor(db: MemoryDatabase) {
    this.#db = db;
  }

  async read(address: RendezvousAddress): Promise<StoredRendezvous | undefined> {
    return this.#db.rendezvous.get(rendezvousId(address));
  }

  async write(
    address: RendezvousAddress,
    rendezvous: Rendezvous | undefined,
    seen: Version | undefined,
  ): ReturnType<RendezvousStore['write']> {
    const id = rendezvousId(address);
    if (this.#db.rendezvous.get(id)?.version !== seen) return { kind: 'stale' };
    if (rendezvous === undefined) this.#db.rendezvous.delete(id);
    else this.#db.rendezvous.set(id, { rendezvous: adopt(rendezvous), version: this.#db.nextVersion() });
    return { kind: 'written' };
  }
}
