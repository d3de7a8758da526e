/**
 * Pessimistic locks, as for server clients in production. Reads of a read-write transaction (documents and query ranges) stay
 * locked until it ends; writers wait. Writers hold no locks, because a commit is one step of this single-threaded process. Owns
 * the wait graph; independent of storage and requests.
 *
 * Priority is by age. An older reader overtakes a younger waiting writer; a younger reader waits behind an older writer. The commit of a
 * transaction aborts younger readers, and the youngest member of a deadlock is aborted.
 */
import { collectionIdOf } from '../../model/resource-name.ts';
import { CONTENTION, Code, StatusError } from '../../model/status.ts';
import { isIn, type LockedRange, type LockNeed, type LockOwner, touches } from './lock-need.ts';
import { circleThrough } from './wait-graph.ts';

interface WaitingLock {
  readonly owner: LockOwner;
  readonly need: LockNeed;
  readonly deadline: number;
  grant(): void;
  refuse(error: StatusError): void;
}

interface HeldRange {
  readonly owner: LockOwner;
  readonly range: LockedRange;
}

interface HeldLocks {
  readonly names: Set<string>;
  readonly ranges: HeldRange[];
}

/** Key of ranges over every collection; no collection id contains a slash. */
const EVERY_COLLECTION = '/';
/** Time a writer waits for readers before it is aborted. */
const LOCK_TIMEOUT_MS = 10_000;

export class LockTable {
  readonly #clock: () => number;
  readonly #timeoutMs: number;
  readonly #documents = new Map<string, Set<LockOwner>>();
  readonly #ranges = new Map<string, Set<HeldRange>>();
  readonly #held = new Map<LockOwner, HeldLocks>();
  #waiting: WaitingLock[] = [];
  #pumping = false;

  constructor(options: { clock: () => number; timeoutMs?: number | undefined }) {
    this.#clock = options.clock;
    this.#timeoutMs = options.timeoutMs ?? LOCK_TIMEOUT_MS;
  }

  /** Number of waiting requests. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Runs `action` once it does not conflict, in one step with the check.
   *
   * @throws ABORTED after a deadlock or a timeout
   */
  run<T>(owner: LockOwner, need: LockNeed, action: () => T): T | Promise<T> {
    if (this.#isFree() || this.#blockers(owner, need).size === 0) return this.#granted(owner, action);
    if (need.kind === 'write' && owner.wounds) {
      this.#wound(owner, need);
      if (this.#blockers(owner, need).size === 0) return this.#granted(owner, action);
    }
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({
        owner,
        need,
        deadline: this.#clock() + this.#timeoutMs,
        grant: () => {
          try {
            resolve(this.#granted(owner, action));
          } catch (error) {
            reject(error);
          }
        },
        refuse: reject,
      });
      this.#waiting.sort((a, b) => a.owner.age - b.owner.age);
      this.#breakDeadlocks(owner);
    });
  }

  /** Call within the action that reads the documents. */
  holdDocuments(owner: LockOwner, names: Iterable<string>): void {
    const held = this.#heldBy(owner);
    for (const name of names) {
      add(this.#documents, name, owner);
      held.names.add(name);
    }
  }

  holdRange(owner: LockOwner, range: LockedRange): void {
    const entry = { owner, range };
    add(this.#ranges, rangeKey(range), entry);
    this.#heldBy(owner).ranges.push(entry);
  }

  /** Releases the owner's locks and refuses its waiting requests. */
  release(owner: LockOwner, reason = 'The transaction has ended.'): void {
    const held = this.#held.get(owner);
    if (held) {
      for (const name of held.names) remove(this.#documents, name, owner);
      for (const entry of held.ranges) remove(this.#ranges, rangeKey(entry.range), entry);
      this.#held.delete(owner);
    }
    if (this.#waiting.length === 0) return;
    const ownLocks = this.#waiting.filter((w) => w.owner === owner);
    this.#waiting = this.#waiting.filter((w) => w.owner !== owner);
    for (const waiting of ownLocks) waiting.refuse(new StatusError(Code.ABORTED, reason));
    this.#pump();
  }

  /** Releases the locks of all these owners, and grants none of their waiting requests meanwhile. */
  releaseAll(owners: ReadonlySet<LockOwner>, reason: string): void {
    const refused = this.#waiting.filter(({ owner }) => owners.has(owner));
    this.#waiting = this.#waiting.filter(({ owner }) => !owners.has(owner));
    for (const waiting of refused) waiting.refuse(new StatusError(Code.ABORTED, reason));
    for (const owner of owners) this.release(owner, reason);
  }

  /** Refuses owners that have waited too long. */
  sweep(): void {
    const now = this.#clock();
    for (const waiting of this.#waiting.filter((w) => w.deadline <= now)) {
      this.#abort(waiting.owner, 'Transaction lock timeout.');
    }
  }

  /** A granted read lock can complete a deadlock cycle with waiting owners. */
  #granted<T>(owner: LockOwner, action: () => T): T {
    const result = action();
    if (this.#waiting.length > 0) this.#breakDeadlocks(owner);
    return result;
  }

  #heldBy(owner: LockOwner): HeldLocks {
    let held = this.#held.get(owner);
    if (!held) {
      held = { names: new Set(), ranges: [] };
      this.#held.set(owner, held);
    }
    return held;
  }

  #isFree(): boolean {
    return this.#documents.size === 0 && this.#ranges.size === 0 && this.#waiting.length === 0;
  }

  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    try {
      for (;;) {
        const next = this.#waiting.find((w) => this.#blockers(w.owner, w.need).size === 0);
        if (!next) return;
        this.#waiting = this.#waiting.filter((w) => w !== next);
        next.grant();
      }
    } finally {
      this.#pumping = false;
    }
  }

  #blockers(owner: LockOwner, need: LockNeed): Set<LockOwner> {
    const blockers = need.kind === 'write' ? this.#readersOf(need) : this.#writersBefore(owner, need);
    blockers.delete(owner);
    return blockers;
  }

  /** Readers of the documents that this write changes. */
  #readersOf(need: LockNeed & { kind: 'write' }): Set<LockOwner> {
    const owners = new Set<LockOwner>();
    for (const name of need.names) for (const owner of this.#documents.get(name) ?? []) owners.add(owner);
    if (!this.#mayMeetRange(need.names)) return owners;
    for (const intent of need.intents()) {
      for (const id of [intent.collectionId, EVERY_COLLECTION]) {
        for (const held of this.#ranges.get(id) ?? []) {
          if (touches(intent, held.range)) owners.add(held.owner);
        }
      }
    }
    return owners;
  }

  /** Cheap check that is false for most writes, so that their changes need not be computed. */
  #mayMeetRange(names: readonly string[]): boolean {
    if (this.#ranges.size === 0) return false;
    return this.#ranges.has(EVERY_COLLECTION) || names.some((name) => this.#ranges.has(collectionIdOf(name)));
  }

  /** Older writers that wait for the documents of this read. They have priority, so that readers do not starve them. */
  #writersBefore(owner: LockOwner, need: LockNeed & { kind: 'read' | 'query' }): Set<LockOwner> {
    const owners = new Set<LockOwner>();
    for (const waiting of this.#waiting) {
      if (waiting.owner.age >= owner.age) break;
      const write = waiting.need;
      if (write.kind !== 'write') continue;
      const meets =
        need.kind === 'read'
          ? need.names.some((name) => write.names.includes(name))
          : write.names.some((name) => isIn(need.range, collectionIdOf(name))) &&
            write.intents().some((intent) => touches(intent, need.range));
      if (meets) owners.add(waiting.owner);
    }
    return owners;
  }

  /** A new cycle includes the owner that has just started to wait, or has just got a lock. */
  #breakDeadlocks(owner: LockOwner): void {
    const waitsFor = (waiter: LockOwner) => this.#waitsFor(waiter);
    for (let found = circleThrough(owner, waitsFor); found; found = circleThrough(owner, waitsFor)) {
      const youngest = found.reduce((a, b) => (b.age > a.age ? b : a));
      this.#abort(youngest, CONTENTION);
    }
  }

  #wound(owner: LockOwner, need: LockNeed): void {
    for (const blocker of this.#blockers(owner, need)) {
      if (blocker.age > owner.age && !blocker.isDecided) {
        this.#abort(blocker, CONTENTION);
      }
    }
  }

  #waitsFor(owner: LockOwner): Set<LockOwner> {
    const blockers = new Set<LockOwner>();
    for (const waiting of this.#waiting) {
      if (waiting.owner !== owner) continue;
      for (const blocker of this.#blockers(owner, waiting.need)) blockers.add(blocker);
    }
    return blockers;
  }

  #abort(owner: LockOwner, reason: string): void {
    owner.aborted(reason);
    this.release(owner, reason);
  }
}

function add<K, V>(map: Map<K, Set<V>>, key: K, value: V): void {
  const set = map.get(key);
  if (set) set.add(value);
  else map.set(key, new Set([value]));
}

function remove<K, V>(map: Map<K, Set<V>>, key: K, value: V): void {
  const set = map.get(key);
  if (set?.delete(value) && set.size === 0) map.delete(key);
}

function rangeKey(range: LockedRange): string {
  return range.collectionId ?? EVERY_COLLECTION;
}
