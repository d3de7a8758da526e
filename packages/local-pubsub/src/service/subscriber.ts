/** The unary calls of `google.pubsub.v1.Subscriber`, each an operation of the broker or a feed. Owns requests. */

import type { ServerClock } from '@cairn/local-kit/time/clock';
import type { WireTimestamp } from '@cairn/local-kit/wire/timestamp';
import { projectOf, requireProject, requireSnapshot, requireSubscription } from '../model/names.ts';
import { LIMITS, type SubscriptionConfig } from '../model/resources.ts';
import { invalid } from '../model/status.ts';
import { pullIfExactlyOnce, pushFrom, subscriptionFrom, updatedSubscription } from '../wire/decode.ts';
import { declaredOfSubscription, notCarriedOut } from '../wire/decode-declared.ts';
import { timeFrom } from '../wire/decode-time.ts';
import { toWireReceived, toWireSubscription } from '../wire/encode.ts';
import type { WirePushConfig, WireSubscription } from '../wire/messages.ts';
import type { Broker } from './broker.ts';
import { type AckResult, type Feed, REFUSED } from './feed.ts';
import { pageOf, type ResourcePageRequest } from './page.ts';
import { pull } from './pull.ts';

interface SubscriptionRequest {
  readonly subscription: string;
}

/**
 * Handlers by method name; each returns the response message or throws a `PubsubError`.
 *
 * @param freshId id of an unnamed subscription
 */
export function subscriberCalls(broker: Broker, clock: ServerClock, freshId: () => string) {
  const resourceOf = (config: SubscriptionConfig) =>
    toWireSubscription(config, broker.topics.retentionOf(config.topic));
  const resourceWithNotice = (config: SubscriptionConfig) => {
    broker.tell(notCarriedOut(config));
    return resourceOf(config);
  };
  return {
    CreateSubscription(subscription: WireSubscription) {
      const { name, topic } = subscription;
      const subscriptionName = name || `projects/${projectOf(topic ?? '')}/subscriptions/${freshId()}`;
      return resourceWithNotice(
        broker.createSubscription(subscriptionFrom({ ...subscription, name: subscriptionName })),
      );
    },

    GetSubscription: ({ subscription }: SubscriptionRequest) =>
      resourceOf(broker.feed(requireSubscription(subscription)).config),

    UpdateSubscription({
      subscription,
      updateMask,
    }: {
      subscription?: WireSubscription | null;
      updateMask?: { paths?: string[] } | null;
    }) {
      const before = broker.feed(requireSubscription(subscription?.name ?? '')).config;
      return resourceWithNotice(
        broker.updateSubscription(updatedSubscription(before, subscription ?? {}, updateMask?.paths)),
      );
    },

    ListSubscriptions(request: ResourcePageRequest & { project: string }) {
      const { page, nextPageToken } = pageOf(broker.subscriptions(requireProject(request.project)), request);
      return { subscriptions: page.map(resourceOf), nextPageToken };
    },

    DeleteSubscription({ subscription }: SubscriptionRequest) {
      broker.deleteSubscription(requireSubscription(subscription));
      return {};
    },

    ModifyPushConfig({
      subscription,
      pushConfig,
    }: SubscriptionRequest & { pushConfig?: WirePushConfig | null }) {
      const before = broker.feed(requireSubscription(subscription)).config;
      declaredOfSubscription({ pushConfig: pushConfig ?? null }, before.declared);
      broker.updateSubscription(pullIfExactlyOnce({ ...before, push: pushFrom(pushConfig) }));
      return {};
    },

    Acknowledge({ subscription, ackIds }: SubscriptionRequest & { ackIds: string[] }) {
      const feed = broker.feed(requireSubscription(subscription));
      if (ackIds.length === 0) throw invalid('No ack ids specified.');
      requireAllDone(feed, feed.acknowledge(ackIds));
      return {};
    },

    ModifyAckDeadline({
      subscription,
      ackIds,
      ackDeadlineSeconds,
    }: SubscriptionRequest & { ackIds: string[]; ackDeadlineSeconds: number }) {
      const feed = broker.feed(requireSubscription(subscription));
      if (ackIds.length === 0) throw invalid('No ack ids specified.');
      requireAllDone(feed, feed.modifyDeadline(ackIds, deadlineMs(ackDeadlineSeconds)));
      return {};
    },

    async Pull(
      request: SubscriptionRequest & { maxMessages: number; returnImmediately: boolean },
      cancelled: AbortSignal,
    ) {
      const feed = broker.pullable(requireSubscription(request.subscription));
      if (request.maxMessages <= 0) throw invalid('max_messages must be a positive integer.');
      const { maxMessages: most, returnImmediately } = request;
      const received = await pull({ feed, clock, most, returnImmediately, cancelled });
      return { receivedMessages: received.map(toWireReceived) };
    },

    Seek({
      subscription,
      time,
      snapshot,
    }: SubscriptionRequest & { time?: WireTimestamp | null; snapshot?: string }) {
      requireSubscription(subscription);
      if (snapshot) broker.seekToSnapshot(subscription, requireSnapshot(snapshot));
      else if (time) broker.seek(subscription, timeFrom('SeekRequest.time', time));
      else throw invalid('SeekRequest.target must be set.');
      return {};
    },
  };
}

/** 0 returns the message. */
export function deadlineMs(seconds: number): number {
  if (seconds < 0 || seconds * 1000 > LIMITS.maxAckDeadlineMs) {
    throw invalid(`ack_deadline_seconds must be in [0, 600], is ${seconds}.`);
  }
  return seconds * 1000;
}

/**
 * With exactly-once delivery, throws an error that names the refused ids; the others took effect. Without it, refused ids are
 * ignored.
 */
function requireAllDone(feed: Feed, { invalid: unknown, unordered }: AckResult): void {
  if (!feed.config.exactlyOnce || unknown.length + unordered.length === 0) return;
  throw invalid(REFUSED, {
    reason: 'EXACTLY_ONCE_ACKID_FAILURE',
    metadata: Object.fromEntries([
      ...unknown.map((ackId) => [ackId, 'PERMANENT_FAILURE_INVALID_ACK_ID']),
      ...unordered.map((ackId) => [ackId, 'TRANSIENT_FAILURE_UNORDERED_ACK_ID']),
    ]),
  });
}
