/**
 * The snapshots of one server and their expiry. The store has their messages; the broker performs a seek.
 */
import type { ServerClock } from '@cairn/local-kit/time/clock';
import { DELETED_TOPIC } from '../model/names.ts';
import { LIMITS, type SnapshotConfig, type SubscriptionConfig } from '../model/resources.ts';
import { exists, invalid, missing, precondition } from '../model/status.ts';
import type { PubsubStore } from '../storage/storage.ts';

export class Snapshots {
  readonly #store: PubsubStore;
  readonly #clock: ServerClock;
  readonly #snapshots = new Map<string, SnapshotConfig>();

  /** Loads the stored snapshots. */
  constructor(store: PubsubStore, clock: ServerClock) {
    this.#store = store;
    this.#clock = clock;
    for (const snapshot of store.snapshots()) this.#snapshots.set(snapshot.name, snapshot);
  }

  /** Snapshot of the subscription's unacknowledged messages. */
  create(
    { name, labels }: Pick<SnapshotConfig, 'name' | 'labels'>,
    subscription: SubscriptionConfig,
  ): SnapshotConfig {
    this.expire();
    if (this.#snapshots.has(name)) throw exists(name);
    const { topic } = subscription;
    if (topic === DELETED_TOPIC) throw precondition('The topic of the subscription is deleted.');
    const now = this.#clock.now();
    const expiresAt = (this.#store.oldest(subscription.name) ?? now) + LIMITS.snapshotAgeMs;
    if (expiresAt < now + LIMITS.minSnapshotLifeMs) {
      throw precondition(
        'The oldest message that is not acknowledged is so old that the snapshot would expire within an hour.',
      );
    }
    const snapshot = { name, topic, expiresAt, labels };
    this.#store.capture(snapshot, subscription.name);
    this.#snapshots.set(name, snapshot);
    return snapshot;
  }

  get(name: string): SnapshotConfig {
    this.expire();
    const snapshot = this.#snapshots.get(name);
    if (snapshot === undefined) throw missing(name);
    return snapshot;
  }

  all(): SnapshotConfig[] {
    this.expire();
    return [...this.#snapshots.values()];
  }

  /** Snapshots that retain the messages of the topic. */
  of(topic: string): SnapshotConfig[] {
    return this.#snapshots.size === 0 ? [] : this.all().filter((snapshot) => snapshot.topic === topic);
  }

  /** The expiry can only be moved forward. */
  update(snapshot: SnapshotConfig): SnapshotConfig {
    const before = this.get(snapshot.name);
    if (snapshot.expiresAt > before.expiresAt || snapshot.expiresAt <= this.#clock.now()) {
      throw invalid('Snapshot.expire_time must be in the future and not later than it was.');
    }
    return this.#put(snapshot);
  }

  delete(name: string): void {
    this.get(name);
    this.#remove(name);
  }

  /** Snapshots of the topic in the form to store when the topic is deleted. */
  orphans(topic: string): SnapshotConfig[] {
    return this.of(topic).map((snapshot) => ({ ...snapshot, topic: DELETED_TOPIC }));
  }

  /** Call after the orphans are stored. */
  adopt(orphans: readonly SnapshotConfig[]): void {
    for (const orphan of orphans) this.#snapshots.set(orphan.name, orphan);
  }

  /** Deletes expired snapshots. */
  expire(): void {
    const now = this.#clock.now();
    for (const { name, expiresAt } of this.#snapshots.values()) if (expiresAt <= now) this.#remove(name);
  }

  #put(snapshot: SnapshotConfig): SnapshotConfig {
    this.#store.putSnapshot(snapshot);
    this.#snapshots.set(snapshot.name, snapshot);
    return snapshot;
  }

  #remove(name: string): void {
    this.#store.deleteSnapshot(name);
    this.#snapshots.delete(name);
  }
}
