/**
 * What optimistic transactions have read. They lock nothing and keep nobody waiting; whoever commits a change of what one
 * has read makes it fail instead, so that all it has read is true up to its own commit. Owns who has read what; knows
 * neither storage nor requests.
 */
import { type LockedRange, type LockOwner, touches, type WriteIntent } from './lock-need.ts';

interface Seen {
  readonly names: Set<string>;
  readonly ranges: LockedRange[];
}

export class OptimisticReads {
  readonly #seen = new Map<LockOwner, Seen>();

  /** To be called in the same step as the read. */
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

  /** To be called in the same step as the commit that changes these documents. */
  changed(intents: readonly WriteIntent[], by: LockOwner): void {
    for (const [owner, seen] of this.#seen) {
      if (owner === by || !intents.some((intent) => isOf(intent, seen))) continue;
      this.#seen.delete(owner);
      owner.aborted(
        'Aborted: what this transaction has read was changed meanwhile. Try the transaction again.',
      );
    }
  }

  #of(owner: LockOwner): Seen {
    let seen = this.#seen.get(owner);
    if (!seen) {
      seen = { names: new Set(), ranges: [] };
      this.#seen.set(owner, seen);
    }
    return seen;
  }
}

function isOf(intent: WriteIntent, { names, ranges }: Seen): boolean {
  return names.has(intent.name) || ranges.some((range) => touches(intent, range));
}
