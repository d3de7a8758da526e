import { status } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { refusal, until } from '../support.ts';
import { listen, type PubsubFixture, SUBSCRIPTION, startPubsub, TOPIC, text } from './pubsub-fixture.ts';
import { only, readerOf } from './reader.ts';

let pubsub: PubsubFixture;

beforeEach(async () => {
  pubsub = await startPubsub();
  await pubsub.publisher.createTopic({ name: TOPIC });
});
afterEach(() => pubsub.stop());

const { subscribe, publish, pull, ack, values } = readerOf(() => pubsub);

describe('the streaming client', () => {
  test('gets what is published, before and after it subscribed, each once if it acknowledges', async () => {
    await subscribe();
    await publish('before');
    const subscription = pubsub.client.subscription('reader');
    const received = listen(subscription, (message) => message.ack());
    await until(() => received.length === 1, 'what was published before');
    const id = await pubsub.client
      .topic('news')
      .publishMessage({ data: Buffer.from('after'), attributes: { a: 'b' } });
    await until(() => received.length === 2, 'what was published after');
    expect(received.map(text)).toEqual(['before', 'after']);
    expect(received[1]).toMatchObject({ id, attributes: { a: 'b' } });
    await subscription.close();
    pubsub.clock.advance(600_000);
    expect(await values()).toEqual([]);
  });

  test('gets a message only after its publisher has the id', async () => {
    await subscribe();
    const subscription = pubsub.client.subscription('reader');
    const received = listen(subscription, (message) => message.ack());
    await publish('the stream is open');
    await until(() => received.length === 1, 'the stream to be open');
    const deliver = pubsub.holdDeliveries();
    const id = await pubsub.client.topic('news').publishMessage({ data: Buffer.from('m') });
    await pubsub.publisher.getTopic({ topic: TOPIC });
    expect(received).toHaveLength(1);
    deliver();
    await until(() => received.length === 2, 'the message');
    expect(received[1]?.id).toBe(id);
    await subscription.close();
  });

  test('gets messages of a key in order, and again from a nacked one on', async () => {
    await subscribe({ enableMessageOrdering: true });
    const topic = pubsub.client.topic('news', { messageOrdering: true });
    const subscription = pubsub.client.subscription('reader');
    let refused = false;
    const received = listen(subscription, (message) => {
      if (text(message) === '3' && !refused) {
        refused = true;
        message.nack();
      } else message.ack();
    });
    const data = Array.from({ length: 10 }, (_, index) => String(index));
    await Promise.all(
      data.map((value) => topic.publishMessage({ data: Buffer.from(value), orderingKey: 'k' })),
    );
    await until(
      async () => refused && received.filter((message) => text(message) === '9').length > 0,
      'the last',
    );
    await until(() => received.slice(4).some((message) => text(message) === '3'), 'the third again');
    const last = received.map(text).lastIndexOf('3');
    await until(() => received.length >= last + 7, 'all after it');
    expect(received.slice(last).map(text)).toEqual(['3', '4', '5', '6', '7', '8', '9']);
    expect(received.slice(0, 4).map(text)).toEqual(['0', '1', '2', '3']);
    await subscription.close();
  });

  test('has at most the outstanding messages that its flow control allows', async () => {
    await subscribe();
    const subscription = pubsub.client.subscription('reader', {
      flowControl: { maxMessages: 2, allowExcessMessages: false },
    });
    const held: (() => void)[] = [];
    const received = listen(subscription, (message) => held.push(() => message.ack()));
    for (const data of ['a', 'b', 'c', 'd']) await publish(data);
    await until(() => received.length === 2, 'two messages');
    await pubsub.publisher.getTopic({ topic: TOPIC });
    expect(received).toHaveLength(2);
    held.shift()?.();
    await until(() => received.length === 3, 'a third');
    for (const release of held.splice(0)) release();
    await until(() => received.length === 4, 'a fourth');
    for (const release of held.splice(0)) release();
    await subscription.close();
  });

  test('two of them share the messages', async () => {
    await subscribe();
    const seen: string[] = [];
    const streams = [0, 1].map(() => {
      const subscription = pubsub.client.subscription('reader');
      listen(subscription, (message) => {
        seen.push(text(message));
        message.ack();
      });
      return subscription;
    });
    const data = Array.from({ length: 50 }, (_, index) => `m${index}`);
    for (const value of data) await publish(value);
    await until(() => seen.length === 50, 'all messages');
    expect(seen.toSorted()).toEqual(data.toSorted());
    await Promise.all(streams.map((stream) => stream.close()));
  });
});

describe('a stream', () => {
  test('delivers a message only after its publisher has the id, also while other messages are acknowledged', async () => {
    await subscribe();
    const stream = pubsub.subscriber.streamingPull();
    const ackIds = new Map<string, string>();
    stream.on('data', ({ receivedMessages }: { receivedMessages: { ackId: string; message: object }[] }) => {
      for (const { ackId, message } of receivedMessages) ackIds.set(text(message), ackId);
    });
    stream.write({ subscription: SUBSCRIPTION, streamAckDeadlineSeconds: 30 });
    await publish('before');
    await until(() => ackIds.size === 1, 'the message before');
    const deliver = pubsub.holdDeliveries();
    await publish('m');
    await ack(ackIds.get('before') ?? '');
    await pubsub.subscriber.getSubscription({ subscription: SUBSCRIPTION });
    expect([...ackIds.keys()]).toEqual(['before']);
    deliver();
    await until(() => ackIds.has('m'), 'the message');
    stream.end();
    await new Promise((resolve) => stream.once('end', resolve));
  });

  test('delivers more than a client accepts at once, each message once', async () => {
    await subscribe();
    const large = Buffer.alloc(1024 * 1024, 'x');
    for (let i = 0; i < 12; i++) {
      const message = { data: large, attributes: { number: String(i) } };
      await pubsub.publisher.publish({ topic: TOPIC, messages: [message] });
    }
    const subscription = pubsub.client.subscription('reader');
    const received = listen(subscription, (message) => message.ack());
    await until(() => received.length === 12, 'all of them');
    expect(new Set(received.map(({ attributes }) => attributes.number)).size).toBe(12);
    await subscription.close();
  });

  test('sends its properties with every response, and answers keep-alives, without which the client gives up after 15 s', async () => {
    await subscribe({ enableMessageOrdering: true, enableExactlyOnceDelivery: true });
    const stream = pubsub.subscriber.streamingPull();
    const answers: { receivedMessages: { ackId: string }[] }[] = [];
    stream.on('data', (answer) => answers.push(answer));
    stream.write({ subscription: SUBSCRIPTION, streamAckDeadlineSeconds: 10, protocolVersion: 1 });
    await until(() => answers.length === 1, 'the first answer');
    stream.write({});
    await until(() => answers.length === 2, 'an answer to the keep-alive');
    expect(answers[1]).toMatchObject({ receivedMessages: [] });
    await publish('m', 'key');
    await until(() => answers.length === 3, 'the message');
    const ackIds = (answers[2]?.receivedMessages ?? []).map(({ ackId }) => ackId);
    stream.write({ modifyDeadlineAckIds: ackIds, modifyDeadlineSeconds: [20] });
    stream.write({ ackIds });
    await until(() => answers.length === 5, 'both confirmations');
    const subscriptionProperties = { exactlyOnceDeliveryEnabled: true, messageOrderingEnabled: true };
    expect(answers).toMatchObject(answers.map(() => ({ subscriptionProperties })));
    stream.end();
    await new Promise((resolve) => stream.once('end', resolve));
  });

  test('accepts acknowledgements and deadline changes, and its own deadline applies to its messages', async () => {
    await subscribe();
    for (const data of ['acked', 'nacked', 'extended', 'neither']) await publish(data);
    const stream = pubsub.subscriber.streamingPull();
    const ackIds = new Map<string, string>();
    stream.on('data', ({ receivedMessages }: { receivedMessages: { ackId: string; message: object }[] }) => {
      for (const { ackId, message } of receivedMessages) ackIds.set(text(message), ackId);
    });
    stream.write({ subscription: SUBSCRIPTION, streamAckDeadlineSeconds: 30 });
    await until(() => ackIds.size === 4, 'the messages');
    stream.write({
      ackIds: [ackIds.get('acked')],
      modifyDeadlineAckIds: [ackIds.get('nacked'), ackIds.get('extended')],
      modifyDeadlineSeconds: [0, 100],
    });
    const first = ackIds.get('nacked');
    await until(() => ackIds.get('nacked') !== first, 'the message given back');
    stream.write({ ackIds: [ackIds.get('nacked')] });
    stream.end();
    await new Promise((resolve) => stream.once('end', resolve));
    pubsub.clock.advance(29_999);
    expect(await values()).toEqual([]);
    pubsub.clock.advance(1);
    const { ackId, data } = only(await pull());
    expect(data).toBe('neither');
    await ack(ackId);
    pubsub.clock.advance(70_000);
    expect(await values()).toEqual(['extended']);
  });

  test('and a waiting pull end when their subscription is deleted', async () => {
    await subscribe();
    const subscription = pubsub.client.subscription('reader');
    const failed = new Promise<{ code?: unknown }>((resolve) => subscription.once('error', resolve));
    subscription.on('message', (message) => message.ack());
    const stream = pubsub.subscriber.streamingPull();
    const opened = new Promise((resolve) => stream.once('data', resolve));
    stream.on('error', () => {});
    stream.write({ subscription: SUBSCRIPTION, streamAckDeadlineSeconds: 10 });
    await opened;
    const waiting = refusal(pubsub.subscriber.pull({ subscription: SUBSCRIPTION, maxMessages: 1 }));
    await pubsub.publisher.getTopic({ topic: TOPIC });
    await pubsub.subscriber.deleteSubscription({ subscription: SUBSCRIPTION });
    expect((await waiting).code).toBe(status.NOT_FOUND);
    expect((await failed).code).toBe(status.NOT_FOUND);
    await subscription.close();
  });
});
