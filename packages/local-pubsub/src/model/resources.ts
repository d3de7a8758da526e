/**
 * Model of topics, subscriptions and messages in plain values: no protobuf, no SQL. Times are milliseconds since the
 * epoch, durations milliseconds. Defaults and limits are those that Pub/Sub documents.
 */
import type { Encoding, SchemaType } from '../schema/definition.ts';
import type { RevisionBound } from './revision-bounds.ts';

/** Settings that are stored and returned but not applied, by their names in JSON. */
export type DeclaredSettings = Readonly<Record<string, unknown>>;

export interface TopicConfig {
  /** `projects/{p}/topics/{t}` */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Time for which the topic keeps every message; undefined: no longer than its subscriptions do. */
  readonly retentionMs: number | undefined;
  /** Schema of its messages; undefined: none. */
  readonly schema: SchemaSettings | undefined;
  /** Returned to the caller but not applied, because this machine is in no region. */
  readonly storage?: StoragePolicy | undefined;
  readonly declared?: DeclaredSettings | undefined;
}

export interface StoragePolicy {
  /** Names of Google's regions, at least one. */
  readonly regions: readonly string[];
  readonly inTransit: boolean;
}

export interface SchemaSettings {
  /** A schema's name, or `_deleted-schema_`. */
  readonly name: string;
  readonly encoding: Encoding;
  /** Oldest revision that messages may follow; undefined: no bound. */
  readonly firstRevision: RevisionBound | undefined;
  readonly lastRevision: RevisionBound | undefined;
}

export interface SchemaRevision {
  /** `projects/{p}/schemas/{s}` */
  readonly name: string;
  /** Eight hex digits. */
  readonly revision: string;
  readonly type: SchemaType;
  readonly definition: string;
  readonly createdAt: number;
}

export interface PushConfig {
  readonly endpoint: string;
  /** Set: the body is the message's data; undefined: the JSON envelope. */
  readonly unwrapped: { readonly writeMetadata: boolean } | undefined;
  readonly attributes: Readonly<Record<string, string>>;
  readonly oidc: { readonly serviceAccountEmail: string; readonly audience: string } | undefined;
}

export interface PushBackoff {
  readonly minBackoffMs: number;
  readonly maxBackoffMs: number;
}

export interface DeadLetterPolicy {
  readonly topic: string;
  readonly maxDeliveryAttempts: number;
}

export interface SubscriptionConfig {
  /** `projects/{p}/subscriptions/{s}` */
  readonly name: string;
  /** A topic's name, or `_deleted-topic_`. */
  readonly topic: string;
  readonly push: PushConfig | undefined;
  readonly ackDeadlineMs: number;
  readonly retainAcked: boolean;
  readonly retentionMs: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly ordered: boolean;
  /** Undefined: never expires. Returned to the caller, not enforced. */
  readonly expiresAfterMs: number | undefined;
  /** The filter as written by the caller; empty: every message matches. */
  readonly filter: string;
  readonly deadLetter: DeadLetterPolicy | undefined;
  readonly retry: PushBackoff | undefined;
  readonly detached: boolean;
  /** True: acknowledgements are confirmed once durable, and refused if late. */
  readonly exactlyOnce: boolean;
  readonly declared?: DeclaredSettings | undefined;
}

/** Messages that a subscription had not acknowledged at one time, and all later messages of its topic. */
export interface SnapshotConfig {
  /** `projects/{p}/snapshots/{s}` */
  readonly name: string;
  /** A topic's name, or `_deleted-topic_`. */
  readonly topic: string;
  readonly expiresAt: number;
  readonly labels: Readonly<Record<string, string>>;
}

/** A message as it is published, before it has an id. */
export interface Publication {
  readonly data: Uint8Array;
  readonly attributes: Readonly<Record<string, string>>;
  /** Empty: none. */
  readonly orderingKey: string;
}

export interface StoredMessage extends Publication {
  /** Unique among all messages of the server, and increasing. */
  readonly id: number;
  readonly publishedAt: number;
}

/** Message ids in production's format: decimal digits of constant length. */
export const messageId = (id: number) => String(10 ** 15 + id);

/** Size of a message for flow control and limits: data, attributes and key. */
export function messageBytes({ data, attributes, orderingKey }: Publication): number {
  let bytes = data.length + Buffer.byteLength(orderingKey);
  for (const [key, value] of Object.entries(attributes)) {
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  return bytes;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

export const LIMITS = {
  /** Size of a whole encoded request. */
  requestBytes: 10 * 1024 * 1024,
  messagesPerPublish: 1000,
  attributes: 100,
  attributeKeyBytes: 256,
  attributeValueBytes: 1024,
  orderingKeyBytes: 1024,
  filterBytes: 256,
  labels: 64,
  minAckDeadlineMs: 10_000,
  maxAckDeadlineMs: 600_000,
  defaultAckDeadlineMs: 10_000,
  minRetentionMs: 10 * MINUTE_MS,
  maxRetentionMs: 31 * DAY_MS,
  defaultRetentionMs: 7 * DAY_MS,
  minExpiryMs: DAY_MS,
  defaultExpiryMs: 31 * DAY_MS,
  maxBackoffMs: 600_000,
  defaultMinBackoffMs: 10_000,
  minDeliveryAttempts: 5,
  maxDeliveryAttempts: 100,
  /** A snapshot is kept until its oldest message has this age. */
  snapshotAgeMs: 7 * DAY_MS,
  /** A snapshot that would expire sooner is not created. */
  minSnapshotLifeMs: 60 * MINUTE_MS,
  schemaBytes: 300 * 1024,
  /** Revisions of one schema at a time. */
  schemaRevisions: 20,
  /** Most resources per list response. */
  page: 1000,
} as const;
