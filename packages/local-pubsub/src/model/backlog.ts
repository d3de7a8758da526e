/**
 * Unacknowledged messages of one subscription. Owns redelivery and the order within a key. Takes the time as an argument;
 * independent of message bodies, storage and transport.
 *
 * Ordering, as Pub/Sub documents it: several messages of a key may be outstanding, in order and with one consumer. When
 * one is returned, all later ones of its key are redelivered after it, acknowledged or not.
 */
import { DueHeap } from '@cairn/local-tasks/due-heap';
import { type Consumer, hasRoom, Leases, type MessageLease } from './leases.ts';

export interface WaitingMessage {
  readonly id: number;
  /** Ordering key; empty: unordered. */
  readonly key: string;
  readonly bytes: number;
  readonly publishedAt: number;
  /** Deliveries that failed so far. */
  readonly failures: number;
}

export interface Delivery {
  readonly id: number;
  readonly ackId: string;
  /** From 1. */
  readonly attempt: number;
}

interface TakeOptions {
  readonly now: number;
  readonly leaseMs: number;
  readonly most: number;
  /** Limit of the total size; the first message is always taken. */
  readonly mostBytes: number;
}

interface BacklogRules {
  /** Pause before the next delivery, by the number of failed ones. */
  pauseMs(failures: number): number;
  /** At most one message of a key is outstanding at a time, as for push. */
  readonly oneOfKey: boolean;
  readonly generation: string;
  /** True if an acknowledgement is refused while an earlier message of its key is outstanding. */
  confirmed(): boolean;
}

/** Result of an acknowledgement. Unknown: the id is invalid or expired. */
export type Acknowledgement = 'acked' | 'unknown' | 'unordered';

/** Receives results for messages; the caller stores them. */
interface BacklogEvents {
  acked(id: number): void;
  /** A delivery failed. @returns true if the message is dead-lettered and leaves the backlog */
  failed(id: number, failures: number): boolean;
}

interface BacklogEntry extends WaitingMessage {
  failures: number;
  /** `acked`: acknowledged while an earlier message of its key is outstanding. */
  state: 'waiting' | 'leased' | 'acked' | 'gone';
  dueAt: number;
  lease: MessageLease<BacklogEntry> | undefined;
  /** Current slot in a heap; older ones are skipped. */
  slot: Slot | undefined;
}

interface Slot {
  readonly dueAt: number;
  readonly order: number;
  readonly entry: BacklogEntry;
}

/** The messages of one key in order. All before `next` are leased or acked, the first of them leased. */
interface KeyQueue {
  readonly key: string;
  readonly entries: BacklogEntry[];
  next: number;
  /** Consumer that holds the outstanding messages. */
  owner: Consumer | undefined;
  leased: number;
}

export class Backlog {
  readonly #rules: BacklogRules;
  readonly #events: BacklogEvents;
  readonly #entries = new Map<number, BacklogEntry>();
  readonly #keys = new Map<string, KeyQueue>();
  readonly #leases: Leases<BacklogEntry>;
  readonly #ready = new DueHeap<Slot>();
  /** Next messages of keys with outstanding messages at one consumer, which no other consumer may take. */
  readonly #owned = new Map<Consumer, DueHeap<Slot>>();

  constructor(rules: BacklogRules, events: BacklogEvents) {
    this.#rules = rules;
    this.#events = events;
    this.#leases = new Leases(rules.generation);
  }

  /** Number of unacknowledged messages. */
  get size(): number {
    return this.#entries.size;
  }

  /** @param message has a larger id than all before, because ids define the order */
  add(message: WaitingMessage, dueAt: number): void {
    const entry: BacklogEntry = { ...message, state: 'waiting', dueAt, lease: undefined, slot: undefined };
    this.#entries.set(entry.id, entry);
    if (entry.key === '') {
      enqueue(entry, this.#ready);
      return;
    }
    const { key } = entry;
    const queue = this.#keys.get(key) ?? { key, entries: [], next: 0, owner: undefined, leased: 0 };
    this.#keys.set(key, queue);
    queue.entries.push(entry);
    if (queue.entries[queue.next] === entry) this.#offer(queue);
  }

  /** Leases due messages to `consumer`, within its limits. */
  take(consumer: Consumer, { now, leaseMs, most, mostBytes }: TakeOptions): Delivery[] {
    const taken: Delivery[] = [];
    let bytes = 0;
    while (taken.length < most && bytes < mostBytes && hasRoom(consumer)) {
      const entry = this.#nextFor(consumer, now);
      if (entry === undefined) break;
      bytes += entry.bytes;
      taken.push(this.#lease(entry, consumer, now + leaseMs));
    }
    return taken;
  }

  /** Returns true if the id is that of a current delivery. */
  knows(ackId: string): boolean {
    return this.#leases.get(ackId) !== undefined;
  }

  ack(ackId: string): Acknowledgement {
    const lease = this.#leases.get(ackId);
    if (lease === undefined) return 'unknown';
    const { entry } = lease;
    const first = this.#keys.get(entry.key)?.entries[0];
    if (first !== undefined && first !== entry && this.#rules.confirmed()) return 'unordered';
    const queue = this.#endLease(lease);
    if (queue) {
      entry.state = 'acked';
      this.#settleHead(queue);
    } else {
      this.#forget(entry);
      this.#events.acked(entry.id);
    }
    return 'acked';
  }

  /** @returns false for an invalid or expired id */
  extend(ackId: string, until: number): boolean {
    const lease = this.#leases.get(ackId);
    if (lease) this.#leases.extend(lease, until);
    return lease !== undefined;
  }

  /** Counts a failed delivery and returns the message to the backlog. @returns false for an invalid or expired id */
  nack(ackId: string, now: number): boolean {
    const lease = this.#leases.get(ackId);
    if (lease) this.#fail(lease, now);
    return lease !== undefined;
  }

  /** Returns messages to the backlog that were not acknowledged in time. */
  expire(now: number): void {
    for (let first = this.#leases.first(); first && first.dueAt <= now; first = this.#leases.first()) {
      this.#fail(first.lease, now);
    }
  }

  /** Drops messages published before `cutoff`, whatever their state. @returns whether there were any */
  dropBefore(cutoff: number): boolean {
    const { size } = this;
    for (const entry of this.#entries.values()) {
      if (entry.publishedAt >= cutoff) break;
      if (entry.lease) this.#endLease(entry.lease);
      this.#remove(entry);
    }
    return this.size < size;
  }

  /** Restarts the count of failures. */
  forgetFailures(): void {
    for (const entry of this.#entries.values()) entry.failures = 0;
  }

  /** Ends all leases, before the backlog is replaced by another one. */
  abandon(): void {
    for (const lease of this.#leases.all()) this.#leases.end(lease);
  }

  /** Time at which the next lease or pause ends; undefined if there is none. */
  nextChange(now: number): number | undefined {
    const due = [this.#ready, ...this.#owned.values()].map((heap) => top(heap)?.dueAt ?? 0);
    const times = due.filter((time) => time > now);
    const first = this.#leases.first()?.dueAt;
    if (first !== undefined) times.push(first);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  #nextFor(consumer: Consumer, now: number): BacklogEntry | undefined {
    const owned = this.#owned.get(consumer);
    const ownMessages = owned && due(owned, now);
    const anyone = due(this.#ready, now);
    if (ownMessages === undefined || anyone === undefined) return (ownMessages ?? anyone)?.entry;
    return (ownMessages.order < anyone.order ? ownMessages : anyone).entry;
  }

  #lease(entry: BacklogEntry, consumer: Consumer, until: number): Delivery {
    const lease = this.#leases.grant(entry, consumer, until);
    entry.slot = undefined;
    entry.state = 'leased';
    entry.lease = lease;
    const queue = this.#keys.get(entry.key);
    if (queue) {
      queue.next++;
      queue.leased++;
      queue.owner = consumer;
      this.#offer(queue);
    }
    return { id: entry.id, ackId: lease.ackId, attempt: entry.failures + 1 };
  }

  /** @returns the key's queue, if any, which must be offered again */
  #endLease(lease: MessageLease<BacklogEntry>): KeyQueue | undefined {
    const { entry, consumer } = lease;
    this.#leases.end(lease);
    entry.lease = undefined;
    if (consumer.outstanding === 0) this.#owned.delete(consumer);
    const queue = this.#keys.get(entry.key);
    if (queue && --queue.leased === 0) queue.owner = undefined;
    return queue;
  }

  #fail(lease: MessageLease<BacklogEntry>, now: number): void {
    const { entry } = lease;
    const queue = this.#endLease(lease);
    entry.failures++;
    if (this.#events.failed(entry.id, entry.failures)) {
      this.#remove(entry);
      return;
    }
    entry.state = 'waiting';
    entry.dueAt = now + this.#rules.pauseMs(entry.failures);
    if (queue) this.#rewind(queue, entry);
    else enqueue(entry, this.#ready);
  }

  /** All later messages of the key are redelivered; their acknowledgements no longer count. */
  #rewind(queue: KeyQueue, from: BacklogEntry): void {
    const at = queue.entries.indexOf(from);
    const offered = queue.entries[queue.next];
    if (offered) offered.slot = undefined;
    for (const later of queue.entries.slice(at + 1, queue.next)) {
      if (later.lease) this.#endLease(later.lease);
      later.state = 'waiting';
    }
    queue.next = at;
    this.#offer(queue);
  }

  /** Completes acknowledged messages that no longer have an earlier one before them. */
  #settleHead(queue: KeyQueue): void {
    for (let head = queue.entries[0]; head?.state === 'acked'; head = queue.entries[0]) {
      queue.entries.shift();
      queue.next--;
      this.#forget(head);
      this.#events.acked(head.id);
    }
    this.#offer(queue);
  }

  /** Removes the message from the backlog and from its key. */
  #remove(entry: BacklogEntry): void {
    this.#forget(entry);
    const queue = this.#keys.get(entry.key);
    if (queue === undefined) return;
    const at = queue.entries.indexOf(entry);
    queue.entries.splice(at, 1);
    if (at < queue.next) queue.next--;
    this.#settleHead(queue);
  }

  #forget(entry: BacklogEntry): void {
    entry.state = 'gone';
    entry.slot = undefined;
    this.#entries.delete(entry.id);
  }

  /** Queues the key's next message for the consumers that may take it. */
  #offer(queue: KeyQueue): void {
    const entry = queue.entries[queue.next];
    if (queue.entries.length === 0) this.#keys.delete(queue.key);
    if (entry === undefined) return;
    if (queue.owner === undefined) enqueue(entry, this.#ready);
    else if (this.#rules.oneOfKey) entry.slot = undefined;
    else enqueue(entry, this.#heapOf(queue.owner));
  }

  #heapOf(consumer: Consumer): DueHeap<Slot> {
    const heap = this.#owned.get(consumer) ?? new DueHeap<Slot>();
    this.#owned.set(consumer, heap);
    return heap;
  }
}

function enqueue(entry: BacklogEntry, heap: DueHeap<Slot>): void {
  entry.slot = { dueAt: entry.dueAt, order: entry.id, entry };
  heap.push(entry.slot);
}

const due = (heap: DueHeap<Slot>, now: number): Slot | undefined => {
  const slot = top(heap);
  return slot !== undefined && slot.dueAt <= now ? slot : undefined;
};

function top(heap: DueHeap<Slot>): Slot | undefined {
  for (;;) {
    const slot = heap.peek();
    if (slot === undefined || slot.entry.slot === slot) return slot;
    heap.pop();
  }
}
