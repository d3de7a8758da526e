/**
 * Reads of optimistic transactions. They take no locks, read the moment of their first read, and commit only if their reads are
 * still valid. Owns the read sets.
 */
import type { Candidate } from '../../model/query/match.ts';
import { collectionIdOf } from '../../model/resource-name.ts';
import type { StoredDocument } from '../../storage/document-storage.ts';
import { decodeDocument } from '../../wire/document-codec.ts';
import { type LockedRange, type LockOwner, touches } from './lock-need.ts';
import type { Snapshot } from './snapshot.ts';

interface ReadSet {
  readonly names: Set<string>;
  readonly ranges: LockedRange[];
}

export class OptimisticReads {
  readonly #seen = new Map<LockOwner, ReadSet>();

  sawDocuments(owner: LockOwner, names: Iterable<string>): void {
    const { names: known } = this.#of(owner);
    for (const name of names) known.add(name);
  }

  sawRange(owner: LockOwner, range: LockedRange): void {
    this.#of(owner).ranges.push(range);
  }

  forget(owner: LockOwner): void {
    this.#seen.delete(owner);
  }

  /** True if a document that the owner has read at `snapshot` has changed. `current` returns the current document. */
  isStale(
    owner: LockOwner,
    snapshot: Snapshot,
    current: (name: string) => StoredDocument | undefined,
  ): boolean {
    const seen = this.#seen.get(owner);
    if (!seen) return false;
    for (const [name, stored] of snapshot.replaced()) {
      if (seen.names.has(name)) return true;
      if (seen.ranges.length === 0) continue;
      const before = toCandidate(name, stored);
      const after = toCandidate(name, current(name));
      const intent = { name, collectionId: collectionIdOf(name), before, after };
      if (seen.ranges.some((range) => touches(intent, range))) return true;
    }
    return false;
  }

  #of(owner: LockOwner): ReadSet {
    let seen = this.#seen.get(owner);
    if (!seen) {
      seen = { names: new Set(), ranges: [] };
      this.#seen.set(owner, seen);
    }
    return seen;
  }
}

function toCandidate(name: string, stored: StoredDocument | undefined): Candidate | undefined {
  return stored && { name, fields: decodeDocument(stored.body).fields };
}
