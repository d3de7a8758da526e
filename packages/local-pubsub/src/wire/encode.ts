/** Encodes the model as protobuf messages. No rules. */
import { fromMs } from '@cairn/local-kit/wire/timestamp';
import {
  type DeclaredSettings,
  messageId,
  type SnapshotConfig,
  type SubscriptionConfig,
  type TopicConfig,
} from '../model/resources.ts';
import type { Received } from '../service/feed.ts';
import { settingsToWire } from './decode-schema.ts';

const ACTIVE = 1;

/** Settings with an output-only state. For ingestion each source has its own. */
const WITH_STATE = ['bigqueryConfig', 'cloudStorageConfig', 'bigtableConfig'];
const INGESTION = 'ingestionDataSourceSettings';
const LOGS_OF_INGESTION = 'platformLogsSettings';

/** Returns the state of a working setting, because programs wait for it. A notice says that it is not applied. */
function withStates(declared: DeclaredSettings = {}): DeclaredSettings {
  return Object.fromEntries(
    Object.entries(declared).map(([name, value]) => {
      if (WITH_STATE.includes(name)) return [name, { ...(value as object), state: ACTIVE }];
      return [name, name === INGESTION ? activeSources(value as object) : value];
    }),
  );
}

const activeSources = (settings: object) =>
  Object.fromEntries(
    Object.entries(settings).map(([name, source]: [string, object]) => [
      name,
      name === LOGS_OF_INGESTION ? source : { ...source, state: ACTIVE },
    ]),
  );

export function toWireTopic({ name, labels, retentionMs, schema, storage, declared }: TopicConfig): object {
  return {
    ...withStates(declared),
    name,
    labels,
    ...(retentionMs !== undefined && { messageRetentionDuration: fromMs(retentionMs) }),
    ...(schema && { schemaSettings: settingsToWire(schema) }),
    ...(storage && {
      messageStoragePolicy: {
        allowedPersistenceRegions: storage.regions,
        enforceInTransit: storage.inTransit,
      },
    }),
    state: ACTIVE,
  };
}

export function toWireSnapshot({ name, topic, expiresAt, labels }: SnapshotConfig): object {
  return { name, topic, expireTime: fromMs(expiresAt), labels };
}

/** @param topicRetentionMs retention of its topic, which is returned with the subscription */
export function toWireSubscription(config: SubscriptionConfig, topicRetentionMs: number | undefined): object {
  const { push, retry, deadLetter, expiresAfterMs } = config;
  return {
    ...withStates(config.declared),
    name: config.name,
    topic: config.topic,
    pushConfig: push
      ? {
          pushEndpoint: push.endpoint,
          attributes: push.attributes,
          ...(push.oidc && { oidcToken: push.oidc }),
          ...(push.unwrapped && { noWrapper: push.unwrapped }),
        }
      : {},
    ackDeadlineSeconds: config.ackDeadlineMs / 1000,
    retainAckedMessages: config.retainAcked,
    messageRetentionDuration: fromMs(config.retentionMs),
    labels: config.labels,
    enableMessageOrdering: config.ordered,
    expirationPolicy: expiresAfterMs === undefined ? {} : { ttl: fromMs(expiresAfterMs) },
    filter: config.filter,
    ...(deadLetter && {
      deadLetterPolicy: {
        deadLetterTopic: deadLetter.topic,
        maxDeliveryAttempts: deadLetter.maxDeliveryAttempts,
      },
    }),
    ...(retry && {
      retryPolicy: {
        minimumBackoff: fromMs(retry.minBackoffMs),
        maximumBackoff: fromMs(retry.maxBackoffMs),
      },
    }),
    detached: config.detached,
    enableExactlyOnceDelivery: config.exactlyOnce,
    ...(topicRetentionMs !== undefined && { topicMessageRetentionDuration: fromMs(topicRetentionMs) }),
    state: ACTIVE,
  };
}

export function toWireReceived({ ackId, message, attempt }: Received): object {
  return {
    ackId,
    message: {
      data: message.data,
      attributes: message.attributes,
      messageId: messageId(message.id),
      publishTime: fromMs(message.publishedAt),
      orderingKey: message.orderingKey,
    },
    deliveryAttempt: attempt,
  };
}
