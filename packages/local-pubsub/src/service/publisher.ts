/** The calls of `google.pubsub.v1.Publisher`, each an operation of the broker. Owns requests. */
import { requireProject, requireSubscription, requireTopic } from '../model/names.ts';
import { messageId } from '../model/resources.ts';
import { topicFrom, updatedTopic } from '../wire/decode.ts';
import { notCarriedOut } from '../wire/decode-declared.ts';
import { publicationsFrom } from '../wire/decode-messages.ts';
import { toWireTopic } from '../wire/encode.ts';
import type { WireMessage, WireTopic } from '../wire/messages.ts';
import type { Broker } from './broker.ts';
import { pageOf, type ResourcePageRequest } from './page.ts';

interface TopicRequest {
  readonly topic: string;
}

/** Handlers by method name; each returns the response message or throws a `PubsubError`. */
export function publisherCalls(broker: Broker) {
  return {
    CreateTopic(topic: WireTopic) {
      const created = broker.topics.create(topicFrom(topic));
      broker.subscriberWatch.changed();
      broker.tell(notCarriedOut(created));
      return toWireTopic(created);
    },

    UpdateTopic({
      topic,
      updateMask,
    }: {
      topic?: WireTopic | null;
      updateMask?: { paths?: string[] } | null;
    }) {
      const before = broker.topics.get(requireTopic(topic?.name ?? ''));
      const updated = broker.topics.update(updatedTopic(before, topic ?? {}, updateMask?.paths));
      broker.subscriberWatch.changed();
      broker.tell(notCarriedOut(updated));
      return toWireTopic(updated);
    },

    GetTopic: ({ topic }: TopicRequest) => toWireTopic(broker.topics.get(requireTopic(topic))),

    ListTopics(request: ResourcePageRequest & { project: string }) {
      const { page, nextPageToken } = pageOf(broker.topics.in(requireProject(request.project)), request);
      return { topics: page.map(toWireTopic), nextPageToken };
    },

    ListTopicSubscriptions(request: ResourcePageRequest & TopicRequest) {
      const { page, nextPageToken } = pageOf(broker.subscriptionsOf(requireTopic(request.topic)), request);
      return { subscriptions: page.map(({ name }) => name), nextPageToken };
    },

    DeleteTopic({ topic }: TopicRequest) {
      broker.deleteTopic(requireTopic(topic));
      return {};
    },

    Publish({ topic, messages }: TopicRequest & { messages: WireMessage[] }) {
      const ids = broker.publish(requireTopic(topic), publicationsFrom(messages));
      return { messageIds: ids.map(messageId) };
    },

    DetachSubscription({ subscription }: { subscription: string }) {
      broker.detach(requireSubscription(subscription));
      return {};
    },
  };
}
