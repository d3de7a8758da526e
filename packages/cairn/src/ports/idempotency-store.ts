/** Idempotency records, for requests whose work cannot share the record's commit, and for look-ups. */
import type { IdempotencyRecord } from '../core/decisions/idempotency.ts';
import type { Version } from './run-store.ts';

export interface StoredRecord {
  readonly record: IdempotencyRecord;
  readonly version: Version;
}

/** Throws `OutcomeUnknown` if it is unknown whether a write was applied. */
export interface IdempotencyStore {
  read(key: string): Promise<StoredRecord | undefined>;
  /** Creates the record if none exists. `exists`: another record exists, and nothing was written. */
  create(
    record: IdempotencyRecord,
  ): Promise<{ readonly kind: 'created'; readonly version: Version } | { readonly kind: 'exists' }>;
  /** Replaces the version last seen. `stale`: another write won. */
  replace(
    record: IdempotencyRecord,
    seen: Version,
  ): Promise<{ readonly kind: 'replaced'; readonly version: Version } | { readonly kind: 'stale' }>;
}
