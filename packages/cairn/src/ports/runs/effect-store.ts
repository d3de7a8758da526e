/**
 * The side-effect ledger for its readers, and the writes outside the journal's commits: the response of a call, written immediately,
 * a late response, and everything about effects without a run. Commits of the journal create the rows of runs (run-store.ts).
 * Methods throw `OutcomeUnknown` if it is unknown whether the call was applied.
 */
import type { EffectChange, EffectRecord } from '../../core/effects/effect.ts';
import type { Page, PageRequest, Version } from '../run-store.ts';

export interface StoredEffect {
  readonly record: EffectRecord;
  readonly version: Version;
}

export type EffectChanged =
  | { readonly kind: 'changed'; readonly version: Version }
  /** The row was written concurrently. */
  | { readonly kind: 'stale' };

export type EffectCreated =
  | { readonly kind: 'created'; readonly version: Version }
  | { readonly kind: 'exists' };

export interface RowsNow {
  readonly rows: readonly StoredEffect[];
  readonly readAt: number;
}

export interface EffectStore {
  /** All rows of a key, the newest first; at most MAX_ROWS_PER_KEY. */
  rowsOf(idempotencyKey: string): Promise<readonly StoredEffect[]>;
  read(effectId: string): Promise<StoredEffect | undefined>;
  /** Changes the row if its version is the one last seen. */
  change(effectId: string, seen: Version, change: EffectChange): Promise<EffectChanged>;
  /** Rows of a run, in the order of its calls. */
  listOfRun(runId: string, page: PageRequest): Promise<Page<EffectRecord>>;
}

/** Additional methods for effects without a run. */
export interface ExternalEffectStore extends EffectStore {
  /** {@link EffectStore.rowsOf} with the time of the store at the read, epoch ms. */
  rowsNow(idempotencyKey: string): Promise<RowsNow>;
  /** The row must not exist. */
  create(record: EffectRecord): Promise<EffectCreated>;
  /** Rows of a tenant with a question that was asked at or before that time (`askingSince`), the longest-waiting first. */
  asking(tenantId: string, until: number, limit: number): Promise<AskingRows>;
}

export interface AskingRows {
  readonly items: readonly EffectRecord[];
  /** Ids of rows that cannot be decoded, so that one damaged row does not hide the others. */
  readonly unreadable: readonly string[];
}
