import { status } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  listen,
  PROJECT,
  type PubsubFixture,
  refusal,
  SUBSCRIPTION,
  startPubsub,
  TOPIC,
  text,
  until,
} from './pubsub-fixture.ts';

let pubsub: PubsubFixture;

beforeEach(async () => {
  pubsub = await startPubsub();
  await pubsub.publisher.createTopic({ name: TOPIC });
});
afterEach(() => pubsub.stop());

const subscribe = (options: object = {}) =>
  pubsub.subscriber.createSubscription({ name: SUBSCRIPTION, topic: TOPIC, ...options });
const publish = (data: string, orderingKey = '', attributes: Record<string, string> = {}) =>
  pubsub.publisher.publish({
    topic: TOPIC,
    messages: [{ data: Buffer.from(data), orderingKey, attributes }],
  });
const pull = async (maxMessages = 100) => {
  const [answer] = await pubsub.subscriber.pull({
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
const ack = (...ackIds: string[]) => pubsub.subscriber.acknowledge({ subscription: SUBSCRIPTION, ackIds });
const modify = (ackDeadlineSeconds: number, ...ackIds: string[]) =>
  pubsub.subscriber.modifyAckDeadline({ subscription: SUBSCRIPTION, ackIds, ackDeadlineSeconds });
const only = <T>(list: T[]): T => {
  expect(list).toHaveLength(1);
  return list[0] as T;
};
const values = async () => (await pull()).map(({ data }) => data);

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

  test('gets messages of a key in order, and again from the one it gave back', async () => {
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

  test('has no more messages out than its flow control allows', async () => {
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

  test('two of them share what there is', async () => {
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
  test('passes on more than a client takes at once, each message once', async () => {
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

  test('says what it is, and answers keep-alives, which the client misses after 15 s', async () => {
    await subscribe({ enableMessageOrdering: true });
    const stream = pubsub.subscriber.streamingPull();
    const answers: object[] = [];
    stream.on('data', (answer: object) => answers.push(answer));
    stream.write({ subscription: SUBSCRIPTION, streamAckDeadlineSeconds: 10, protocolVersion: 1 });
    await until(() => answers.length === 1, 'the first answer');
    expect(answers[0]).toMatchObject({
      subscriptionProperties: { exactlyOnceDeliveryEnabled: false, messageOrderingEnabled: true },
    });
    stream.write({});
    await until(() => answers.length === 2, 'an answer to the keep-alive');
    expect(answers[1]).toMatchObject({ receivedMessages: [] });
    stream.end();
    await new Promise((resolve) => stream.once('end', resolve));
  });

  test('takes acknowledgements and deadlines, and its own deadline holds for what it gets', async () => {
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

describe('the ack deadline', () => {
  test('brings back what was not acknowledged, when it passes and not before', async () => {
    await subscribe({ ackDeadlineSeconds: 20 });
    await publish('m');
    const first = only(await pull());
    pubsub.clock.advance(19_999);
    expect(await values()).toEqual([]);
    pubsub.clock.advance(1);
    const second = only(await pull());
    expect(second.data).toBe('m');
    expect(second.ackId).not.toBe(first.ackId);
  });

  test('is moved by a modification, from the moment of it', async () => {
    await subscribe({ ackDeadlineSeconds: 10 });
    await publish('m');
    const { ackId } = only(await pull());
    pubsub.clock.advance(5_000);
    await modify(60, ackId);
    pubsub.clock.advance(59_999);
    expect(await values()).toEqual([]);
    pubsub.clock.advance(1);
    expect(await values()).toEqual(['m']);
  });

  test('of zero gives the message back at once', async () => {
    await subscribe();
    await publish('m');
    await modify(0, only(await pull()).ackId);
    expect(await values()).toEqual(['m']);
  });

  test('an acknowledgement after it comes too late: the message stays', async () => {
    await subscribe();
    await publish('m');
    const { ackId } = only(await pull());
    pubsub.clock.advance(10_000);
    await ack(ackId);
    expect(await values()).toEqual(['m']);
  });

  test('a waiting pull gets what comes back', async () => {
    await subscribe();
    await publish('m');
    await pull();
    const waiting = pubsub.subscriber.pull({ subscription: SUBSCRIPTION, maxMessages: 1 });
    await pubsub.publisher.getTopic({ topic: TOPIC });
    pubsub.clock.advance(10_000);
    const [answer] = await waiting;
    expect(answer.receivedMessages).toHaveLength(1);
  });

  test('a pull that finds nothing waits, and is answered without messages in the end', async () => {
    await subscribe();
    const waiting = pubsub.subscriber.pull({ subscription: SUBSCRIPTION, maxMessages: 1 });
    await until(async () => {
      pubsub.clock.advance(1_000);
      const done = await Promise.race([waiting, new Promise((resolve) => setTimeout(resolve, 5, 'waits'))]);
      return done !== 'waits';
    }, 'an answer');
    const [answer] = await waiting;
    expect(answer.receivedMessages).toEqual([]);
  });
});

describe('order', () => {
  const ordered = { enableMessageOrdering: true };

  test('the later messages of a key wait for the earlier ones to be acknowledged, other keys do not', async () => {
    await subscribe(ordered);
    for (const data of ['a1', 'a2']) await publish(data, 'a');
    const first = only(await pull(1));
    await publish('b1', 'b');
    expect(await values()).toEqual(['b1']);
    await ack(first.ackId);
    expect(await values()).toEqual(['a2']);
  });

  test('one call gets several of a key; giving one back brings all later ones again', async () => {
    await subscribe(ordered);
    for (const data of ['1', '2', '3', '4']) await publish(data, 'k');
    const got = await pull();
    expect(got.map(({ data }) => data)).toEqual(['1', '2', '3', '4']);
    const [one, two, three] = got.map(({ ackId }) => ackId) as [string, string, string];
    await ack(one, three);
    await modify(0, two);
    expect(await values()).toEqual(['2', '3', '4']);
  });

  test('without it on the subscription a key means nothing', async () => {
    await subscribe();
    for (const data of ['1', '2']) await publish(data, 'k');
    expect(await pull(1)).toHaveLength(1);
    expect(await pull(1)).toHaveLength(1);
  });
});

describe('what fails', () => {
  test('waits for its pause, which doubles up to the maximum', async () => {
    await subscribe({
      retryPolicy: { minimumBackoff: { seconds: 10 }, maximumBackoff: { seconds: 30 } },
    });
    await publish('m');
    for (const pause of [10, 20, 30, 30]) {
      await modify(0, only(await pull()).ackId);
      pubsub.clock.advance(pause * 1000 - 1);
      expect(await values()).toEqual([]);
      pubsub.clock.advance(1);
    }
    expect(await values()).toEqual(['m']);
  });

  test('goes to the dead letter topic after so many deliveries, and says where it came from', async () => {
    const grave = `${PROJECT}/topics/grave`;
    const mourner = `${PROJECT}/subscriptions/mourner`;
    await pubsub.publisher.createTopic({ name: grave });
    await pubsub.subscriber.createSubscription({ name: mourner, topic: grave });
    await subscribe({ deadLetterPolicy: { deadLetterTopic: grave, maxDeliveryAttempts: 5 } });
    await publish('m', '', { was: 'here' });
    const attempts: unknown[] = [];
    for (let i = 0; i < 5; i++) {
      const { ackId, attempt } = only(await pull());
      attempts.push(attempt);
      await modify(0, ackId);
    }
    expect(attempts).toEqual([1, 2, 3, 4, 5]);
    expect(await values()).toEqual([]);
    const [dead] = await pubsub.subscriber.pull({ subscription: mourner, maxMessages: 10 });
    expect(dead.receivedMessages).toHaveLength(1);
    expect(dead.receivedMessages?.[0]?.message?.attributes).toEqual({
      was: 'here',
      CloudPubSubDeadLetterSourceDeliveryCount: '5',
      CloudPubSubDeadLetterSourceSubscription: 'reader',
      CloudPubSubDeadLetterSourceSubscriptionProject: 'demo-cairn',
      CloudPubSubDeadLetterSourceTopicPublishTime: new Date(pubsub.clock.now()).toISOString(),
    });
  });

  test('stays when its dead letter topic is gone', async () => {
    const grave = `${PROJECT}/topics/grave`;
    await pubsub.publisher.createTopic({ name: grave });
    await subscribe({ deadLetterPolicy: { deadLetterTopic: grave, maxDeliveryAttempts: 5 } });
    await pubsub.publisher.deleteTopic({ topic: grave });
    await publish('m');
    for (let i = 0; i < 8; i++) await modify(0, only(await pull()).ackId);
    expect(await values()).toEqual(['m']);
  });

  test('a dead letter topic that is the subscription’s own brings the message back as a new one', async () => {
    await subscribe({ deadLetterPolicy: { deadLetterTopic: TOPIC, maxDeliveryAttempts: 5 } });
    await publish('m');
    for (let i = 0; i < 5; i++) await modify(0, only(await pull()).ackId);
    expect(only(await pull())).toMatchObject({ data: 'm', attempt: 1 });
  });
});

describe('who gets what', () => {
  test('each subscription gets its own copy, from its creation on', async () => {
    const other = `${PROJECT}/subscriptions/other`;
    await publish('too early');
    await subscribe();
    await publish('for one');
    await pubsub.subscriber.createSubscription({ name: other, topic: TOPIC });
    await publish('for both');
    expect(await values()).toEqual(['for one', 'for both']);
    const [answer] = await pubsub.subscriber.pull({ subscription: other, maxMessages: 10 });
    expect(answer.receivedMessages?.map(({ message }) => text(message ?? {}))).toEqual(['for both']);
  });

  test('a filter passes only what it matches', async () => {
    await subscribe({ filter: 'attributes.kind = "run" AND NOT hasPrefix(attributes.state, "fail")' });
    await publish('1', '', { kind: 'run', state: 'done' });
    await publish('2', '', { kind: 'run', state: 'failed' });
    await publish('3', '', { kind: 'step' });
    await publish('4', '', { kind: 'run' });
    expect(await values()).toEqual(['1', '4']);
  });

  test('messages older than the retention are gone', async () => {
    await subscribe({ messageRetentionDuration: { seconds: 600 } });
    await publish('old');
    pubsub.clock.advance(300_000);
    await publish('young');
    pubsub.clock.advance(300_001);
    expect(await values()).toEqual(['young']);
  });

  test('a seek to a time acknowledges what came before and brings back what is kept from after', async () => {
    await subscribe({ retainAckedMessages: true });
    for (const data of ['1', '2', '3']) {
      await publish(data);
      pubsub.clock.advance(1_000);
    }
    const got = await pull();
    await ack(...got.map(({ ackId }) => ackId));
    expect(await values()).toEqual([]);
    const time = { seconds: pubsub.clock.now() / 1000 - 2 };
    await pubsub.subscriber.seek({ subscription: SUBSCRIPTION, time });
    expect(await values()).toEqual(['2', '3']);
  });
});
