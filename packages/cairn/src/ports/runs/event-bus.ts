/** Publishes the events of runs: at least once, and in order for each ordering key. */

/** One message. Attributes can be filtered by, without reading the text. */
export interface BusMessage {
  /** Messages of one key arrive in the order in which they were published. */
  readonly orderingKey: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** JSON. */
  readonly text: string;
}

export interface EventBus {
  /**
   * Resolves once the bus has all messages, in this order; they must have one ordering key. Throws if it refuses them,
   * or if the outcome is unknown: sending the same again is always right, and may deliver some twice. Returns within
   * seconds either way.
   */
  publish(messages: readonly BusMessage[]): Promise<void>;
  /** False: it is known that there is no subscriber. Absent: the bus cannot know. */
  readonly isReachable?: (() => boolean) | undefined;
}

/** Pub/Sub's own limits, and what only a bug of the caller can ask for. @throws Error */
export function assertSoundMessages(messages: readonly BusMessage[]): void {
  const key = messages[0]?.orderingKey;
  if (!key) throw new Error('nothing to publish, or without an ordering key');
  if (messages.some(({ orderingKey }) => orderingKey !== key))
    throw new Error('messages of several ordering keys in one request');
}
