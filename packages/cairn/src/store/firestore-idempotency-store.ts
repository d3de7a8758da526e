/** Idempotency records in Firestore, alone or within the commit that starts a run. */
import type { Firestore } from '@google-cloud/firestore';
import type { IdempotencyRecord } from '../core/decisions/idempotency.ts';
import type { IdempotencyStore, StoredRecord } from '../ports/idempotency-store.ts';
import type { Version } from '../ports/run-store.ts';
import { encodeRecord, recordCodec } from './codec/access.ts';
import type { Members } from './codec/kinds.ts';
import type { StoreBatch } from './commits/store-batch.ts';
import { FirestoreStore } from './firestore-store.ts';
import { lastUpdateTime } from './version.ts';
import { changedVersion, createdVersion, readVersioned, wholeUpdate } from './versioned-document.ts';

export class FirestoreIdempotencyStore extends FirestoreStore implements IdempotencyStore {
  readonly #shards: number | undefined;

  /** @param shards number of shards over which records are spread */
  constructor(db: Firestore, prefix?: string, shards?: number) {
    super(db, prefix);
    this.#shards = shards;
  }

  async read(key: string): Promise<StoredRecord | undefined> {
    const named = { what: 'read of an idempotency record', name: `idempotency record ${key}` };
    const found = await readVersioned(this.paths.idempotencyRecord(key), recordCodec, named);
    return found && { record: found.value, version: found.version };
  }

  async create(record: IdempotencyRecord): ReturnType<IdempotencyStore['create']> {
    const document = this.paths.idempotencyRecord(record.key);
    const members = encodeRecord(record, this.#shards);
    const version = await createdVersion('creation of an idempotency record', () => document.create(members));
    return version === undefined ? { kind: 'exists' } : { kind: 'created', version };
  }

  async replace(record: IdempotencyRecord, seen: Version): ReturnType<IdempotencyStore['replace']> {
    const document = this.paths.idempotencyRecord(record.key);
    const members = wholeRecord(record, this.#shards);
    const version = await changedVersion('replacement of an idempotency record', () =>
      document.update(members, lastUpdateTime(seen)),
    );
    return version === undefined ? { kind: 'stale' } : { kind: 'replaced', version };
  }
}

/** Adds the creation of a record to a commit. The record must not exist. */
export function createRecord(batch: StoreBatch, { path, record, shards }: RecordCreation): void {
  batch.create(path, encodeRecord(record, shards));
}

interface RecordCreation {
  readonly path: string;
  readonly record: IdempotencyRecord;
  readonly shards: number;
}

interface RecordReplacement extends RecordCreation {
  readonly seen: Version;
}

/** Adds to a commit the replacement of the version of a record that was last seen. */
export function replaceRecord(batch: StoreBatch, { path, record, shards, seen }: RecordReplacement): void {
  batch.update(path, wholeRecord(record, shards), lastUpdateTime(seen));
}

function wholeRecord(record: IdempotencyRecord, shards: number | undefined): Members {
  return wholeUpdate({ ...recordCodec, encode: (whole) => encodeRecord(whole, shards) }, record);
}
