import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { v1 } from '@google-cloud/pubsub';
import { status } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { movableClock } from '../../../packages/local-kit/src/time/clock.ts';
import { Broker } from '../../../packages/local-pubsub/src/service/broker.ts';
import { Pushers } from '../../../packages/local-pubsub/src/service/push.ts';
import { PubsubStore } from '../../../packages/local-pubsub/src/storage/storage.ts';
import { subscriptionFrom } from '../../../packages/local-pubsub/src/wire/decode.ts';
import { freshFolder } from '../start/start-fixture.ts';
import { until } from '../support.ts';
import { listen, type PubsubFixture, SUBSCRIPTION, startPubsub, TOPIC, text } from './pubsub-fixture.ts';
import { readerOf } from './reader.ts';

type Stream = ReturnType<v1.SubscriberClient['streamingPull']>;
interface Failure {
  readonly code?: status;
  readonly reason?: string;
  readonly errorInfoMetadata?: Record<string, string>;
}

const LATE_MS = 11_000;
const INVALID = 'PERMANENT_FAILURE_INVALID_ACK_ID';
const UNORDERED = 'TRANSIENT_FAILURE_UNORDERED_ACK_ID';

let pubsub: PubsubFixture;
beforeEach(async () => {
  pubsub = await startPubsub();
  await pubsub.publisher.createTopic({ name: TOPIC });
});
afterEach(() => pubsub.stop());

const { subscribe, publish, pull, ack, modify, values } = readerOf(() => pubsub);
const subscribeOnce = (options: object = {}) => subscribe({ enableExactlyOnceDelivery: true, ...options });
const failureOf = (call: Promise<unknown>): Promise<Failure> =>
  call.then(
    () => ({}),
    (error: Failure) => error,
  );

describe('an acknowledgement', () => {
  test('in time is confirmed; a late one is refused by id, and others of the request count', async () => {
    await subscribeOnce();
    await publish('late');
    const [late] = await pull();
    pubsub.clock.advance(LATE_MS);
    await publish('in time');
    const [again, inTime] = await pull();
    const ids = [late?.ackId, inTime?.ackId].map(String);
    expect(await failureOf(ack(...ids))).toMatchObject({
      code: status.INVALID_ARGUMENT,
      reason: 'EXACTLY_ONCE_ACKID_FAILURE',
      errorInfoMetadata: { [String(late?.ackId)]: INVALID },
    });
    expect(await failureOf(modify(20, ...ids))).toMatchObject({
      errorInfoMetadata: Object.fromEntries(ids.map((id) => [id, INVALID])),
    });
    await ack(String(again?.ackId));
    pubsub.clock.advance(LATE_MS);
    expect(await values()).toEqual([]);
  });

  test('before that of an earlier message of its key gets a retryable error', async () => {
    await subscribeOnce({ enableMessageOrdering: true });
    for (const value of ['1', '2']) await publish(value, 'key');
    const [first, second] = (await pull()).map(({ ackId }) => ackId);
    expect(await failureOf(ack(String(second)))).toMatchObject({
      errorInfoMetadata: { [String(second)]: UNORDERED },
    });
    await ack(String(first), String(second));
    pubsub.clock.advance(LATE_MS);
    expect(await values()).toEqual([]);
  });

  test('with an invalid id is refused like a late one, also with more ids than a response can list', async () => {
    await subscribeOnce();
    await publish('x');
    const [received] = await pull();
    expect(await failureOf(ack('no id'))).toMatchObject({ errorInfoMetadata: { 'no id': INVALID } });
    const many = Array.from({ length: 500 }, (_, n) => `generation-0.${n}.${n}`);
    expect(Object.keys((await failureOf(ack(...many))).errorInfoMetadata ?? {})).toHaveLength(500);
    const refused = await failureOf(ack(String(received?.ackId), ...many, 'one more'));
    expect(refused).toMatchObject({ code: status.INVALID_ARGUMENT });
    expect(refused.errorInfoMetadata).toBeUndefined();
    await ack(String(received?.ackId));
  });

  test('is on disk before it is confirmed', () => {
    const file = join(freshFolder(), 'pubsub.sqlite');
    const clock = movableClock(() => Date.UTC(2026, 0, 1));
    const dispatch = () => Promise.reject(new Error('nothing is pushed'));
    let generations = 0;
    const broker = new Broker({
      store: new PubsubStore({ kind: 'sqlite', file }),
      clock,
      freshGeneration: () => `generation-${++generations}`,
      afterAnswer: (deliver) => deliver(),
      pushers: new Pushers({ clock, dispatch }),
    });
    broker.topics.ensure(TOPIC);
    const config = subscriptionFrom({ name: SUBSCRIPTION, topic: TOPIC, enableExactlyOnceDelivery: true });
    broker.createSubscription(config);
    broker.publish(TOPIC, [{ data: Buffer.from('m'), attributes: {}, orderingKey: '' }]);
    const ackIds: string[] = [];
    broker.feed(SUBSCRIPTION).attach({
      consumer: { maxMessages: 1, maxBytes: 1, outstanding: 0, outstandingBytes: 0 },
      leaseMs: () => 10_000,
      ready: () => true,
      receive: (received) => ackIds.push(...received.map(({ ackId }) => ackId)),
      ended: () => {},
    });
    const onDisk = () => new DatabaseSync(file).prepare('SELECT message FROM pending').all();
    expect(onDisk()).toHaveLength(1);
    expect(broker.feed(SUBSCRIPTION).acknowledge(ackIds).done).toEqual(ackIds);
    // Read in the same turn, before any deferred write.
    expect(onDisk()).toEqual([]);
    broker.stop();
  });
});

test('on a stream is confirmed there, with late and unordered ids', async () => {
  await subscribeOnce({ enableMessageOrdering: true });
  for (const value of ['1', '2']) await publish(value, 'key');
  const stream: Stream = pubsub.subscriber.streamingPull();
  const answers: Record<string, unknown>[] = [];
  const ackIds: string[] = [];
  stream.on('data', (answer: { receivedMessages?: { ackId: string }[] } & Record<string, unknown>) => {
    answers.push(answer);
    ackIds.push(...(answer.receivedMessages ?? []).map(({ ackId }) => ackId));
  });
  stream.on('error', () => {});
  stream.write({ subscription: SUBSCRIPTION, streamAckDeadlineSeconds: 10 });
  await until(() => ackIds.length === 2, 'both messages');
  const [first, second] = ackIds.map(String);
  stream.write({
    ackIds: [second, 'g.0.0'],
    modifyDeadlineAckIds: [first, 'g.0.0'],
    modifyDeadlineSeconds: [20, 20],
  });
  const resultOf = (member: string) => answers.map((answer) => answer[member]).find(Boolean);
  await until(() => resultOf('modifyAckDeadlineConfirmation') !== undefined, 'the confirmations');
  expect(resultOf('subscriptionProperties')).toMatchObject({ exactlyOnceDeliveryEnabled: true });
  expect(resultOf('acknowledgeConfirmation')).toMatchObject({
    ackIds: [],
    invalidAckIds: ['g.0.0'],
    unorderedAckIds: [second],
  });
  expect(resultOf('modifyAckDeadlineConfirmation')).toMatchObject({
    ackIds: [first],
    invalidAckIds: ['g.0.0'],
  });
  stream.cancel();
});

test('the client is informed when delivery becomes exactly once, and gets the results of its acknowledgements', async () => {
  await subscribe();
  const subscription = pubsub.client.subscription('reader', { streamingOptions: { maxStreams: 1 } });
  const outcomes: string[] = [];
  const received = listen(subscription, (message) => {
    if (outcomes.length === 1) pubsub.clock.advance(700_000);
    message.ackWithResponse().then(
      (response) => outcomes.push(response),
      ({ errorCode }) => outcomes.push(errorCode),
    );
  });
  await until(async () => {
    await pubsub.subscriber.updateSubscription({
      subscription: { name: SUBSCRIPTION, enableExactlyOnceDelivery: true },
      updateMask: { paths: ['enable_exactly_once_delivery'] },
    });
    return (subscription as unknown as { _subscriber: { isExactlyOnceDelivery: boolean } })._subscriber
      .isExactlyOnceDelivery;
  }, 'the stream to be told');
  await publish('in time');
  await until(() => outcomes.length === 1, 'the first acknowledgement');
  await publish('late');
  await until(() => outcomes.length === 3, 'its acknowledgement, and that of its next delivery');
  expect(outcomes).toEqual(['SUCCESS', 'INVALID', 'SUCCESS']);
  expect(received.map(text)).toEqual(['in time', 'late', 'late']);
  await subscription.close();
});
