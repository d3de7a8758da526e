/** The Pub/Sub messages that start a workflow or bring it events: their declaration and its checks. */
import type { Json } from '../../core/encoding/json.ts';
import { invalid } from './step-options.ts';

/** A message as a mapping gets it. Plain JSON, and the same at every delivery. */
export type PubsubMessage = {
  /** Name of the topic, without its project. */
  readonly topic: string;
  readonly messageId: string;
  /** ISO 8601; empty if the message does not say. */
  readonly publishedAt: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** Its data, read as UTF-8. */
  readonly text: string;
  readonly json?: Json | undefined;
};

/** Each message of the topic starts a run. */
export interface PubsubStart {
  /** Name of a topic of this project, created at deployment. Only one workflow may use it. */
  readonly topic: string;
  /**
   * The input of the run; absent: the data of the message, which must be JSON. Must be pure. The workflow's schema checks the
   * result. A message without a valid input is dropped and logged.
   */
  readonly input?: (message: PubsubMessage) => unknown;
  readonly deliver?: never;
}

/** Event that a message delivers to waiting runs, as `POST /v1/events` would. */
export interface MessageEvent {
  readonly event: string;
  readonly key: string;
  readonly data?: unknown;
}

/** Each message of the topic is an event for waiting runs, or is buffered for the first that waits. */
export interface PubsubDelivery {
  readonly topic: string;
  /**
   * `attributes`: the message has the attributes `event` and `key`, and its data is JSON or empty. A function maps other
   * messages, and returns undefined to drop one. Must be pure.
   */
  readonly deliver: 'attributes' | ((message: PubsubMessage) => MessageEvent | undefined);
  readonly input?: never;
}

export type PubsubSubscription = PubsubStart | PubsubDelivery;

/** Pub/Sub's own rule for the name of a topic. */
const TOPIC = /^(?!goog)[A-Za-z][\w.~+%-]{2,254}$/;

/** @throws CairnError INVALID_INPUT naming the topic */
export function pubsubSubscriptions(
  type: string,
  given: readonly PubsubSubscription[],
): readonly PubsubSubscription[] {
  const topics = new Set<string>();
  for (const { topic, input, deliver } of given) {
    const refuse = (why: string) => invalid(type, 'on.pubsub', `'${topic}' ${why}`);
    if (!TOPIC.test(topic)) throw refuse('is not a topic name (without its project)');
    if (topics.has(topic)) throw refuse('is listed twice');
    if (input && deliver) throw refuse('must either start runs or deliver events, not both');
    if (typeof deliver === 'string' && deliver !== 'attributes')
      throw refuse("must deliver by 'attributes' or by a function");
    topics.add(topic);
  }
  return given;
}
