/** The locks that reads and writes need. Pure. */
import type { Candidate } from '../../model/query/match.ts';

/** A transaction, or one plain write. Smaller `age` is older. */
export interface LockOwner {
  readonly age: number;
  /** True for a pessimistic transaction: its commit aborts younger readers instead of waiting for them (wound-wait). */
  readonly wounds: boolean;
  /** True once its commit is applied: it can no longer be aborted, and its locks end when the commit is durable. */
  readonly isDecided: boolean;
  /** Called when the owner lost a deadlock or timed out; its locks are released by then. */
  aborted(reason: string): void;
}

/** A document before and after a write; undefined where it does not exist. */
export interface WriteIntent {
  readonly name: string;
  readonly collectionId: string;
  readonly before: Candidate | undefined;
  readonly after: Candidate | undefined;
}

/** Range read by a query: every document, present or future, for which `covers` is true. */
export interface LockedRange {
  /** Undefined: documents of every collection id. */
  readonly collectionId: string | undefined;
  covers(candidate: Candidate): boolean;
}

export type LockNeed =
  | { readonly kind: 'read'; readonly names: readonly string[] }
  | { readonly kind: 'query'; readonly range: LockedRange }
  | { readonly kind: 'write'; readonly names: readonly string[]; intents(): readonly WriteIntent[] };

export function isIn(range: LockedRange, collectionId: string): boolean {
  return range.collectionId === undefined || range.collectionId === collectionId;
}

export function touches(intent: WriteIntent, range: LockedRange): boolean {
  if (!isIn(range, intent.collectionId)) return false;
  const { before, after } = intent;
  return (before !== undefined && range.covers(before)) || (after !== undefined && range.covers(after));
}
