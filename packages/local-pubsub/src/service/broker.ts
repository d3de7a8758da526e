/**
 * The subscriptions of one server, and operations that span topics, snapshots and schemas. Owns the set of subscriptions, and keeps
 * feeds and storage consistent. Independent of protobuf; arguments are validated.
 */
import { StorageFullError } from '@cairn/local-kit/sqlite/storage-full';
import type { Cancel, ServerClock } from '@cairn/local-kit/time/clock';
import {
  DELETED_TOPIC,
  projectOf,
  requireSchema,
  requireSnapshot,
  requireSubscription,
  requireTopic,
} from '../model/names.ts';
import {
  messageBytes,
  type Publication,
  type StoredMessage,
  type SubscriptionConfig,
} from '../model/resources.ts';
import { exists, missing, notForPush, PubsubError, precondition, unavailable } from '../model/status.ts';
import type { SeekTarget } from '../storage/message-holders.ts';
import type { PubsubStore } from '../storage/storage.ts';
import { Feed } from './feed.ts';
import { byName, within } from './page.ts';
import type { Pushers } from './push.ts';
import { Snapshots } from './snapshots.ts';
import { SubscriberWatch } from './subscriber-watch.ts';
import { Topics } from './topics.ts';

/** Interval for freeing expired messages; delivery checks the expiry exactly. */
const SWEEP_MS = 10 * 60_000;

interface BrokerOptions {
  readonly store: PubsubStore;
  readonly clock: ServerClock;
  readonly pushers: Pushers;
  /** Unique, also across restarts. */
  readonly freshGeneration: () => string;
  /** Runs the delivery of a message after its publisher received the id. */
  readonly afterAnswer: (deliver: () => void) => void;
  /** Receives a sentence for the person who runs the server. */
  readonly notice?: ((line: string) => void) | undefined;
}

export interface BrokerCounts {
  published: number;
  deadLetters: number;
}

export class Broker {
  readonly #options: BrokerOptions;
  readonly #feeds = new Map<string, Feed>();
  readonly topics: Topics;
  readonly snapshots: Snapshots;
  readonly subscriberWatch = new SubscriberWatch((topic) => this.#hasSubscribers(topic));
  readonly counts: BrokerCounts = { published: 0, deadLetters: 0 };
  #started = false;
  #cancelSweep: Cancel = () => {};

  /** Loads the stored subscriptions; `start()` begins to push. */
  constructor(options: BrokerOptions) {
    this.#options = options;
    this.topics = new Topics(options);
    this.snapshots = new Snapshots(options.store, options.clock);
    for (const config of options.store.subscriptions()) this.#addFeed(config);
  }

  tell(lines: readonly string[]): void {
    for (const line of lines) this.#options.notice?.(line);
  }

  start(): void {
    this.#started = true;
    for (const feed of this.#feeds.values()) this.#options.pushers.follow(feed);
    this.#sweep();
  }

  /** Keeps its subscriptions with their messages. */
  deleteTopic(name: string): void {
    this.topics.get(name);
    const orphans = this.#feedsOf(name).map((feed) => ({
      feed,
      config: { ...feed.config, topic: DELETED_TOPIC },
    }));
    const snapshots = this.snapshots.orphans(name);
    const subscriptions = orphans.map(({ config }) => config);
    this.#options.store.deleteTopic(name, { subscriptions, snapshots });
    this.topics.forget(name);
    this.snapshots.adopt(snapshots);
    for (const { feed, config } of orphans) feed.configure(config);
    this.subscriberWatch.changed();
  }

  /** Atomic. @returns the ids in the order of the messages */
  publish(topic: string, wanted: readonly Publication[]): number[] {
    const { retentionMs } = this.topics.get(topic);
    const publications = this.topics.checked(topic, wanted);
    const feeds = this.#feedsOf(topic);
    const keepers = this.snapshots.of(topic).map(({ name }) => name);
    if (retentionMs !== undefined) keepers.push(topic);
    const addressed = publications.map((publication) => {
      const takers = feeds.filter((feed) => feed.wants(publication.attributes));
      return { publication, takers };
    });
    const publishedAt = this.#options.clock.now();
    const ids = this.#options.store.append(
      addressed.map(({ publication, takers }) => ({
        ...publication,
        bytes: messageBytes(publication),
        holders: [...takers.map((feed) => feed.config.name), ...keepers],
      })),
      publishedAt,
    );
    for (const [index, { publication, takers }] of addressed.entries()) {
      const message: StoredMessage = { ...publication, id: ids[index] as number, publishedAt };
      for (const feed of takers) feed.add(message);
    }
    this.counts.published += ids.length;
    const last = ids.at(-1) ?? 0;
    this.#options.afterAnswer(() => {
      for (const feed of feeds) {
        feed.admit(last);
        feed.pump();
      }
    });
    return ids;
  }

  createSubscription(config: SubscriptionConfig): SubscriptionConfig {
    if (this.#feeds.has(config.name)) throw exists(config.name);
    this.topics.get(config.topic);
    if (config.deadLetter) this.topics.get(config.deadLetter.topic);
    this.#options.store.putSubscription(config);
    const feed = this.#addFeed(config);
    if (this.#started) this.#options.pushers.follow(feed);
    return config;
  }

  ensureSubscription(config: SubscriptionConfig): void {
    if (this.#feeds.has(config.name)) this.updateSubscription(config);
    else this.createSubscription(config);
  }

  updateSubscription(config: SubscriptionConfig): SubscriptionConfig {
    const feed = this.feed(config.name);
    if (config.deadLetter && config.deadLetter.topic !== feed.config.deadLetter?.topic) {
      this.topics.get(config.deadLetter.topic);
    }
    this.#options.store.putSubscription(config);
    // Before the feed releases messages, because these must not be pushed any more.
    if (config.push === undefined) this.#options.pushers.forget(feed);
    feed.configure(config);
    if (this.#started) this.#options.pushers.follow(feed);
    return config;
  }

  /** Checks a resource that can have an access policy. @throws PubsubError for an invalid name or a missing resource */
  requireResource(name: string): void {
    const kind = name.split('/')[2];
    if (kind === 'subscriptions') this.feed(requireSubscription(name));
    else if (kind === 'snapshots') this.snapshots.get(requireSnapshot(name));
    else if (kind === 'schemas') this.topics.schemas.get(requireSchema(name), undefined);
    else this.topics.get(requireTopic(name));
  }

  feed(name: string): Feed {
    const feed = this.#feeds.get(name);
    if (feed === undefined) throw missing(name);
    return feed;
  }

  /** @throws PubsubError for a missing or detached subscription */
  attached(name: string): Feed {
    const feed = this.feed(name);
    if (feed.config.detached) throw precondition('Subscription is detached.');
    return feed;
  }

  /** @throws PubsubError for a missing, detached or push subscription */
  pullable(name: string): Feed {
    const feed = this.attached(name);
    if (feed.config.push) throw notForPush();
    return feed;
  }

  /** By name. */
  subscriptions(project: string): SubscriptionConfig[] {
    return within(
      project,
      [...this.#feeds.values()].map((feed) => feed.config),
    );
  }

  /** The attached ones, by name. */
  subscriptionsOf(topic: string): SubscriptionConfig[] {
    this.topics.get(topic);
    return byName(this.#feedsOf(topic).flatMap(({ config }) => (config.detached ? [] : [config])));
  }

  deleteSubscription(name: string): void {
    const feed = this.feed(name);
    this.#feeds.delete(name);
    this.#options.pushers.forget(feed);
    feed.close(missing(name));
    this.#options.store.deleteSubscription(name);
    this.subscriberWatch.changed();
  }

  /** Drops its messages; it receives no more. */
  detach(name: string): void {
    const feed = this.feed(name);
    const config = { ...feed.config, detached: true };
    this.#options.pushers.forget(feed);
    feed.close(precondition('Subscription is detached.'));
    this.#options.store.detach(config);
    this.#addFeed(config);
  }

  /** Messages published before `time` become acknowledged, later retained ones unacknowledged. */
  seek(name: string, time: number): void {
    const feed = this.attached(name);
    this.topics.dropExpired(feed.config.topic);
    this.#options.store.seek(seekTargetOf(feed), time, feed.config.topic);
    feed.reload();
  }

  /** Messages in the snapshot become unacknowledged, all others acknowledged. */
  seekToSnapshot(name: string, snapshotName: string): void {
    const feed = this.attached(name);
    const snapshot = this.snapshots.get(snapshotName);
    if (snapshot.topic !== feed.config.topic || snapshot.topic === DELETED_TOPIC) {
      throw precondition('The subscription and the snapshot must be of the same topic.');
    }
    this.#options.store.seekToSnapshot(seekTargetOf(feed), snapshotName);
    feed.reload();
  }

  /** Stops pushing; calls are still served. */
  quiesce(): void {
    this.#started = false;
    this.#cancelSweep();
    for (const feed of this.#feeds.values()) this.#options.pushers.forget(feed);
  }

  stop(): void {
    this.quiesce();
    this.#options.pushers.stop();
    for (const feed of this.#feeds.values()) feed.close(unavailable('The local Pub/Sub server is stopping.'));
  }

  #addFeed(config: SubscriptionConfig): Feed {
    const { store, clock, freshGeneration } = this.#options;
    const feed = new Feed({
      config,
      store,
      clock,
      freshGeneration,
      retentionMs: ({ topic, retentionMs }) => Math.max(retentionMs, this.topics.retentionOf(topic) ?? 0),
      forward: (source, message, failures) => this.#forward(source, message, failures),
    });
    this.#feeds.set(config.name, feed);
    this.subscriberWatch.changed();
    return feed;
  }

  #forward(source: SubscriptionConfig, message: StoredMessage, failures: number): boolean {
    const topic = source.deadLetter?.topic;
    if (topic === undefined || !this.topics.has(topic)) return false;
    const attributes = {
      ...message.attributes,
      CloudPubSubDeadLetterSourceDeliveryCount: String(failures),
      CloudPubSubDeadLetterSourceSubscription: source.name.slice(source.name.lastIndexOf('/') + 1),
      CloudPubSubDeadLetterSourceSubscriptionProject: projectOf(source.name),
      CloudPubSubDeadLetterSourceTopicPublishTime: new Date(message.publishedAt).toISOString(),
    };
    try {
      this.publish(topic, [{ data: message.data, orderingKey: message.orderingKey, attributes }]);
    } catch (error) {
      // As for a missing topic, the message stays if the schema of the topic refuses it or the disk is full.
      if (error instanceof PubsubError || error instanceof StorageFullError) return false;
      throw error;
    }
    this.counts.deadLetters++;
    return true;
  }

  /** True for unknown topics, so that publishers get their NOT_FOUND. */
  #hasSubscribers(topic: string): boolean {
    return (
      !this.topics.has(topic) ||
      this.topics.retentionOf(topic) !== undefined ||
      this.snapshots.of(topic).length > 0 ||
      this.#feedsOf(topic).some((feed) => !feed.config.detached)
    );
  }

  #feedsOf(topic: string): Feed[] {
    return [...this.#feeds.values()].filter((feed) => feed.config.topic === topic);
  }

  #sweep(): void {
    try {
      this.snapshots.expire();
      this.topics.sweep();
      for (const feed of this.#feeds.values()) feed.dropExpired();
    } catch (error) {
      // The next sweep repeats it, perhaps with more room.
      if (!(error instanceof StorageFullError)) throw error;
    }
    const { clock } = this.#options;
    this.#cancelSweep = clock.at(clock.now() + SWEEP_MS, () => this.#sweep());
  }
}

const seekTargetOf = (feed: Feed): SeekTarget => ({
  subscription: feed.config.name,
  retain: feed.config.retainAcked,
  wants: (attributes) => feed.wants(attributes),
});
