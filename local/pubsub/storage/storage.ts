/**
 * The state of the Pub/Sub server in SQLite: topics, subscriptions, messages, and which subscription has yet to
 * acknowledge which. Owns the tables and the moment of each write; decides nothing. Published messages are on disk
 * before `append` returns, so an acknowledged publish survives SIGKILL. What deliveries change is written in groups a
 * moment later: losing it repeats a delivery, which at-least-once allows.
 */
import { GroupedDatabase, type SqliteStorage } from '../../sqlite/grouped-database.ts';
import type { Waiting } from '../model/backlog.ts';
import type { Message, Publication, SubscriptionConfig, TopicConfig } from '../model/resources.ts';

/** A message with those who are to get it. */
export interface Addressed extends Publication {
  readonly bytes: number;
  readonly subscriptions: readonly string[];
}

interface MessageRow {
  readonly id: number;
  readonly data: Uint8Array;
  readonly attributes: string;
  readonly key: string;
  readonly published: number;
}

/** `pending.acked` is 1 for what was acknowledged and is kept for a seek. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS topics (name TEXT PRIMARY KEY, config TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS subscriptions (name TEXT PRIMARY KEY, config TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, data BLOB NOT NULL, attributes TEXT NOT NULL, key TEXT NOT NULL,
    bytes INTEGER NOT NULL, published REAL NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS pending (
    subscription TEXT NOT NULL, message INTEGER NOT NULL, failures INTEGER NOT NULL, acked INTEGER NOT NULL,
    PRIMARY KEY (subscription, message)) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS pending_message ON pending (message);
  INSERT INTO sqlite_sequence (name, seq)
    SELECT 'messages', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'messages');`;

type Later =
  | { readonly kind: 'acked'; readonly subscription: string; readonly id: number; readonly retain: boolean }
  | {
      readonly kind: 'failed';
      readonly subscription: string;
      readonly id: number;
      readonly failures: number;
    };

export class PubsubStore {
  readonly #db: GroupedDatabase<typeof SQL, Later>;

  constructor(storage: SqliteStorage) {
    this.#db = new GroupedDatabase({
      storage,
      schema: SCHEMA,
      sql: SQL,
      apply: (write: Later) => this.#apply(write),
    });
  }

  topics(): TopicConfig[] {
    return this.#db.statements.allTopics.all().map((row) => JSON.parse(String(row.config)) as TopicConfig);
  }

  putTopic(topic: TopicConfig): void {
    this.#db.statements.putTopic.run(topic.name, JSON.stringify(topic));
  }

  /** Removes the topic; its subscriptions are written with it, as they are from now on. */
  deleteTopic(name: string, orphans: readonly SubscriptionConfig[]): void {
    this.#db.transaction(() => {
      this.#db.statements.deleteTopic.run(name);
      for (const subscription of orphans) this.putSubscription(subscription);
    });
  }

  subscriptions(): SubscriptionConfig[] {
    return this.#db.statements.allSubscriptions
      .all()
      .map((row) => JSON.parse(String(row.config)) as SubscriptionConfig);
  }

  putSubscription(subscription: SubscriptionConfig): void {
    this.#db.statements.putSubscription.run(subscription.name, JSON.stringify(subscription));
  }

  deleteSubscription(name: string): void {
    this.#db.flush();
    this.#db.transaction(() => {
      this.#db.statements.deleteSubscription.run(name);
      this.#clear(name);
    });
  }

  /** Forgets all messages of a subscription that stays. */
  detach(subscription: SubscriptionConfig): void {
    this.#db.flush();
    this.#db.transaction(() => {
      this.putSubscription(subscription);
      this.#clear(subscription.name);
    });
  }

  /** All or nothing. @returns the new ids, growing; a message nobody is to get has one but is not kept */
  append(messages: readonly Addressed[], publishedAt: number): number[] {
    let ids: number[] = [];
    this.#db.transaction(() => {
      ids = this.#newIds(messages.length);
      for (const [i, { data, attributes, orderingKey, bytes, subscriptions }] of messages.entries()) {
        if (subscriptions.length === 0) continue;
        const id = ids[i] as number;
        const members = JSON.stringify(attributes);
        this.#db.statements.insertMessage.run(id, data, members, orderingKey, bytes, publishedAt);
        for (const subscription of subscriptions) this.#db.statements.insertPending.run(subscription, id);
      }
    });
    return ids;
  }

  message(id: number): Message | undefined {
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

  /** What the subscription has not acknowledged, oldest first. */
  pending(subscription: string): Waiting[] {
    this.#db.flush();
    return this.#db.statements.pending.all(subscription) as unknown as Waiting[];
  }

  /** Written soon, see the head of this file. */
  ackLater(subscription: string, id: number, retain: boolean): void {
    this.#db.later({ kind: 'acked', subscription, id, retain });
  }

  /** Written soon, see the head of this file. */
  failLater(subscription: string, id: number, failures: number): void {
    this.#db.later({ kind: 'failed', subscription, id, failures });
  }

  /** Forgets what the subscription was to keep only until then. */
  dropBefore(subscription: string, cutoff: number): void {
    this.#db.flush();
    this.#db.transaction(() => {
      const gone = this.#db.statements.before.all(subscription, cutoff);
      for (const { message } of gone) this.#drop(subscription, Number(message));
    });
  }

  /** What was published before `time` is acknowledged, what came later, if it is kept, is not. */
  seek(subscription: string, time: number, retain: boolean): void {
    this.#db.flush();
    this.#db.transaction(() => {
      this.#db.statements.unackFrom.run(subscription, time);
      if (retain) {
        this.#db.statements.ackBefore.run(subscription, time);
        return;
      }
      for (const { message } of this.#db.statements.before.all(subscription, time)) {
        this.#drop(subscription, Number(message));
      }
    });
  }

  close(): void {
    this.#db.close();
  }

  #apply(write: Later): void {
    if (write.kind === 'failed') {
      this.#db.statements.failed.run(write.failures, write.subscription, write.id);
    } else if (write.retain) this.#db.statements.retain.run(write.subscription, write.id);
    else this.#drop(write.subscription, write.id);
  }

  #drop(subscription: string, id: number): void {
    this.#db.statements.deletePending.run(subscription, id);
    this.#db.statements.deleteUnwanted.run(id);
  }

  /** From where SQLite remembers the highest id there ever was, so that none comes twice, also of messages not kept. */
  #newIds(count: number): number[] {
    const { seq } = this.#db.statements.takeIds.get(count) as { seq: number };
    return Array.from({ length: count }, (_, i) => seq - count + 1 + i);
  }

  #clear(subscription: string): void {
    for (const { message } of this.#db.statements.before.all(subscription, Number.MAX_VALUE)) {
      this.#drop(subscription, Number(message));
    }
  }
}

const SQL = {
  allTopics: 'SELECT config FROM topics ORDER BY name',
  putTopic: 'INSERT INTO topics VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET config = excluded.config',
  deleteTopic: 'DELETE FROM topics WHERE name = ?',
  allSubscriptions: 'SELECT config FROM subscriptions ORDER BY name',
  putSubscription:
    'INSERT INTO subscriptions VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET config = excluded.config',
  deleteSubscription: 'DELETE FROM subscriptions WHERE name = ?',
  takeIds: "UPDATE sqlite_sequence SET seq = seq + ? WHERE name = 'messages' RETURNING seq",
  insertMessage: 'INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?)',
  insertPending: 'INSERT INTO pending VALUES (?, ?, 0, 0)',
  message: 'SELECT * FROM messages WHERE id = ?',
  pending: `SELECT id, key, bytes, published AS publishedAt, failures FROM pending JOIN messages ON id = message
    WHERE subscription = ? AND acked = 0 ORDER BY id`,
  before: `SELECT message FROM pending JOIN messages ON id = message WHERE subscription = ? AND published < ?`,
  failed: 'UPDATE pending SET failures = ? WHERE subscription = ? AND message = ?',
  retain: 'UPDATE pending SET acked = 1, failures = 0 WHERE subscription = ? AND message = ?',
  ackBefore: `UPDATE pending SET acked = 1, failures = 0 WHERE subscription = ?
    AND message IN (SELECT id FROM messages WHERE published < ?)`,
  unackFrom: `UPDATE pending SET acked = 0 WHERE subscription = ?
    AND message IN (SELECT id FROM messages WHERE published >= ?)`,
  deletePending: 'DELETE FROM pending WHERE subscription = ? AND message = ?',
  deleteUnwanted:
    'DELETE FROM messages WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM pending WHERE message = ?1)',
} as const;
