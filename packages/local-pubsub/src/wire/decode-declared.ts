/**
 * Settings of topics and subscriptions that this server stores and returns but does not apply: exports, imports, keys, transforms.
 * Owns their rules, and the notices that they are not applied. Pure.
 */
import { Script } from 'node:vm';
import { type Int64, integer, type WireTimestamp } from '@cairn/local-kit/wire/timestamp';
import type protobuf from 'protobufjs';
import type { DeclaredSettings } from '../model/resources.ts';
import { invalid } from '../model/status.ts';
import { durationFrom } from './decode-time.ts';
import type { WireSubscription, WireTopic } from './messages.ts';

/** The effect here of each setting, by name in JSON. Tags are missing, because they are input only. */
const OF_TOPIC = {
  kmsKeyName: 'messages are not encrypted with that key',
  ingestionDataSourceSettings: 'nothing is ingested from there: publish the messages',
  messageTransforms: 'messages are stored as they are published',
} as const;
const OF_SUBSCRIPTION = {
  bigqueryConfig: 'nothing is written to the table: the messages can be pulled',
  cloudStorageConfig: 'nothing is written to the bucket: the messages can be pulled',
  bigtableConfig: 'nothing is written to the table: the messages can be pulled',
  messageTransforms: 'messages are delivered as they are published',
} as const;

const MAX_TRANSFORMS = 5;
/** Size of the code of a function. */
const MAX_CODE = 20 * 1024;
const TABLE = /^[^.\s]+\.[^.\s]+\.[^.\s]+$/;
const BUCKET = /^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$/;
const MIN_FILE_MS = 60_000;
const MAX_FILE_MS = 600_000;
const MIN_FILE_BYTES = 1_000;
const MAX_FILE_BYTES = 10 * 1024 ** 3;
const MIN_FILE_MESSAGES = 1_000;

interface WireTransform {
  readonly javascriptUdf?: { readonly functionName?: string; readonly code?: string } | null;
  readonly aiInference?: { readonly endpoint?: string } | null;
  readonly disabled?: boolean;
}

interface WireBigQuery {
  readonly table?: string;
  readonly useTopicSchema?: boolean;
  readonly useTableSchema?: boolean;
}

interface WireCloudStorage {
  readonly bucket?: string;
  readonly filenameSuffix?: string;
  readonly maxDuration?: WireTimestamp | null;
  readonly maxBytes?: Int64;
  readonly maxMessages?: Int64;
}

/**
 * The settings of a topic after an update of `before`. Only those of `given` are checked, because stored ones have another form
 * (`declared`).
 *
 * @throws PubsubError INVALID_ARGUMENT
 */
export function declaredOfTopic(given: WireTopic, before: DeclaredSettings = {}): DeclaredSettings {
  const { ingestionDataSourceSettings: ingestion } = given;
  if (ingestion && Object.keys(ingestion).length === 0) throw invalid('No ingestion source provided');
  checkTransforms(given.messageTransforms);
  return declared({ ...before, ...given }, Object.keys(OF_TOPIC));
}

/** Like `declaredOfTopic`. @throws PubsubError INVALID_ARGUMENT */
export function declaredOfSubscription(
  given: WireSubscription,
  before: DeclaredSettings = {},
): DeclaredSettings {
  const after: WireSubscription = { ...before, ...given };
  const { pushConfig, bigqueryConfig, cloudStorageConfig, bigtableConfig } = after;
  const targets = [pushConfig?.pushEndpoint, bigqueryConfig, cloudStorageConfig, bigtableConfig];
  if (targets.filter(Boolean).length > 1) {
    throw invalid(
      'At most one of push_config, bigquery_config, cloud_storage_config and bigtable_config can be set.',
    );
  }
  if (given.bigqueryConfig) checkBigQuery(given.bigqueryConfig);
  if (given.cloudStorageConfig) checkCloudStorage(given.cloudStorageConfig);
  checkTransforms(given.messageTransforms);
  return declared(after, Object.keys(OF_SUBSCRIPTION));
}

/** A sentence for each setting that is not applied. */
export function notCarriedOut(resource: {
  readonly name: string;
  readonly declared?: DeclaredSettings | undefined;
}): readonly string[] {
  const words: Readonly<Record<string, string>> = resource.name.includes('/topics/')
    ? OF_TOPIC
    : OF_SUBSCRIPTION;
  return Object.keys(resource.declared ?? {}).map(
    (setting) =>
      `${setting} of ${resource.name} is stored and returned, but not applied: ${words[setting] ?? 'see the documentation'}`,
  );
}

/** Converts settings to encodable JSON: numbers for enums, texts for 64-bit numbers. */
function declared(wire: object, names: readonly string[]): DeclaredSettings {
  const given = wire as Readonly<Record<string, unknown>>;
  const set = names.filter((name) => {
    const value = given[name];
    return Array.isArray(value) ? value.length > 0 : Boolean(value);
  });
  return Object.fromEntries(set.map((name) => [name, plain(given[name])]));
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  const message = value as { readonly $type?: protobuf.Type };
  return message.$type?.toObject(value as protobuf.Message, { longs: String }) ?? value;
}

function checkTransforms(transforms: readonly WireTransform[] | null | undefined): void {
  const enabled = (transforms ?? []).filter(({ disabled }) => !disabled).length;
  if (enabled > MAX_TRANSFORMS) {
    throw invalid(
      `The request exceeds the maximum number of enabled message transforms. Maximum enabled transforms: ${MAX_TRANSFORMS}. Enabled transforms: ${enabled}`,
    );
  }
  for (const { javascriptUdf } of transforms ?? []) if (javascriptUdf) checkFunction(javascriptUdf);
}

/** The code is compiled, never run. */
function checkFunction({ functionName = '', code = '' }: NonNullable<WireTransform['javascriptUdf']>): void {
  if (!functionName || !code) throw invalid('JavaScriptUDF needs function_name and code.');
  if (Buffer.byteLength(code) > MAX_CODE)
    throw invalid(`JavaScriptUDF.code is longer than ${MAX_CODE} bytes.`);
  try {
    new Script(code);
  } catch (error) {
    throw invalid(`JavaScriptUDF.code does not compile: ${(error as Error).message.slice(0, 200)}`);
  }
}

function checkBigQuery({ table = '', useTopicSchema, useTableSchema }: WireBigQuery): void {
  if (!TABLE.test(table)) throw invalid('BigQueryConfig.table must be {projectId}.{datasetId}.{tableId}.');
  if (useTopicSchema && useTableSchema)
    throw invalid('BigQueryConfig cannot have both use_topic_schema and use_table_schema.');
}

function checkCloudStorage(config: WireCloudStorage): void {
  const { bucket = '', filenameSuffix = '', maxDuration } = config;
  if (!BUCKET.test(bucket))
    throw invalid('CloudStorageConfig.bucket must be the name of a bucket, without "gs://".');
  if (filenameSuffix.endsWith('/'))
    throw invalid('CloudStorageConfig.filename_suffix must not end with "/".');
  const ms = maxDuration ? durationFrom('CloudStorageConfig.max_duration', maxDuration) : MIN_FILE_MS;
  if (ms < MIN_FILE_MS || ms > MAX_FILE_MS)
    throw invalid('CloudStorageConfig.max_duration must be between 1 and 10 minutes.');
  const [bytes, messages] = [integer(config.maxBytes), integer(config.maxMessages)];
  if (bytes !== 0 && (bytes < MIN_FILE_BYTES || bytes > MAX_FILE_BYTES))
    throw invalid('CloudStorageConfig.max_bytes must be between 1 KB and 10 GiB.');
  if (messages !== 0 && messages < MIN_FILE_MESSAGES)
    throw invalid(`CloudStorageConfig.max_messages must be at least ${MIN_FILE_MESSAGES}.`);
}
