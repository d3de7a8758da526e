/**
 * Holders of messages: the rows of `pending`, and the held messages. Deletes a message once it has no holder. Each call is
 * part of the caller's transaction.
 */
import type { WaitingMessage } from '../model/backlog.ts';
import type { DeliveryWrite, PubsubDatabase } from './tables.ts';

/** The subscription of a seek. */
export interface SeekTarget {
  readonly subscription: string;
  /** True if it retains acknowledged messages. */
  readonly retain: boolean;
  wants(attributes: Readonly<Record<string, string>>): boolean;
}

export class MessageHolders {
  readonly #db: PubsubDatabase;

  constructor(db: PubsubDatabase) {
    this.#db = db;
  }

  /** Unacknowledged messages of the subscription, oldest first. */
  pending(subscription: string): WaitingMessage[] {
    return this.#db.statements.pending.all(subscription) as unknown as WaitingMessage[];
  }

  /** Publish time of the oldest unacknowledged message of the subscription. */
  oldest(subscription: string): number | undefined {
    const published = this.#db.statements.oldest.get(subscription)?.published;
    return published === null || published === undefined ? undefined : Number(published);
  }

  /** Makes the snapshot a holder of the unacknowledged messages of the subscription. */
  capture(snapshot: string, subscription: string): void {
    this.#db.statements.capture.run(snapshot, subscription);
  }

  /**
   * Acknowledges messages published before `time`; later retained ones, also those retained by the topic, become
   * unacknowledged.
   */
  seek(target: SeekTarget, time: number, topic: string): void {
    this.#db.statements.unackFrom.run(target.subscription, time);
    this.#adopt(target, topic, time);
    this.#ackBefore(target, time);
  }

  /** Makes exactly the messages of the snapshot unacknowledged. */
  seekToSnapshot(target: SeekTarget, snapshot: string): void {
    this.#ackBefore(target, Number.MAX_VALUE);
    this.#adopt(target, snapshot, 0);
  }

  /** Drops the holder's messages published before `cutoff`. */
  dropBefore(holder: string, cutoff: number): void {
    for (const { message } of this.#db.statements.before.all(holder, cutoff)) {
      this.#drop(holder, Number(message));
    }
  }

  clear(holder: string): void {
    this.dropBefore(holder, Number.MAX_VALUE);
  }

  /** Stores the result of a delivery. */
  settle(write: DeliveryWrite): void {
    if (write.kind === 'failed') {
      this.#db.statements.failed.run(write.failures, write.subscription, write.id);
    } else if (write.retain) this.#db.statements.retain.run(write.subscription, write.id);
    else this.#drop(write.subscription, write.id);
  }

  #adopt({ subscription, wants }: SeekTarget, holder: string, since: number): void {
    for (const { id, attributes } of this.#db.statements.heldSince.all(holder, since)) {
      const wanted = wants(JSON.parse(String(attributes)) as Record<string, string>);
      if (wanted) this.#db.statements.wantAgain.run(subscription, Number(id));
    }
  }

  #ackBefore({ subscription, retain }: SeekTarget, time: number): void {
    if (retain) this.#db.statements.ackBefore.run(subscription, time);
    else this.dropBefore(subscription, time);
  }

  #drop(holder: string, id: number): void {
    this.#db.statements.deletePending.run(holder, id);
    this.#db.statements.deleteUnwanted.run(id);
  }
}
