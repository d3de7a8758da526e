/**
 * State of the Pub/Sub server in SQLite: topics, subscriptions, snapshots, messages, and their holders. Owns the time
 * of each write; decides nothing. Published messages are on disk before `append` returns, so an acknowledged publish
 * survives SIGKILL. Changes by deliveries are written in groups a moment later: losing them repeats a delivery, which
 * at-least-once allows. A confirmed delivery is written first (`flush`).
 */
import type { PolicyStore } from '@cairn/local-kit/iam/policies';
import { policyTable } from '@cairn/local-kit/iam/policy-table';
import { GroupedDatabase, type StorageChoice } from '@cairn/local-kit/sqlite/grouped-database';
import type { WaitingMessage } from '../model/backlog.ts';
import type {
  Publication,
  SchemaRevision,
  SnapshotConfig,
  StoredMessage,
  SubscriptionConfig,
  TopicConfig,
} from '../model/resources.ts';
import { MessageHolders, type SeekTarget } from './message-holders.ts';
import { type DeliveryWrite, type PubsubDatabase, SCHEMA, SQL } from './tables.ts';

/** A message with the names of its holders (subscriptions, snapshots, topics). */
export interface Addressed extends Publication {
  readonly bytes: number;
  readonly holders: readonly string[];
}

/** Defaults of a subscription stored by an earlier version. */
const DEFAULTS_OF_OLD_DATA = { exactlyOnce: false };

interface MessageRow {
  readonly id: number;
  readonly data: Uint8Array;
  readonly attributes: string;
  readonly key: string;
  readonly published: number;
}

export class PubsubStore {
  readonly policies: PolicyStore;
  readonly #db: PubsubDatabase;
  readonly #holders: MessageHolders;

  constructor(storage: StorageChoice) {
    this.#db = new GroupedDatabase({
      storage,
      schema: SCHEMA,
      sql: SQL,
      apply: (write: DeliveryWrite) => this.#holders.settle(write),
    });
    this.#holders = new MessageHolders(this.#db);
    this.policies = policyTable(this.#db.statements);
  }

  topics(): TopicConfig[] {
    return this.#db.statements.allTopics.all().map((row) => JSON.parse(String(row.config)) as TopicConfig);
  }

  putTopic(topic: TopicConfig): void {
    this.#db.statements.putTopic.run(topic.name, JSON.stringify(topic));
  }

  /** Deletes the topic and its retained messages, and stores its subscriptions and snapshots without it. */
  deleteTopic(
    name: string,
    orphans: {
      readonly subscriptions: readonly SubscriptionConfig[];
      readonly snapshots: readonly SnapshotConfig[];
    },
  ): void {
    this.#change(() => {
      this.#db.statements.deleteTopic.run(name);
      this.#db.statements.deletePolicy.run(name);
      this.#holders.clear(name);
      for (const subscription of orphans.subscriptions) this.putSubscription(subscription);
      for (const snapshot of orphans.snapshots) this.putSnapshot(snapshot);
    });
  }

  subscriptions(): SubscriptionConfig[] {
    return this.#db.statements.allSubscriptions
      .all()
      .map((row) => ({ ...DEFAULTS_OF_OLD_DATA, ...(JSON.parse(String(row.config)) as SubscriptionConfig) }));
  }

  putSubscription(subscription: SubscriptionConfig): void {
    this.#db.statements.putSubscription.run(subscription.name, JSON.stringify(subscription));
  }

  deleteSubscription(name: string): void {
    this.#change(() => {
      this.#db.statements.deleteSubscription.run(name);
      this.#db.statements.deletePolicy.run(name);
      this.#holders.clear(name);
    });
  }

  /** Drops all messages of a subscription, and keeps the subscription. */
  detach(subscription: SubscriptionConfig): void {
    this.#change(() => {
      this.putSubscription(subscription);
      this.#holders.clear(subscription.name);
    });
  }

  snapshots(): SnapshotConfig[] {
    return this.#db.statements.allSnapshots
      .all()
      .map((row) => JSON.parse(String(row.config)) as SnapshotConfig);
  }

  putSnapshot(snapshot: SnapshotConfig): void {
    this.#db.statements.putSnapshot.run(snapshot.name, JSON.stringify(snapshot));
  }

  /** Creates a snapshot of the unacknowledged messages of the subscription. */
  capture(snapshot: SnapshotConfig, subscription: string): void {
    this.#change(() => {
      this.putSnapshot(snapshot);
      this.#holders.capture(snapshot.name, subscription);
    });
  }

  deleteSnapshot(name: string): void {
    this.#change(() => {
      this.#db.statements.deleteSnapshot.run(name);
      this.#db.statements.deletePolicy.run(name);
      this.#holders.clear(name);
    });
  }

  /** All revisions of all schemas, the oldest first. */
  schemas(): SchemaRevision[] {
    return this.#db.statements.allSchemas.all() as unknown as SchemaRevision[];
  }

  addSchema({ name, revision, type, definition, createdAt }: SchemaRevision): void {
    this.#db.statements.putSchema.run(name, revision, type, definition, createdAt);
  }

  /** Also stores the topics whose settings change with the deletion. */
  deleteSchemaRevision(name: string, revision: string, topics: readonly TopicConfig[]): void {
    this.#db.transaction(() => {
      this.#db.statements.deleteSchemaRevision.run(name, revision);
      for (const topic of topics) this.putTopic(topic);
    });
  }

  /** Deletes all revisions, and stores the topics of the schema without it. */
  deleteSchema(name: string, orphans: readonly TopicConfig[]): void {
    this.#db.transaction(() => {
      this.#db.statements.deleteSchema.run(name);
      this.#db.statements.deletePolicy.run(name);
      for (const topic of orphans) this.putTopic(topic);
    });
  }

  /** Atomic. @returns increasing ids; a message without holders gets an id, but is not stored */
  append(messages: readonly Addressed[], publishedAt: number): number[] {
    let ids: number[] = [];
    this.#db.transaction(() => {
      ids = this.#newIds(messages.length);
      for (const [i, { data, attributes, orderingKey, bytes, holders }] of messages.entries()) {
        if (holders.length === 0) continue;
        const id = ids[i] as number;
        const members = JSON.stringify(attributes);
        this.#db.statements.insertMessage.run(id, data, members, orderingKey, bytes, publishedAt);
        for (const holder of holders) this.#db.statements.insertPending.run(holder, id);
      }
    });
    return ids;
  }

  message(id: number): StoredMessage | undefined {
    const row = this.#db.statements.message.get(id) as MessageRow | undefined;
    return (
      row && {
        id,
        data: row.data,
        attributes: JSON.parse(row.attributes) as Record<string, string>,
        orderingKey: row.key,
        publishedAt: row.published,
      }
    );
  }

  /** Unacknowledged messages of the subscription, oldest first. */
  pending(subscription: string): WaitingMessage[] {
    this.#db.catchUp();
    return this.#holders.pending(subscription);
  }

  /** Written soon, see the head of this file. */
  ackLater(subscription: string, id: number, retain: boolean): void {
    this.#db.later({ kind: 'acked', subscription, id, retain });
  }

  /** Written soon, see the head of this file. */
  failLater(subscription: string, id: number, failures: number): void {
    this.#db.later({ kind: 'failed', subscription, id, failures });
  }

  /** Stores that no delivery of the subscription's messages failed. */
  forgetFailures(subscription: string): void {
    this.#change(() => this.#db.statements.forgetFailures.run(subscription));
  }

  /** Publish time of the oldest unacknowledged message of the subscription. */
  oldest(subscription: string): number | undefined {
    this.#db.catchUp();
    return this.#holders.oldest(subscription);
  }

  /** Drops the holder's messages published before `cutoff`. */
  dropBefore(holder: string, cutoff: number): void {
    this.#change(() => this.#holders.dropBefore(holder, cutoff));
  }

  /**
   * Acknowledges messages published before `time`; later retained ones, also those retained by the topic, become
   * unacknowledged.
   */
  seek(target: SeekTarget, time: number, topic: string): void {
    this.#change(() => this.#holders.seek(target, time, topic));
  }

  /** Makes exactly the messages of the snapshot unacknowledged. */
  seekToSnapshot(target: SeekTarget, snapshot: string): void {
    this.#change(() => this.#holders.seekToSnapshot(target, snapshot));
  }

  /** Writes deferred writes now. */
  flush(): void {
    this.#db.flush();
  }

  close(): void {
    this.#db.close();
  }

  /** Uses SQLite's sequence, which also counts ids of messages that are not stored, so that all ids are unique. */
  #newIds(count: number): number[] {
    const { seq } = this.#db.statements.takeIds.get(count) as { seq: number };
    return Array.from({ length: count }, (_, i) => seq - count + 1 + i);
  }

  /** Runs a transaction after the deferred writes of deliveries. */
  #change(work: () => void): void {
    this.#db.flush();
    this.#db.transaction(work);
  }
}
