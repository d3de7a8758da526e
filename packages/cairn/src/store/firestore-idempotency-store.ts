/** Idempotency records in Firestore, alone or within the commit that starts a run. */
import { type DocumentReference, FieldValue, type Firestore } from '@google-cloud/firestore';
import type { IdempotencyRecord } from '../core/decisions/idempotency.ts';
import type { IdempotencyStore, StoredRecord } from '../ports/idempotency-store.ts';
import type { Version } from '../ports/run-store.ts';
import { call, isStale, isTaken } from './call.ts';
import { encodeRecord, recordCodec } from './codec/access.ts';
import type { Members } from './codec/kinds.ts';
import type { StoreBatch } from './commits/store-batch.ts';
import { Paths } from './paths.ts';
import { lastUpdateTime, versionOf } from './version.ts';

export class FirestoreIdempotencyStore implements IdempotencyStore {
  readonly #paths: Paths;
  readonly #shards: number | undefined;

  /** @param shards that records are written with */
  constructor(db: Firestore, prefix?: string, shards?: number) {
    this.#paths = new Paths(db, prefix);
    this.#shards = shards;
  }

  async read(key: string): Promise<StoredRecord | undefined> {
    const document = this.#paths.idempotencyRecord(key);
    const found = await call('read of an idempotency record', () => document.get());
    const data = found.data();
    if (!data || !found.updateTime) return undefined;
    return {
      record: recordCodec.decode(data, `idempotency record ${key}`),
      version: versionOf(found.updateTime),
    };
  }

  async create(record: IdempotencyRecord): ReturnType<IdempotencyStore['create']> {
    const document = this.#paths.idempotencyRecord(record.key);
    try {
      const { writeTime } = await call('creation of an idempotency record', () =>
        document.create(encodeRecord(record, this.#shards)),
      );
      return { kind: 'created', version: versionOf(writeTime) };
    } catch (error) {
      if (isTaken(error)) return { kind: 'exists' };
      throw error;
    }
  }

  async replace(record: IdempotencyRecord, seen: Version): ReturnType<IdempotencyStore['replace']> {
    const document = this.#paths.idempotencyRecord(record.key);
    try {
      const { writeTime } = await call('replacement of an idempotency record', () =>
        document.update(wholeRecord(record, this.#shards), lastUpdateTime(seen)),
      );
      return { kind: 'replaced', version: versionOf(writeTime) };
    } catch (error) {
      if (isStale(error)) return { kind: 'stale' };
      throw error;
    }
  }
}

/** Adds a record that must not be there to a commit. */
export function createRecord(batch: StoreBatch, { document, record, shards }: RecordCreation): void {
  batch.create(document, encodeRecord(record, shards));
}

export interface RecordCreation {
  readonly document: DocumentReference;
  readonly record: IdempotencyRecord;
  readonly shards: number;
}

export interface RecordReplacement extends RecordCreation {
  readonly seen: Version;
}

/** Adds to a commit that a record takes the place of the version last seen. */
export function replaceRecord(
  batch: StoreBatch,
  { document, record, shards, seen }: RecordReplacement,
): void {
  batch.update(document, wholeRecord(record, shards), lastUpdateTime(seen));
}

/** An update that leaves nothing of the record before: only updates can carry the precondition of a version. */
function wholeRecord(record: IdempotencyRecord, shards: number | undefined): Members {
  const members = encodeRecord(record, shards);
  return Object.fromEntries(recordCodec.names.map((name) => [name, members[name] ?? FieldValue.delete()]));
}
