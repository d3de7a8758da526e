/** Publishes the events of runs: at least once, and in order for each ordering key. */

/** One message. Subscribers can filter by attributes without reading the text. */
export interface BusMessage {
  /** Messages with the same key arrive in the order in which they were published. */
  readonly orderingKey: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** JSON. */
  readonly text: string;
}

export interface EventBus {
  /**
   * Resolves once the bus has all messages, in this order. They must have the same ordering key. Throws if the bus refuses them,
   * or if the outcome is unknown: sending the same again is always correct, and may deliver some twice. Settles within
   * seconds in either case.
   */
  publish(messages: readonly BusMessage[]): Promise<void>;
  /** False if there is certainly no subscriber. Absent if the bus cannot know. */
  readonly isReachable?: (() => boolean) | undefined;
}

/** Checks Pub/Sub's limits and rules that only a bug of the caller can violate. @throws Error */
export function assertSoundMessages(messages: readonly BusMessage[]): void {
  const key = messages[0]?.orderingKey;
  if (!key) throw new Error('nothing to publish, or without an ordering key');
  if (messages.some(({ orderingKey }) => orderingKey !== key))
    throw new Error('messages of several ordering keys in one request');
}
