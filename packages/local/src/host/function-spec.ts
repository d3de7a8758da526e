/**
 * The part of an exported function's metadata (`fn.__endpoint` of firebase-functions) that the host honours. Converts
 * metadata to plain JSON values; starts nothing.
 */
import type { IndexesFile } from '@cairn/local-firestore/indexes';
import { firstMessageHandler, firstScheduleHandler, firstTopicIn, PUBLISHED } from './first-generation.ts';
import { messageHandler } from './pubsub/message-handler.ts';

export interface QueueTrigger {
  readonly kind: 'task-queue';
  readonly retry: {
    readonly maxAttempts: number | undefined;
    readonly maxRetrySeconds: number | undefined;
    readonly minBackoffSeconds: number | undefined;
    readonly maxBackoffSeconds: number | undefined;
    readonly maxDoublings: number | undefined;
  };
  readonly rates: {
    readonly maxDispatchesPerSecond: number | undefined;
    readonly maxConcurrentDispatches: number | undefined;
  };
}

export interface ScheduleTrigger {
  readonly kind: 'schedule';
  /** `every 5 minutes` or a cron expression. */
  readonly schedule: string;
  readonly timeZone: string;
  /** Retries of a failed execution; default 0. */
  readonly retryCount: number;
}

export interface MessageTrigger {
  readonly kind: 'message';
  /** Short name of a Pub/Sub topic. */
  readonly topic: string;
}

type FunctionTrigger =
  | { readonly kind: 'https' }
  | MessageTrigger
  | QueueTrigger
  | ScheduleTrigger
  /** `what`: the type of its events or, without one, of its trigger. */
  | { readonly kind: 'unsupported'; readonly what: string };

export interface FunctionSpec {
  /** The export's name; nested exports are joined with `-`, as `firebase deploy` does. */
  readonly name: string;
  readonly region: string;
  readonly trigger: FunctionTrigger;
  readonly timeoutSeconds: number;
  /** Requests of this function one worker may serve at a time. */
  readonly concurrency: number;
  /** Declared memory of an instance; absent: the default. */
  readonly memoryMib?: number | undefined;
  readonly secrets: readonly string[];
  /** The function uses only the part of request and response that `link/` supports, so small requests reach it by frames. */
  readonly takesWhole?: true;
  /** Location of the runs of its Cairn installation; one function of each installation provides it. */
  readonly store?: FunctionStore;
}

export interface FunctionStore {
  /** Id of a Firestore database. */
  readonly database: string;
  readonly collectionPrefix: string;
  /** Indexes that it needs, as in `firestore.indexes.json`. */
  readonly indexes?: IndexesFile;
}

export type FunctionHandler = (request: unknown, response: unknown) => unknown;

interface LoadedFunction {
  readonly spec: FunctionSpec;
  readonly handler: FunctionHandler;
}

/** Second-generation defaults of Cloud Functions. */
const DEFAULT_TIMEOUT_S = 60;
const DEFAULT_CONCURRENCY = 80;
const MESSAGE_PUBLISHED = 'google.cloud.pubsub.topic.v1.messagePublished';
const STORE_LOCATION = Symbol.for('cairn:store-location');
const TAKES_WHOLE = Symbol.for('cairn:takes-whole-requests');
const EXPRESSION = Symbol.for('firebase-functions:Expression:Tag');

/** Every function the module exports, in the order of its exports. */
export function functionsOf(module: object, defaultRegion: string, prefix = ''): LoadedFunction[] {
  return Object.entries(module).flatMap(([key, value]: [string, unknown]) => {
    const name = prefix + key;
    if (typeof value === 'function') {
      const endpoint: unknown = (value as { __endpoint?: unknown }).__endpoint;
      if (!isObject(endpoint)) return [];
      const store = storeOf(value, name);
      const described = plain(endpoint);
      const spec = {
        ...specOf(name, described, defaultRegion),
        ...(store && { store }),
        ...(TAKES_WHOLE in value && { takesWhole: true as const }),
      };
      return [{ spec, handler: handlerOf(value as FunctionHandler, spec.trigger, described) }];
    }
    return isObject(value) && !Array.isArray(value) ? functionsOf(value, defaultRegion, `${name}-`) : [];
  });
}

function handlerOf(
  call: FunctionHandler,
  trigger: FunctionTrigger,
  { platform, eventTrigger }: Readonly<Record<string, unknown>>,
): FunctionHandler {
  const isFirst = platform === 'gcfv1';
  if (trigger.kind === 'schedule') return isFirst ? firstScheduleHandler(call) : call;
  if (trigger.kind !== 'message') return call;
  if (!isFirst) return messageHandler(call as (event: object) => unknown, trigger);
  return firstMessageHandler(call, String(filtersOf(eventTrigger).resource));
}

/** The store that a function declares under its deployed name. */
function storeOf(value: object, name: string): FunctionStore | undefined {
  const { [STORE_LOCATION]: locate } = value as { [STORE_LOCATION]?: (name: string) => FunctionStore };
  return locate?.(name);
}

/** The endpoint as JSON, with parameters replaced by their values. A reset value becomes null, which means "the default". */
function plain(endpoint: object): Record<string, unknown> {
  const text = JSON.stringify(endpoint, function (this: Record<string, unknown>, key, value: unknown) {
    const raw = this[key];
    return isObject(raw) && EXPRESSION in raw ? (raw as unknown as { value(): unknown }).value() : value;
  });
  return JSON.parse(text) as Record<string, unknown>;
}

/** Specification of an endpoint in plain JSON values. */
export function specOf(
  name: string,
  endpoint: Readonly<Record<string, unknown>>,
  defaultRegion: string,
): FunctionSpec {
  const regions = Array.isArray(endpoint.region) ? endpoint.region : [endpoint.region];
  const secrets = Array.isArray(endpoint.secretEnvironmentVariables)
    ? endpoint.secretEnvironmentVariables
    : [];
  return {
    name,
    region: typeof regions[0] === 'string' ? regions[0] : defaultRegion,
    trigger: triggerOf(endpoint),
    timeoutSeconds: number(endpoint.timeoutSeconds) ?? DEFAULT_TIMEOUT_S,
    concurrency: number(endpoint.concurrency) ?? DEFAULT_CONCURRENCY,
    memoryMib: number(endpoint.availableMemoryMb),
    secrets: secrets.filter(isObject).map((secret) => String(secret.key)),
  };
}

function triggerOf(endpoint: Readonly<Record<string, unknown>>): FunctionTrigger {
  const { taskQueueTrigger, scheduleTrigger } = endpoint;
  if (isObject(taskQueueTrigger)) return queueTrigger(taskQueueTrigger);
  if (isObject(scheduleTrigger)) {
    const retry = isObject(scheduleTrigger.retryConfig) ? scheduleTrigger.retryConfig : {};
    const { timeZone } = scheduleTrigger;
    return {
      kind: 'schedule',
      schedule: String(scheduleTrigger.schedule),
      timeZone: typeof timeZone === 'string' && timeZone !== '' ? timeZone : 'UTC',
      retryCount: number(retry.retryCount) ?? 0,
    };
  }
  const topic = topicIn(endpoint.eventTrigger);
  if (topic !== undefined) return { kind: 'message', topic };
  if ('httpsTrigger' in endpoint || 'callableTrigger' in endpoint) return { kind: 'https' };
  const [name = 'no trigger', trigger] =
    Object.entries(endpoint).find(([key]) => key.endsWith('Trigger')) ?? [];
  const eventType = isObject(trigger) ? trigger.eventType : undefined;
  return { kind: 'unsupported', what: typeof eventType === 'string' ? eventType : name };
}

/** Undefined for a trigger of other events. */
function topicIn(trigger: unknown): string | undefined {
  if (!isObject(trigger)) return undefined;
  const { topic, resource } = filtersOf(trigger);
  if (trigger.eventType === PUBLISHED) return firstTopicIn(resource);
  return trigger.eventType === MESSAGE_PUBLISHED && typeof topic === 'string' ? topic : undefined;
}

function filtersOf(trigger: unknown): Record<string, unknown> {
  return isObject(trigger) && isObject(trigger.eventFilters) ? trigger.eventFilters : {};
}

function queueTrigger(trigger: Record<string, unknown>): QueueTrigger {
  const retry = isObject(trigger.retryConfig) ? trigger.retryConfig : {};
  const rates = isObject(trigger.rateLimits) ? trigger.rateLimits : {};
  return {
    kind: 'task-queue',
    retry: {
      maxAttempts: number(retry.maxAttempts),
      maxRetrySeconds: number(retry.maxRetrySeconds),
      minBackoffSeconds: number(retry.minBackoffSeconds),
      maxBackoffSeconds: number(retry.maxBackoffSeconds),
      maxDoublings: number(retry.maxDoublings),
    },
    rates: {
      maxDispatchesPerSecond: number(rates.maxDispatchesPerSecond),
      maxConcurrentDispatches: number(rates.maxConcurrentDispatches),
    },
  };
}

const number = (value: unknown) => (typeof value === 'number' ? value : undefined);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
