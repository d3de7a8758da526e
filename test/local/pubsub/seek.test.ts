import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { freshFolder } from '../start/start-fixture.ts';
import { refusal } from '../support.ts';
import { PROJECT, type PubsubFixture, SUBSCRIPTION, startPubsub, TOPIC } from './pubsub-fixture.ts';
import { readerOf } from './reader.ts';

const SNAPSHOT = `${PROJECT}/snapshots/before`;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const { FAILED_PRECONDITION, INVALID_ARGUMENT, NOT_FOUND, ALREADY_EXISTS } = status;

let pubsub: PubsubFixture;
beforeEach(async () => {
  pubsub = await startPubsub();
  await pubsub.publisher.createTopic({ name: TOPIC });
});
afterEach(() => pubsub.stop());

const { subscribe, publish, pull, ack, values } = readerOf(() => pubsub);
const snap = (name = SNAPSHOT, subscription = SUBSCRIPTION) =>
  pubsub.subscriber.createSnapshot({ name, subscription });
const seekTo = (snapshot = SNAPSHOT, subscription = SUBSCRIPTION) =>
  pubsub.subscriber.seek({ subscription, snapshot });
const ackAll = async () => ack(...(await pull()).map(({ ackId }) => ackId));
const seekBack = (ms: number) =>
  pubsub.subscriber.seek({
    subscription: SUBSCRIPTION,
    time: { seconds: (pubsub.clock.now() - ms) / 1000 },
  });

describe('a snapshot', () => {
  test('returns the messages that were unacknowledged at its creation and later ones, and no others', async () => {
    await subscribe();
    for (const value of ['1', '2', '3']) await publish(value);
    const [first] = await pull(1);
    await ack(String(first?.ackId));
    await snap();
    await ackAll();
    await publish('4');
    await ackAll();
    await seekTo();
    expect(await values()).toEqual(['2', '3', '4']);
  });

  test('of one subscription can be used by another of the topic, with its own filter', async () => {
    await subscribe({ filter: 'attributes:heard' });
    const other = `${PROJECT}/subscriptions/other`;
    await subscribe({ name: other });
    await publish('old');
    await snap(SNAPSHOT, other);
    await publish('heard', '', { heard: '1' });
    await publish('not heard');
    await ackAll();
    await seekTo();
    expect(await values()).toEqual(['heard']);
  });

  test('survives a restart with its messages and its policy', async () => {
    const storage = { kind: 'sqlite' as const, file: join(freshFolder(), 'pubsub.sqlite') };
    await pubsub.stop();
    pubsub = await startPubsub(storage);
    await pubsub.publisher.createTopic({ name: TOPIC });
    await subscribe();
    await publish('kept');
    await snap();
    await ackAll();
    const bindings = [{ role: 'roles/pubsub.viewer', members: ['allUsers'], condition: null }];
    await pubsub.client.topic(TOPIC).iam.setPolicy({ bindings });
    await pubsub.stop();
    pubsub = await startPubsub(storage);
    await seekTo();
    expect(await values()).toEqual(['kept']);
    expect((await pubsub.client.topic(TOPIC).iam.getPolicy())[0]?.bindings).toEqual(bindings);
    await pubsub.publisher.deleteTopic({ topic: TOPIC });
    await pubsub.publisher.createTopic({ name: TOPIC });
    expect((await pubsub.client.topic(TOPIC).iam.getPolicy())[0]?.bindings).toEqual([]);
  });

  test('is read, listed, relabelled and deleted; the store then keeps nothing for it', async () => {
    await subscribe();
    await snap();
    expect((await refusal(snap())).code).toBe(ALREADY_EXISTS);
    const [unnamed] = await pubsub.subscriber.createSnapshot({ subscription: SUBSCRIPTION });
    const [updated] = await pubsub.subscriber.updateSnapshot({
      snapshot: { name: SNAPSHOT, labels: { a: 'b' } },
      updateMask: { paths: ['labels'] },
    });
    expect(updated).toMatchObject({ name: SNAPSHOT, topic: TOPIC, labels: { a: 'b' } });
    const names = [SNAPSHOT, String(unnamed.name)];
    const [all] = await pubsub.subscriber.listSnapshots({ project: PROJECT });
    expect(all.map(({ name }) => name)).toEqual(names);
    expect((await pubsub.publisher.listTopicSnapshots({ topic: TOPIC }))[0]).toEqual(names);
    await pubsub.subscriber.deleteSnapshot({ snapshot: SNAPSHOT });
    expect((await refusal(pubsub.subscriber.getSnapshot({ snapshot: SNAPSHOT }))).code).toBe(NOT_FOUND);
    expect((await refusal(seekTo())).code).toBe(NOT_FOUND);
  });

  test('expires a week after its oldest message, and is refused if it would live less than an hour', async () => {
    await subscribe();
    await publish('old');
    pubsub.clock.advance(6 * DAY_MS);
    const [{ expireTime }] = await snap();
    expect(Number(expireTime?.seconds) * 1000).toBe(pubsub.clock.now() + DAY_MS);
    const later = {
      snapshot: { name: SNAPSHOT, expireTime: { seconds: Number(expireTime?.seconds) + 1 } },
      updateMask: { paths: ['expire_time'] },
    };
    expect((await refusal(pubsub.subscriber.updateSnapshot(later))).code).toBe(INVALID_ARGUMENT);
    pubsub.clock.advance(DAY_MS - HOUR_MS + 1);
    expect((await refusal(snap(`${PROJECT}/snapshots/late`))).code).toBe(FAILED_PRECONDITION);
    pubsub.clock.advance(HOUR_MS);
    expect((await refusal(seekTo())).code).toBe(NOT_FOUND);
  });

  test('of another topic, or of a deleted one, is refused for a seek', async () => {
    await subscribe();
    await snap();
    const [topic, subscription] = [`${PROJECT}/topics/other`, `${PROJECT}/subscriptions/other`];
    await pubsub.publisher.createTopic({ name: topic });
    await subscribe({ name: subscription, topic });
    expect((await refusal(seekTo(SNAPSHOT, subscription))).code).toBe(FAILED_PRECONDITION);
    await pubsub.publisher.deleteTopic({ topic: TOPIC });
    expect((await pubsub.subscriber.getSnapshot({ snapshot: SNAPSHOT }))[0].topic).toBe('_deleted-topic_');
    expect((await refusal(seekTo())).code).toBe(FAILED_PRECONDITION);
  });
});

describe('what a topic retains', () => {
  const retain = (seconds: number | undefined) =>
    pubsub.publisher.updateTopic({
      topic: { name: TOPIC, ...(seconds && { messageRetentionDuration: { seconds } }) },
      updateMask: { paths: ['message_retention_duration'] },
    });

  test('is delivered to a later subscription that seeks back, within the retention of the topic', async () => {
    const [topic] = await retain(DAY_MS / 1000);
    expect(topic.messageRetentionDuration).toMatchObject({ seconds: '86400' });
    await publish('first');
    pubsub.clock.advance(HOUR_MS);
    await publish('second');
    const [made] = await subscribe();
    expect(made.topicMessageRetentionDuration).toMatchObject({ seconds: '86400' });
    expect(await values()).toEqual([]);
    await seekBack(HOUR_MS / 2);
    expect(await values()).toEqual(['second']);
    await seekBack(2 * HOUR_MS);
    const all = await pull();
    expect(all.map(({ data }) => data)).toEqual(['first', 'second']);
    await ack(...all.map(({ ackId }) => ackId));
    pubsub.clock.advance(DAY_MS);
    await seekBack(2 * DAY_MS);
    expect(await values()).toEqual(['second']);
  });

  test('is dropped when retention is turned off; labels can be changed alone', async () => {
    await retain(600);
    await publish('gone');
    await pubsub.publisher.updateTopic({
      topic: { name: TOPIC, labels: { a: 'b' } },
      updateMask: { paths: ['labels'] },
    });
    expect((await pubsub.publisher.getTopic({ topic: TOPIC }))[0]).toMatchObject({
      labels: { a: 'b' },
      messageRetentionDuration: { seconds: '600' },
    });
    await retain(undefined);
    expect((await pubsub.publisher.getTopic({ topic: TOPIC }))[0].messageRetentionDuration).toBeNull();
    await subscribe();
    await seekBack(HOUR_MS);
    expect(await values()).toEqual([]);
    expect((await refusal(retain(599))).code).toBe(INVALID_ARGUMENT);
  });
});
