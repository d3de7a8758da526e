/** Common operations of tests on one topic and one subscription: publish, pull, acknowledge, return. */
import { type PubsubFixture, SUBSCRIPTION, TOPIC, text } from './pubsub-fixture.ts';

/** Calls `pubsub` each time, because every test has its own server. */
export function readerOf(pubsub: () => PubsubFixture) {
  const subscribe = (options: object = {}) =>
    pubsub().subscriber.createSubscription({ name: SUBSCRIPTION, topic: TOPIC, ...options });
  const publish = (data: string, orderingKey = '', attributes: Record<string, string> = {}) =>
    pubsub().publisher.publish({
      topic: TOPIC,
      messages: [{ data: Buffer.from(data), orderingKey, attributes }],
    });
  const pull = async (maxMessages = 100) => {
    const [answer] = await pubsub().subscriber.pull({
      subscription: SUBSCRIPTION,
      maxMessages,
      returnImmediately: true,
    });
    return (answer.receivedMessages ?? []).map(({ ackId, message, deliveryAttempt }) => ({
      ackId: String(ackId),
      data: text(message ?? {}),
      attempt: deliveryAttempt,
      attributes: message?.attributes,
    }));
  };
  const ack = (...ackIds: string[]) =>
    pubsub().subscriber.acknowledge({ subscription: SUBSCRIPTION, ackIds });
  const modify = (ackDeadlineSeconds: number, ...ackIds: string[]) =>
    pubsub().subscriber.modifyAckDeadline({ subscription: SUBSCRIPTION, ackIds, ackDeadlineSeconds });
  const values = async () => (await pull()).map(({ data }) => data);
  return { subscribe, publish, pull, ack, modify, values };
}

/** The one element of a list that must have just one. */
export function only<T>(list: readonly T[]): T {
  if (list.length !== 1) throw new Error(`${list.length} instead of one`);
  return list[0] as T;
}
