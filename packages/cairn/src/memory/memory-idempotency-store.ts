/** Idempotency records in memory, in the database that starts write them to as well. */
import type { IdempotencyRecord } from '../core/decisions/idempotency.ts';
import { encodeKey } from '../core/encoding/idempotency-keys.ts';
import type { IdempotencyStore, StoredRecord } from '../ports/idempotency-store.ts';
import type { Version } from '../ports/run-store.ts';
import { frozenCopy } from './memory-database.ts';
import { MemoryStore } from './memory-store.ts';

export class MemoryIdempotencyStore extends MemoryStore implements IdempotencyStore {
  async read(key: string): Promise<StoredRecord | undefined> {
    encodeKey(key);
    return this.db.records.get(key);
  }

  async create(record: IdempotencyRecord): ReturnType<IdempotencyStore['create']> {
    encodeKey(record.key);
    if (this.db.records.has(record.key)) return { kind: 'exists' };
    return { kind: 'created', version: this.#write(record) };
  }

  async replace(record: IdempotencyRecord, seen: Version): ReturnType<IdempotencyStore['replace']> {
    if (this.db.records.get(record.key)?.version !== seen) return { kind: 'stale' };
    return { kind: 'replaced', version: this.#write(record) };
  }

  #write(record: IdempotencyRecord): Version {
    const version = this.db.nextVersion();
    this.db.records.set(record.key, { record: frozenCopy(record), version });
    return version;
  }
}
