/** Types of the requests and resources of `google.pubsub.v1` after protobuf decoding. Types only. */
import type { Int64, WireTimestamp } from '@cairn/local-kit/wire/timestamp';

export interface WireTopic {
  readonly name?: string | null;
  readonly labels?: Record<string, string> | null;
  readonly messageStoragePolicy?: WireStoragePolicy | null;
  readonly kmsKeyName?: string | null;
  readonly schemaSettings?: WireSchemaSettings | null;
  readonly messageRetentionDuration?: WireTimestamp | null;
  readonly ingestionDataSourceSettings?: object | null;
  readonly messageTransforms?: readonly object[] | null;
  readonly tags?: Record<string, string> | null;
}

export interface WireSchemaSettings {
  readonly schema?: string | null;
  readonly encoding?: number | null;
  readonly firstRevisionId?: string | null;
  readonly lastRevisionId?: string | null;
}

export interface WireSchema {
  readonly name?: string | null;
  readonly type?: number | null;
  readonly definition?: string | null;
}

export interface WireStoragePolicy {
  readonly allowedPersistenceRegions?: readonly string[] | null;
  readonly enforceInTransit?: boolean | null;
}

export interface WireMessage {
  readonly data?: Uint8Array | null;
  readonly attributes?: Record<string, string> | null;
  readonly orderingKey?: string | null;
}

export interface WirePushConfig {
  readonly pushEndpoint?: string | null;
  readonly attributes?: Record<string, string> | null;
  readonly oidcToken?: { serviceAccountEmail?: string | null; audience?: string | null } | null;
  readonly noWrapper?: { readonly writeMetadata?: boolean | null } | null;
}

export interface WireSubscription {
  readonly name?: string | null;
  readonly topic?: string | null;
  readonly pushConfig?: WirePushConfig | null;
  readonly bigqueryConfig?: object | null;
  readonly cloudStorageConfig?: object | null;
  readonly bigtableConfig?: object | null;
  readonly ackDeadlineSeconds?: number | null;
  readonly retainAckedMessages?: boolean | null;
  readonly messageRetentionDuration?: WireTimestamp | null;
  readonly labels?: Record<string, string> | null;
  readonly enableMessageOrdering?: boolean | null;
  readonly expirationPolicy?: { readonly ttl?: WireTimestamp | null } | null;
  readonly filter?: string | null;
  readonly deadLetterPolicy?: {
    readonly deadLetterTopic?: string | null;
    readonly maxDeliveryAttempts?: number | null;
  } | null;
  readonly retryPolicy?: {
    readonly minimumBackoff?: WireTimestamp | null;
    readonly maximumBackoff?: WireTimestamp | null;
  } | null;
  readonly detached?: boolean | null;
  readonly enableExactlyOnceDelivery?: boolean | null;
  readonly messageTransforms?: readonly object[] | null;
  readonly tags?: Record<string, string> | null;
}

export interface WireSnapshot {
  readonly name?: string | null;
  readonly expireTime?: WireTimestamp | null;
  readonly labels?: Record<string, string> | null;
}

export interface WireStreamingPull {
  readonly subscription: string;
  readonly ackIds: readonly string[];
  readonly modifyDeadlineSeconds: readonly number[];
  readonly modifyDeadlineAckIds: readonly string[];
  readonly streamAckDeadlineSeconds: number;
  readonly maxOutstandingMessages: Int64;
  readonly maxOutstandingBytes: Int64;
  readonly protocolVersion: Int64;
}
