/**
 * The topics and subscriptions of one server and every operation on them, in domain words. Owns which names are taken
 * and keeps feeds and storage in step. Knows no protobuf; arguments are already validated.
 */
import type { Cancel, Clock } from '../../time/clock.ts';
import { DELETED_TOPIC, projectOf } from '../model/names.ts';
import {
  type Message,
  messageBytes,
  type Publication,
  type SubscriptionConfig,
  type TopicConfig,
} from '../model/resources.ts';
import { exists, missing, precondition, unavailable } from '../model/status.ts';
import type { PubsubStore } from '../storage/storage.ts';
import { Feed } from './feed.ts';
import type { Pushers } from './push.ts';

/** Exact expiry happens on delivery; this frees what nobody receives. */
const SWEEP_MS = 10 * 60_000;

export interface BrokerOptions {
  readonly store: PubsubStore;
  readonly clock: Clock;
  readonly pushers: Pushers;
  /** Never the same twice, not even after a restart. */
  readonly freshGeneration: () => string;
}

export interface BrokerCounts {
  published: number;
  deadLetters: number;
}

export class Broker {
  readonly #options: BrokerOptions;
  readonly #topics = new Map<string, TopicConfig>();
  readonly #feeds = new Map<string, Feed>();
  readonly counts: BrokerCounts = { published: 0, deadLetters: 0 };
  #started = false;
  #cancelSweep: Cancel = () => {};

  /** Loads what storage holds; pushing starts with `start()`. */
  constructor(options: BrokerOptions) {
    this.#options = options;
    for (const topic of options.store.topics()) this.#topics.set(topic.name, topic);
    for (const config of options.store.subscriptions()) this.#addFeed(config);
  }

  start(): void {
    this.#started = true;
    for (const feed of this.#feeds.values()) this.#options.pushers.follow(feed);
    this.#sweep();
  }

  createTopic(topic: TopicConfig): TopicConfig {
    if (this.#topics.has(topic.name)) throw exists(topic.name);
    return this.#putTopic(topic);
  }

  ensureTopic(name: string): void {
    if (!this.#topics.has(name)) this.#putTopic({ name, labels: {} });
  }

  updateTopic(topic: TopicConfig): TopicConfig {
    this.topic(topic.name);
    return this.#putTopic(topic);
  }

  topic(name: string): TopicConfig {
    const topic = this.#topics.get(name);
    if (topic === undefined) throw missing(name);
    return topic;
  }

  /** By name. */
  topics(project: string): TopicConfig[] {
    return within(project, [...this.#topics.values()]);
  }

  /** Its subscriptions stay, with what they have, and get nothing more. */
  deleteTopic(name: string): void {
    this.topic(name);
    const orphans = this.#feedsOf(name).map((feed) => ({
      feed,
      config: { ...feed.config, topic: DELETED_TOPIC },
    }));
    this.#options.store.deleteTopic(
      name,
      orphans.map(({ config }) => config),
    );
    this.#topics.delete(name);
    for (const { feed, config } of orphans) feed.configure(config);
  }

  /** All or nothing. @returns the ids, in the order of the messages */
  publish(topic: string, publications: readonly Publication[]): number[] {
    this.topic(topic);
    const feeds = this.#feedsOf(topic);
    const addressed = publications.map((publication) => {
      const takers = feeds.filter((feed) => feed.wants(publication.attributes));
      return { publication, takers };
    });
    const publishedAt = this.#options.clock.now();
    const ids = this.#options.store.append(
      addressed.map(({ publication, takers }) => ({
        ...publication,
        bytes: messageBytes(publication),
        subscriptions: takers.map((feed) => feed.config.name),
      })),
      publishedAt,
    );
    for (const [index, { publication, takers }] of addressed.entries()) {
      const message: Message = { ...publication, id: ids[index] as number, publishedAt };
      for (const feed of takers) feed.add(message);
    }
    this.counts.published += ids.length;
    for (const feed of feeds) feed.pump();
    return ids;
  }

  createSubscription(config: SubscriptionConfig): SubscriptionConfig {
    if (this.#feeds.has(config.name)) throw exists(config.name);
    this.topic(config.topic);
    if (config.deadLetter) this.topic(config.deadLetter.topic);
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
      this.topic(config.deadLetter.topic);
    }
    this.#options.store.putSubscription(config);
    feed.configure(config);
    if (this.#started) this.#options.pushers.follow(feed);
    return config;
  }

  feed(name: string): Feed {
    const feed = this.#feeds.get(name);
    if (feed === undefined) throw missing(name);
    return feed;
  }

  /** One that a subscriber may take from. @throws PubsubError */
  attached(name: string): Feed {
    const feed = this.feed(name);
    if (feed.config.detached) throw precondition('Subscription is detached.');
    return feed;
  }

  /** By name. */
  subscriptions(project: string): SubscriptionConfig[] {
    return within(
      project,
      [...this.#feeds.values()].map((feed) => feed.config),
    );
  }

  /** By name. */
  subscriptionsOf(topic: string): SubscriptionConfig[] {
    this.topic(topic);
    return byName(this.#feedsOf(topic).map((feed) => feed.config));
  }

  deleteSubscription(name: string): void {
    const feed = this.feed(name);
    this.#feeds.delete(name);
    this.#options.pushers.forget(feed);
    feed.close(missing(name));
    this.#options.store.deleteSubscription(name);
  }

  /** Forgets its messages and gets no more. */
  detach(name: string): void {
    const feed = this.feed(name);
    const config = { ...feed.config, detached: true };
    this.#options.pushers.forget(feed);
    feed.close(precondition('Subscription is detached.'));
    this.#options.store.detach(config);
    this.#addFeed(config);
  }

  /** What was published before `time` counts as acknowledged, what is kept since then does not. */
  seek(name: string, time: number): void {
    const feed = this.attached(name);
    this.#options.store.seek(name, time, feed.config.retainAcked);
    feed.reload();
  }

  /** Nothing is pushed any longer; calls are still served. */
  quiesce(): void {
    this.#started = false;
    this.#cancelSweep();
    for (const feed of this.#feeds.values()) this.#options.pushers.forget(feed);
  }

  stop(): void {
    this.quiesce();
    this.#options.pushers.stop();
    for (const feed of this.#feeds.values()) feed.close(unavailable('The local Pub/Sub server stops.'));
  }

  #putTopic(topic: TopicConfig): TopicConfig {
    this.#options.store.putTopic(topic);
    this.#topics.set(topic.name, topic);
    return topic;
  }

  #addFeed(config: SubscriptionConfig): Feed {
    const { store, clock, freshGeneration } = this.#options;
    const feed = new Feed({
      config,
      store,
      clock,
      freshGeneration,
      forward: (source, message, failures) => this.#forward(source, message, failures),
    });
    this.#feeds.set(config.name, feed);
    return feed;
  }

  #forward(source: SubscriptionConfig, message: Message, failures: number): boolean {
    const topic = source.deadLetter?.topic;
    if (topic === undefined || !this.#topics.has(topic)) return false;
    const attributes = {
      ...message.attributes,
      CloudPubSubDeadLetterSourceDeliveryCount: String(failures),
      CloudPubSubDeadLetterSourceSubscription: source.name.slice(source.name.lastIndexOf('/') + 1),
      CloudPubSubDeadLetterSourceSubscriptionProject: projectOf(source.name),
      CloudPubSubDeadLetterSourceTopicPublishTime: new Date(message.publishedAt).toISOString(),
    };
    this.publish(topic, [{ data: message.data, orderingKey: message.orderingKey, attributes }]);
    this.counts.deadLetters++;
    return true;
  }

  #feedsOf(topic: string): Feed[] {
    return [...this.#feeds.values()].filter((feed) => feed.config.topic === topic);
  }

  #sweep(): void {
    for (const feed of this.#feeds.values()) feed.dropExpired();
    const { clock } = this.#options;
    this.#cancelSweep = clock.at(clock.now() + SWEEP_MS, () => this.#sweep());
  }
}

const byName = <T extends { readonly name: string }>(resources: T[]): T[] =>
  resources.sort((a, b) => (a.name < b.name ? -1 : 1));

const within = <T extends { readonly name: string }>(project: string, resources: T[]): T[] =>
  byName(resources.filter(({ name }) => name.startsWith(`${project}/`)));
