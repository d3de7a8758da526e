/**
 * The tables of the Pub/Sub server in SQLite, and every statement on them. The stores decide when a row is written.
 */
import { POLICY_SCHEMA, POLICY_SQL } from '@cairn/local-kit/iam/policy-table';
import type { GroupedDatabase } from '@cairn/local-kit/sqlite/grouped-database';

/**
 * A row of `pending` keeps a message for its holder: a subscription that has not acknowledged it, a snapshot, or a topic that
 * retains it. Their names never collide. `acked` is 1 if a subscription has acknowledged the message and keeps it for a
 * seek. A message without holders is deleted.
 */
export const SCHEMA = `
  CREATE TABLE IF NOT EXISTS topics (name TEXT PRIMARY KEY, config TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS subscriptions (name TEXT PRIMARY KEY, config TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS snapshots (name TEXT PRIMARY KEY, config TEXT NOT NULL) STRICT;
  ${POLICY_SCHEMA}
  CREATE TABLE IF NOT EXISTS schemas (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, revision TEXT NOT NULL, type TEXT NOT NULL,
    definition TEXT NOT NULL, created REAL NOT NULL, UNIQUE (name, revision)) STRICT;
  CREATE TABLE IF NOT EXISTS messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, data BLOB NOT NULL, attributes TEXT NOT NULL, key TEXT NOT NULL,
    bytes INTEGER NOT NULL, published REAL NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS pending (
    subscription TEXT NOT NULL, message INTEGER NOT NULL, failures INTEGER NOT NULL, acked INTEGER NOT NULL,
    PRIMARY KEY (subscription, message)) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS pending_message ON pending (message);
  INSERT INTO sqlite_sequence (name, seq)
    SELECT 'messages', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'messages');`;

/** Writes of deliveries: losing one repeats a delivery. */
export type DeliveryWrite =
  | { readonly kind: 'acked'; readonly subscription: string; readonly id: number; readonly retain: boolean }
  | {
      readonly kind: 'failed';
      readonly subscription: string;
      readonly id: number;
      readonly failures: number;
    };

export const SQL = {
  allTopics: 'SELECT config FROM topics ORDER BY name',
  putTopic: 'INSERT INTO topics VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET config = excluded.config',
  deleteTopic: 'DELETE FROM topics WHERE name = ?',
  allSubscriptions: 'SELECT config FROM subscriptions ORDER BY name',
  putSubscription:
    'INSERT INTO subscriptions VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET config = excluded.config',
  deleteSubscription: 'DELETE FROM subscriptions WHERE name = ?',
  allSnapshots: 'SELECT config FROM snapshots ORDER BY name',
  putSnapshot:
    'INSERT INTO snapshots VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET config = excluded.config',
  deleteSnapshot: 'DELETE FROM snapshots WHERE name = ?',
  allSchemas: 'SELECT name, revision, type, definition, created AS createdAt FROM schemas ORDER BY seq',
  putSchema: 'INSERT INTO schemas (name, revision, type, definition, created) VALUES (?, ?, ?, ?, ?)',
  deleteSchemaRevision: 'DELETE FROM schemas WHERE name = ? AND revision = ?',
  deleteSchema: 'DELETE FROM schemas WHERE name = ?',
  ...POLICY_SQL,
  takeIds: "UPDATE sqlite_sequence SET seq = seq + ? WHERE name = 'messages' RETURNING seq",
  insertMessage: 'INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?)',
  insertPending: 'INSERT INTO pending VALUES (?, ?, 0, 0)',
  message: 'SELECT * FROM messages WHERE id = ?',
  pending: `SELECT id, key, bytes, published AS publishedAt, failures FROM pending JOIN messages ON id = message
    WHERE subscription = ? AND acked = 0 ORDER BY id`,
  oldest: `SELECT MIN(published) AS published FROM pending JOIN messages ON id = message
    WHERE subscription = ? AND acked = 0`,
  capture: `INSERT INTO pending SELECT ?, message, 0, 0 FROM pending WHERE subscription = ? AND acked = 0`,
  heldSince: `SELECT id, attributes FROM pending JOIN messages ON id = message
    WHERE subscription = ? AND published >= ?`,
  wantAgain: `INSERT INTO pending VALUES (?, ?, 0, 0)
    ON CONFLICT (subscription, message) DO UPDATE SET acked = 0`,
  before: `SELECT message FROM pending JOIN messages ON id = message WHERE subscription = ? AND published < ?`,
  failed: 'UPDATE pending SET failures = ? WHERE subscription = ? AND message = ?',
  forgetFailures: 'UPDATE pending SET failures = 0 WHERE subscription = ?',
  retain: 'UPDATE pending SET acked = 1, failures = 0 WHERE subscription = ? AND message = ?',
  ackBefore: `UPDATE pending SET acked = 1, failures = 0 WHERE subscription = ?
    AND message IN (SELECT id FROM messages WHERE published < ?)`,
  unackFrom: `UPDATE pending SET acked = 0 WHERE subscription = ?
    AND message IN (SELECT id FROM messages WHERE published >= ?)`,
  deletePending: 'DELETE FROM pending WHERE subscription = ? AND message = ?',
  deleteUnwanted:
    'DELETE FROM messages WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM pending WHERE message = ?1)',
} as const;

export type PubsubDatabase = GroupedDatabase<typeof SQL, DeliveryWrite>;
