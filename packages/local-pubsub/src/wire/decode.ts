/**
 * Validates Pub/Sub requests: converts messages to model values, or throws INVALID_ARGUMENT naming the field, or
 * UNIMPLEMENTED for unsupported features. Pure.
 */
import type { WireTimestamp } from '@cairn/local-kit/wire/timestamp';
import { parseFilter } from '../model/filter.ts';
import { requireSubscription, requireTopic } from '../model/names.ts';
import {
  type DeadLetterPolicy,
  LIMITS,
  type PushBackoff,
  type PushConfig,
  type SubscriptionConfig,
  type TopicConfig,
} from '../model/resources.ts';
import { invalid, unimplemented } from '../model/status.ts';
import { declaredOfSubscription, declaredOfTopic } from './decode-declared.ts';
import { labelsFrom } from './decode-labels.ts';
import { schemaSettingsFrom, updatedSettings } from './decode-schema.ts';
import { storagePolicyFrom } from './decode-storage-policy.ts';
import { durationFrom } from './decode-time.ts';
import type { WirePushConfig, WireSubscription, WireTopic } from './messages.ts';

export function topicFrom(wire: WireTopic): TopicConfig {
  const name = requireTopic(wire.name ?? '');
  return {
    name,
    labels: labelsFrom(wire.labels),
    retentionMs: topicRetentionFrom(wire.messageRetentionDuration),
    schema: schemaSettingsFrom(wire.schemaSettings),
    storage: storagePolicyFrom(wire.messageStoragePolicy),
    declared: declaredOfTopic(wire),
  };
}

export function subscriptionFrom(wire: WireSubscription): SubscriptionConfig {
  const filter = wire.filter ?? '';
  if (Buffer.byteLength(filter) > LIMITS.filterBytes) {
    throw invalid(`The provided filter is longer than ${LIMITS.filterBytes} bytes.`);
  }
  parseFilter(filter);
  if (wire.detached) throw unimplemented('Subscription.detached at creation');
  return pullIfExactlyOnce({
    name: requireSubscription(wire.name ?? ''),
    topic: requireTopic(wire.topic ?? ''),
    push: pushFrom(wire.pushConfig),
    ackDeadlineMs: ackDeadlineFrom(wire.ackDeadlineSeconds),
    retainAcked: wire.retainAckedMessages ?? false,
    retentionMs: retentionFrom(wire.messageRetentionDuration),
    labels: labelsFrom(wire.labels),
    ordered: wire.enableMessageOrdering ?? false,
    expiresAfterMs: expiryFrom(wire.expirationPolicy),
    filter,
    deadLetter: deadLetterFrom(wire.deadLetterPolicy),
    retry: retryFrom(wire.retryPolicy),
    detached: false,
    exactlyOnce: wire.enableExactlyOnceDelivery ?? false,
    declared: declaredOfSubscription(wire),
  });
}

/** @throws PubsubError INVALID_ARGUMENT for exactly-once delivery by push */
export function pullIfExactlyOnce(config: SubscriptionConfig): SubscriptionConfig {
  if (!config.exactlyOnce || config.push === undefined) return config;
  throw invalid('enable_exactly_once_delivery requires a pull subscription.');
}

/** Fields allowed in an update mask, each with its value from the request; all others are fixed at creation. */
const UPDATABLE: Readonly<Record<string, (wire: WireSubscription) => Partial<SubscriptionConfig>>> = {
  push_config: (wire) => ({ push: pushFrom(wire.pushConfig) }),
  ack_deadline_seconds: (wire) => ({ ackDeadlineMs: ackDeadlineFrom(wire.ackDeadlineSeconds) }),
  retain_acked_messages: (wire) => ({ retainAcked: wire.retainAckedMessages ?? false }),
  message_retention_duration: (wire) => ({ retentionMs: retentionFrom(wire.messageRetentionDuration) }),
  labels: (wire) => ({ labels: labelsFrom(wire.labels) }),
  expiration_policy: (wire) => ({ expiresAfterMs: expiryFrom(wire.expirationPolicy) }),
  dead_letter_policy: (wire) => ({ deadLetter: deadLetterFrom(wire.deadLetterPolicy) }),
  retry_policy: (wire) => ({ retry: retryFrom(wire.retryPolicy) }),
  enable_exactly_once_delivery: (wire) => ({ exactlyOnce: wire.enableExactlyOnceDelivery ?? false }),
};

export function updatedSubscription(
  before: SubscriptionConfig,
  wire: WireSubscription,
  paths: readonly string[] | undefined,
): SubscriptionConfig {
  const changes = masked(paths).map((path) => {
    if (DECLARED_OF_SUBSCRIPTION.has(path)) return {};
    const change = Object.hasOwn(UPDATABLE, path) ? UPDATABLE[path] : undefined;
    if (change === undefined) {
      throw invalid(`Invalid update_mask provided: '${path}' of a subscription cannot be updated here.`);
    }
    return change(wire);
  });
  const after: SubscriptionConfig = Object.assign({}, before, ...changes);
  const given = {
    ...(after.push && { pushConfig: { pushEndpoint: after.push.endpoint } }),
    ...named(wire, paths, DECLARED_OF_SUBSCRIPTION),
  };
  const declared = declaredOfSubscription(given, before.declared);
  return pullIfExactlyOnce({ ...after, declared });
}

const DECLARED_OF_SUBSCRIPTION = new Map([
  ['bigquery_config', 'bigqueryConfig'],
  ['cloud_storage_config', 'cloudStorageConfig'],
  ['bigtable_config', 'bigtableConfig'],
  ['message_transforms', 'messageTransforms'],
]);
const DECLARED_OF_TOPIC = new Map([
  ['ingestion_data_source_settings', 'ingestionDataSourceSettings'],
  ['message_transforms', 'messageTransforms'],
]);

/** The values in the request of the fields that the mask names. */
function named(
  wire: object,
  paths: readonly string[] | undefined,
  members: ReadonlyMap<string, string>,
): object {
  const given = wire as Readonly<Record<string, unknown>>;
  const names = (paths ?? []).flatMap((path) => members.get(path) ?? []);
  return Object.fromEntries(names.map((name) => [name, given[name]]));
}

export function updatedTopic(
  before: TopicConfig,
  wire: WireTopic,
  paths: readonly string[] | undefined,
): TopicConfig {
  const [settings, whole] = partition(masked(paths), (path) => path.startsWith(SETTINGS));
  const changes = whole.map((path) => {
    if (DECLARED_OF_TOPIC.has(path)) return {};
    const change = Object.hasOwn(UPDATABLE_OF_TOPIC, path) ? UPDATABLE_OF_TOPIC[path] : undefined;
    if (change === undefined) {
      throw invalid(`Invalid update_mask provided: '${path}' of a topic cannot be updated here.`);
    }
    return change(wire);
  });
  if (settings.length > 0) {
    const fields = settings.map((path) => path.slice(SETTINGS.length));
    changes.push({ schema: updatedSettings(before.schema, wire.schemaSettings, fields) });
  }
  const declared = declaredOfTopic(named(wire, paths, DECLARED_OF_TOPIC), before.declared);
  return Object.assign({}, before, ...changes, { declared });
}

/** A mask may name single fields of these settings. */
const SETTINGS = 'schema_settings.';

function partition<T>(all: readonly T[], belongs: (one: T) => boolean): readonly [T[], T[]] {
  return [all.filter(belongs), all.filter((one) => !belongs(one))];
}

const UPDATABLE_OF_TOPIC: Readonly<Record<string, (wire: WireTopic) => Partial<TopicConfig>>> = {
  labels: (wire) => ({ labels: labelsFrom(wire.labels) }),
  message_retention_duration: (wire) => ({ retentionMs: topicRetentionFrom(wire.messageRetentionDuration) }),
  schema_settings: (wire) => ({ schema: schemaSettingsFrom(wire.schemaSettings) }),
  message_storage_policy: (wire) => ({ storage: storagePolicyFrom(wire.messageStoragePolicy) }),
};

/** @throws PubsubError INVALID_ARGUMENT for a mask without paths */
export function masked(paths: readonly string[] | undefined): readonly string[] {
  if (!paths || paths.length === 0) {
    throw invalid('The update_mask in the request must be set, and must contain a non-empty paths list.');
  }
  return paths;
}

/** An empty endpoint means pull. */
export function pushFrom(wire: WirePushConfig | null | undefined): PushConfig | undefined {
  const endpoint = wire?.pushEndpoint ?? '';
  if (!wire || endpoint === '') return undefined;
  const { 'x-goog-version': version = 'v1', ...others } = { ...wire.attributes };
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw invalid(`Invalid push config attribute: '${unknown.slice(0, 100)}'.`);
  if (version !== 'v1' && version !== 'v1beta2') throw unimplemented(`Push format ${version.slice(0, 20)}`);
  if (!isEndpoint(endpoint)) {
    throw invalid(
      'Invalid push endpoint given: it must begin with https://, or with http:// on 127.0.0.1 or localhost.',
    );
  }
  const account = wire.oidcToken?.serviceAccountEmail;
  if (wire.oidcToken && !account) throw invalid('OidcToken.service_account_email must be set.');
  return {
    endpoint,
    unwrapped: wire.noWrapper ? { writeMetadata: wire.noWrapper.writeMetadata ?? false } : undefined,
    attributes: { 'x-goog-version': 'v1' },
    oidc: account
      ? { serviceAccountEmail: account, audience: wire.oidcToken?.audience || endpoint }
      : undefined,
  };
}

/** Stricter than `URL`, which trims spaces and accepts any case, because production requires a lower-case scheme. */
const ENDPOINT = /^https?:\/\/[^\s\p{Cc}]+$/u;

/** Production's rule, but endpoints on this machine need no certificate. */
function isEndpoint(endpoint: string): boolean {
  if (!ENDPOINT.test(endpoint) || !URL.canParse(endpoint)) return false;
  const { protocol, hostname, username, password } = new URL(endpoint);
  const anonymous = username === '' && password === '';
  const local = protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
  return anonymous && (local || protocol === 'https:');
}

function ackDeadlineFrom(given: number | null | undefined): number {
  return within('ack_deadline_seconds', (given ?? 0) * 1000 || LIMITS.defaultAckDeadlineMs, {
    least: LIMITS.minAckDeadlineMs,
    most: LIMITS.maxAckDeadlineMs,
    shown: (ms) => String(ms / 1000),
  });
}

function retentionFrom(duration: WireTimestamp | null | undefined): number {
  const field = 'message_retention_duration';
  return within(field, duration ? durationFrom(field, duration) : LIMITS.defaultRetentionMs, {
    least: LIMITS.minRetentionMs,
    most: LIMITS.maxRetentionMs,
    shown: seconds,
  });
}

function topicRetentionFrom(duration: WireTimestamp | null | undefined): number | undefined {
  return duration ? retentionFrom(duration) : undefined;
}

function expiryFrom(policy: WireSubscription['expirationPolicy']): number | undefined {
  if (!policy) return LIMITS.defaultExpiryMs;
  if (!policy.ttl) return undefined;
  const field = 'expiration_policy.ttl';
  return within(field, durationFrom(field, policy.ttl), {
    least: LIMITS.minExpiryMs,
    most: Number.MAX_SAFE_INTEGER,
    shown: seconds,
  });
}

function deadLetterFrom(policy: WireSubscription['deadLetterPolicy']): DeadLetterPolicy | undefined {
  if (!policy) return undefined;
  return {
    topic: requireTopic(policy.deadLetterTopic ?? ''),
    maxDeliveryAttempts: within(
      'max_delivery_attempts',
      policy.maxDeliveryAttempts || LIMITS.minDeliveryAttempts,
      { least: LIMITS.minDeliveryAttempts, most: LIMITS.maxDeliveryAttempts, shown: String },
    ),
  };
}

function retryFrom(policy: WireSubscription['retryPolicy']): PushBackoff | undefined {
  if (!policy) return undefined;
  const bounds = { least: 0, most: LIMITS.maxBackoffMs, shown: seconds };
  const { minimumBackoff: min, maximumBackoff: max } = policy;
  const minBackoffMs = min ? durationFrom('retry_policy.minimum_backoff', min) : LIMITS.defaultMinBackoffMs;
  const maxBackoffMs = max ? durationFrom('retry_policy.maximum_backoff', max) : LIMITS.maxBackoffMs;
  within('retry_policy.minimum_backoff', minBackoffMs, bounds);
  within('retry_policy.maximum_backoff', maxBackoffMs, { ...bounds, least: minBackoffMs });
  return { minBackoffMs, maxBackoffMs };
}

interface Bounds {
  readonly least: number;
  readonly most: number;
  /** Formats a value in the caller's unit. */
  readonly shown: (value: number) => string;
}

const seconds = (ms: number) => `${ms / 1000}s`;

function within(field: string, value: number, { least, most, shown }: Bounds): number {
  if (value >= least && value <= most) return value;
  const [size, kind, bound] = value < least ? ['small', 'minimum', least] : ['large', 'maximum', most];
  throw invalid(
    `The value for ${field} is too ${size}. You passed ${shown(value)} in the request, but the ${kind} value is ${shown(Number(bound))}.`,
  );
}
