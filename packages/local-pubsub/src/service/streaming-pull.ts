/**
 * One StreamingPull stream: settings by the first request, acknowledgements by later ones, and flow control. The feed owns
 * order and deadlines.
 */
import { type Int64, integer } from '@cairn/local-kit/wire/timestamp';
import type { Consumer } from '../model/leases.ts';
import { requireSubscription } from '../model/names.ts';
import { LIMITS, type SubscriptionConfig } from '../model/resources.ts';
import { invalid, type PubsubError } from '../model/status.ts';
import { toWireReceived } from '../wire/encode.ts';
import type { WireStreamingPull } from '../wire/messages.ts';
import type { Broker } from './broker.ts';
import type { Feed, FeedReceiver, Received } from './feed.ts';
import { deadlineMs } from './subscriber.ts';

/** The sending half of a stream. */
export interface Outgoing {
  /** @returns false if the client does not keep up; `onDrain` is then called once it does */
  write(response: object, onDrain: () => void): boolean;
  /** Ends the stream with this status. */
  fail(error: PubsubError): void;
}

export class StreamingPull implements FeedReceiver {
  readonly #broker: Broker;
  readonly #outgoing: Outgoing;
  #consumer: Consumer = { maxMessages: 0, maxBytes: 0, outstanding: 0, outstandingBytes: 0 };
  #feed: Feed | undefined;
  #leaseMs = 0;
  #keepAlives = false;
  #draining = false;
  /** Part of every response, because Go's client takes a response without them for an unordered subscription. */
  #properties = { exactlyOnceDeliveryEnabled: false, messageOrderingEnabled: false };

  constructor(broker: Broker, outgoing: Outgoing) {
    this.#broker = broker;
    this.#outgoing = outgoing;
  }

  get consumer(): Consumer {
    return this.#consumer;
  }

  /** One message of the client. @throws PubsubError that ends the stream */
  request(request: WireStreamingPull): void {
    if (this.#feed === undefined) this.#open(request);
    else this.#update(this.#feed, request);
  }

  /** Call when the client has closed the stream. Its messages stay leased until their deadlines. */
  close(): void {
    this.#feed?.detach(this);
  }

  leaseMs(): number {
    return this.#leaseMs;
  }

  ready(): boolean {
    return !this.#draining;
  }

  receive(received: readonly Received[]): void {
    this.#write({ receivedMessages: received.map(toWireReceived) });
  }

  configured(config: SubscriptionConfig): void {
    if (this.#properties.exactlyOnceDeliveryEnabled === config.exactlyOnce) return;
    this.#properties = propertiesOf(config);
    this.#write({});
  }

  ended(error: PubsubError): void {
    this.#outgoing.fail(error);
  }

  #open(request: WireStreamingPull): void {
    const feed = this.#broker.pullable(requireSubscription(request.subscription));
    this.#leaseMs = streamDeadlineMs(request.streamAckDeadlineSeconds);
    this.#consumer = {
      maxMessages: limitOf(request.maxOutstandingMessages),
      maxBytes: limitOf(request.maxOutstandingBytes),
      outstanding: 0,
      outstandingBytes: 0,
    };
    this.#keepAlives = integer(request.protocolVersion) >= 1;
    this.#properties = propertiesOf(feed.config);
    this.#settle(feed, request);
    this.#feed = feed;
    this.#write({});
    feed.attach(this);
  }

  #update(feed: Feed, request: WireStreamingPull): void {
    const { subscription, maxOutstandingMessages, maxOutstandingBytes, protocolVersion } = request;
    const again = [maxOutstandingMessages, maxOutstandingBytes, protocolVersion].some(
      (value) => integer(value) !== 0,
    );
    if (subscription !== '' || again) {
      throw invalid('subscription, flow control and protocol_version can only be set by the first request.');
    }
    if (request.streamAckDeadlineSeconds !== 0) {
      this.#leaseMs = streamDeadlineMs(request.streamAckDeadlineSeconds);
    }
    const empty = request.ackIds.length === 0 && request.modifyDeadlineAckIds.length === 0;
    this.#settle(feed, request);
    // The client drops a stream if its keep-alives are not answered within 15 s.
    if (empty && this.#keepAlives) this.#write({});
  }

  #settle(feed: Feed, { ackIds, modifyDeadlineAckIds, modifyDeadlineSeconds }: WireStreamingPull): void {
    if (modifyDeadlineAckIds.length !== modifyDeadlineSeconds.length) {
      throw invalid('modify_deadline_seconds and modify_deadline_ack_ids must have the same length.');
    }
    const deadlines = modifyDeadlineSeconds.map(deadlineMs);
    if (ackIds.length > 0) {
      const { done, invalid: invalidAckIds, unordered } = feed.acknowledge(ackIds);
      this.#confirm(feed, {
        acknowledgeConfirmation: { ackIds: done, invalidAckIds, unorderedAckIds: unordered },
      });
    }
    const settled = modifyDeadlineAckIds.map((ackId, index) =>
      feed.modifyDeadline([ackId], deadlines[index] as number),
    );
    if (settled.length === 0) return;
    this.#confirm(feed, {
      modifyAckDeadlineConfirmation: {
        ackIds: settled.flatMap(({ done }) => done),
        invalidAckIds: settled.flatMap(({ invalid: unknown }) => unknown),
      },
    });
  }

  #confirm(feed: Feed, confirmation: object): void {
    if (feed.config.exactlyOnce) this.#write(confirmation);
  }

  #write(response: object): void {
    const keptUp = this.#outgoing.write({ ...response, subscriptionProperties: this.#properties }, () => {
      this.#draining = false;
      this.#feed?.pump();
    });
    if (!keptUp) this.#draining = true;
  }
}

const propertiesOf = ({ exactlyOnce, ordered }: SubscriptionConfig) => ({
  exactlyOnceDeliveryEnabled: exactlyOnce,
  messageOrderingEnabled: ordered,
});

/** 0 or less means no limit. */
const limitOf = (value: Int64) => (integer(value) > 0 ? integer(value) : Number.POSITIVE_INFINITY);

function streamDeadlineMs(seconds: number): number {
  const ms = seconds * 1000;
  if (ms >= LIMITS.minAckDeadlineMs && ms <= LIMITS.maxAckDeadlineMs) return ms;
  throw invalid(`stream_ack_deadline_seconds must be in [10, 600], is ${seconds}.`);
}
