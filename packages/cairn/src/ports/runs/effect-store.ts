/**
 * The side-effect ledger as its readers see it, and the writes that are made outside the journal's commits: the answer
 * of a call, written as soon as it is there, a late one, and all of effects without a run. Rows of runs are created by commits of
 * the journal (run-store.ts).
 * Methods throw `OutcomeUnknown` where they cannot know whether the call was applied.
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
  /** Under the version its writer last saw. */
  change(effectId: string, seen: Version, change: EffectChange): Promise<EffectChanged>;
  /** Rows that a run made, in the order in which it made them. */
  listOfRun(runId: string, page: PageRequest): Promise<Page<EffectRecord>>;
}

/** Additional methods for effects without a run. */
export interface ExternalEffectStore extends EffectStore {
  /** {@link EffectStore.rowsOf} with the time of the store at the read, epoch ms. */
  rowsNow(idempotencyKey: string): Promise<RowsNow>;
  /** The row must not exist. */
  create(record: EffectRecord): Promise<EffectCreated>;
  /** Rows of a tenant by which a person has been asked until that time (`askingSince`), the longest-waiting first. */
  asking(tenantId: string, until: number, limit: number): Promise<AskingRows>;
}

export interface AskingRows {
  readonly items: readonly EffectRecord[];
  /** Ids of rows that cannot be decoded: one damaged row must not hide the others. */
  readonly unreadable: readonly string[];
}
