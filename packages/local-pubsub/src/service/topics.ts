/**
 * The topics of one server, with their retention and schema. The broker has their subscriptions.
 */
import type { ServerClock } from '@cairn/local-kit/time/clock';
import { DELETED_SCHEMA } from '../model/names.ts';
import type { Publication, SchemaRevision, TopicConfig } from '../model/resources.ts';
import { boundsWithout } from '../model/revision-bounds.ts';
import { exists, missing } from '../model/status.ts';
import type { PubsubStore } from '../storage/storage.ts';
import { within } from './page.ts';
import { Schemas } from './schemas.ts';

interface TopicsOptions {
  readonly store: PubsubStore;
  readonly clock: ServerClock;
  /** Unique. */
  readonly freshGeneration: () => string;
}

export class Topics {
  readonly #options: TopicsOptions;
  readonly #topics = new Map<string, TopicConfig>();
  readonly schemas: Schemas;

  /** Loads the stored topics. */
  constructor(options: TopicsOptions) {
    this.#options = options;
    this.schemas = new Schemas(options);
    for (const topic of options.store.topics()) this.#topics.set(topic.name, topic);
  }

  create(topic: TopicConfig): TopicConfig {
    if (this.has(topic.name)) throw exists(topic.name);
    if (topic.schema) this.schemas.requireAll(topic.schema);
    return this.#put(topic);
  }

  /** Creates the topic if it does not exist. */
  ensure(name: string): void {
    if (this.has(name)) return;
    this.#put({ name, labels: {}, retentionMs: undefined, schema: undefined });
  }

  update(topic: TopicConfig): TopicConfig {
    const before = this.get(topic.name);
    if (topic.schema && topic.schema !== before.schema) this.schemas.requireAll(topic.schema);
    this.#put(topic);
    this.dropExpired(topic.name);
    return topic;
  }

  has(name: string): boolean {
    return this.#topics.has(name);
  }

  get(name: string): TopicConfig {
    const topic = this.#topics.get(name);
    if (topic === undefined) throw missing(name);
    return topic;
  }

  /** Topics of a project, sorted by name. */
  in(project: string): TopicConfig[] {
    return within(project, [...this.#topics.values()]);
  }

  /** Call after the store has deleted it. */
  forget(name: string): void {
    this.#topics.delete(name);
  }

  /** Retention of the topic; undefined if it has none or does not exist. */
  retentionOf(name: string): number | undefined {
    return this.#topics.get(name)?.retentionMs;
  }

  /** Drops messages beyond the retention of the topic. */
  dropExpired(name: string): void {
    const { store, clock } = this.#options;
    const retentionMs = this.retentionOf(name);
    store.dropBefore(name, retentionMs === undefined ? Number.MAX_VALUE : clock.now() - retentionMs);
  }

  sweep(): void {
    for (const { name, retentionMs } of this.#topics.values()) {
      if (retentionMs !== undefined) this.dropExpired(name);
    }
  }

  /** The messages as the topic stores them. @throws PubsubError if it refuses one of them */
  checked(name: string, publications: readonly Publication[]): readonly Publication[] {
    const { schema } = this.get(name);
    if (schema === undefined) return publications;
    if (schema.name === DELETED_SCHEMA) throw missing(DELETED_SCHEMA);
    return this.schemas.checked(schema, publications);
  }

  /** Topics with this schema refuse messages from then on. */
  deleteSchema(name: string): void {
    this.schemas.get(name, undefined);
    const orphans = this.#with(name).map((topic) => ({
      ...topic,
      schema: topic.schema && { ...topic.schema, name: DELETED_SCHEMA },
    }));
    this.#options.store.deleteSchema(name, orphans);
    this.schemas.forget(name);
    for (const topic of orphans) this.#topics.set(topic.name, topic);
  }

  /** Topics that name it keep its place among the revisions. @returns the deleted revision */
  deleteSchemaRevision(name: string, revision: string): SchemaRevision {
    const previous = this.schemas.previous(name, revision);
    const topics = this.#with(name).map((topic) => ({
      ...topic,
      schema: topic.schema && boundsWithout(topic.schema, { revision, previous }),
    }));
    const deleted = this.schemas.deleteRevision(name, revision, topics);
    for (const topic of topics) this.#topics.set(topic.name, topic);
    return deleted;
  }

  #with(schema: string): TopicConfig[] {
    return [...this.#topics.values()].filter((topic) => topic.schema?.name === schema);
  }

  #put(topic: TopicConfig): TopicConfig {
    this.#options.store.putTopic(topic);
    this.#topics.set(topic.name, topic);
    return topic;
  }
}
