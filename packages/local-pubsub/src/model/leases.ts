/**
 * Outstanding deliveries by ack id: holder and deadline of each message. Owns the deadlines and the consumers'
 * counters; independent of order and redelivery.
 */
import { DueHeap } from '@cairn/local-tasks/due-heap';

/** A consumer of messages, with the counters of its outstanding ones. */
export interface Consumer {
  readonly maxMessages: number;
  readonly maxBytes: number;
  outstanding: number;
  outstandingBytes: number;
}

interface Leased {
  readonly id: number;
  readonly bytes: number;
}

export interface MessageLease<T extends Leased> {
  readonly ackId: string;
  readonly entry: T;
  readonly consumer: Consumer;
  /** Current deadline; older ones are skipped. */
  slot: Deadline<T> | undefined;
}

interface Deadline<T extends Leased> {
  readonly dueAt: number;
  readonly order: number;
  readonly lease: MessageLease<T>;
}

export class Leases<T extends Leased> {
  readonly #generation: string;
  readonly #leases = new Map<string, MessageLease<T>>();
  readonly #deadlines = new DueHeap<Deadline<T>>();
  #count = 0;

  /** @param generation part of every ack id, so that those of other starts and subscriptions are invalid */
  constructor(generation: string) {
    this.#generation = generation;
  }

  get(ackId: string): MessageLease<T> | undefined {
    return this.#leases.get(ackId);
  }

  all(): MessageLease<T>[] {
    return [...this.#leases.values()];
  }

  grant(entry: T, consumer: Consumer, until: number): MessageLease<T> {
    const ackId = `${this.#generation}.${entry.id}.${++this.#count}`;
    const lease: MessageLease<T> = { ackId, entry, consumer, slot: undefined };
    this.#leases.set(ackId, lease);
    this.extend(lease, until);
    consumer.outstanding++;
    consumer.outstandingBytes += entry.bytes;
    return lease;
  }

  end({ ackId, consumer, entry }: MessageLease<T>): void {
    const lease = this.#leases.get(ackId);
    if (lease === undefined) return;
    this.#leases.delete(ackId);
    lease.slot = undefined;
    consumer.outstanding--;
    consumer.outstandingBytes -= entry.bytes;
  }

  extend(lease: MessageLease<T>, until: number): void {
    lease.slot = { dueAt: until, order: lease.entry.id, lease };
    this.#deadlines.push(lease.slot);
  }

  /** The earliest deadline with its lease. */
  first(): Deadline<T> | undefined {
    for (;;) {
      const slot = this.#deadlines.peek();
      if (slot === undefined || slot.lease.slot === slot) return slot;
      this.#deadlines.pop();
    }
  }
}

export const hasRoom = ({ maxMessages, maxBytes, outstanding, outstandingBytes }: Consumer) =>
  outstanding < maxMessages && outstandingBytes < maxBytes;
