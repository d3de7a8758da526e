import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { until } from '../support.ts';
import { PROJECT, type PubsubFixture, SUBSCRIPTION, startPubsub, TOPIC, text } from './pubsub-fixture.ts';
import { only, readerOf } from './reader.ts';

let pubsub: PubsubFixture;

beforeEach(async () => {
  pubsub = await startPubsub();
  await pubsub.publisher.createTopic({ name: TOPIC });
});
afterEach(() => pubsub.stop());

const { subscribe, publish, pull, ack, modify, values } = readerOf(() => pubsub);

describe('the ack deadline', () => {
  test('redelivers an unacknowledged message when it passes, and not before', async () => {
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

  test('is extended from the time of the modification', async () => {
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

  test('of zero redelivers the message at once', async () => {
    await subscribe();
    await publish('m');
    await modify(0, only(await pull()).ackId);
    expect(await values()).toEqual(['m']);
  });

  test('an acknowledgement after the deadline has no effect', async () => {
    await subscribe();
    await publish('m');
    const { ackId } = only(await pull());
    pubsub.clock.advance(10_000);
    await ack(ackId);
    expect(await values()).toEqual(['m']);
  });

  test('a waiting pull receives redelivered messages', async () => {
    await subscribe();
    await publish('m');
    await pull();
    const waiting = pubsub.subscriber.pull({ subscription: SUBSCRIPTION, maxMessages: 1 });
    await pubsub.publisher.getTopic({ topic: TOPIC });
    pubsub.clock.advance(10_000);
    const [answer] = await waiting;
    expect(answer.receivedMessages).toHaveLength(1);
  });

  test('an empty pull waits, and then returns no messages', async () => {
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

  test('later messages of a key wait for earlier ones to be acknowledged; other keys do not wait', async () => {
    await subscribe(ordered);
    for (const data of ['a1', 'a2']) await publish(data, 'a');
    const first = only(await pull(1));
    await publish('b1', 'b');
    expect(await values()).toEqual(['b1']);
    await ack(first.ackId);
    expect(await values()).toEqual(['a2']);
  });

  test('one call returns several messages of a key; a nack redelivers all later ones too', async () => {
    await subscribe(ordered);
    for (const data of ['1', '2', '3', '4']) await publish(data, 'k');
    const got = await pull();
    expect(got.map(({ data }) => data)).toEqual(['1', '2', '3', '4']);
    const [one, two, three] = got.map(({ ackId }) => ackId) as [string, string, string];
    await ack(one, three);
    await modify(0, two);
    expect(await values()).toEqual(['2', '3', '4']);
  });

  test('without ordering on the subscription a key has no effect', async () => {
    await subscribe();
    for (const data of ['1', '2']) await publish(data, 'k');
    expect(await pull(1)).toHaveLength(1);
    expect(await pull(1)).toHaveLength(1);
  });
});

describe('what fails', () => {
  test('is retried after a pause, which doubles up to the maximum', async () => {
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

  test('goes to the dead letter topic after its maximum deliveries, with its origin', async () => {
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

  test('counts its deliveries from the dead letter policy on', async () => {
    const deadLetterTopic = `${PROJECT}/topics/grave`;
    await pubsub.publisher.createTopic({ name: deadLetterTopic });
    await subscribe();
    await publish('m');
    const fail = async () => {
      const { ackId, attempt } = only(await pull());
      await modify(0, ackId);
      return attempt;
    };
    const update = (deadLetterPolicy: object | null) =>
      pubsub.subscriber.updateSubscription({
        subscription: { name: SUBSCRIPTION, deadLetterPolicy },
        updateMask: { paths: ['dead_letter_policy'] },
      });
    for (let delivery = 0; delivery < 6; delivery++) expect(await fail()).toBe(0);
    await update({ deadLetterTopic, maxDeliveryAttempts: 5 });
    for (const attempt of [1, 2, 3]) expect(await fail()).toBe(attempt);
    await update({ deadLetterTopic, maxDeliveryAttempts: 6 });
    expect(await fail()).toBe(4);
    await update(null);
    expect(await fail()).toBe(0);
    await update({ deadLetterTopic, maxDeliveryAttempts: 5 });
    for (const attempt of [1, 2, 3, 4, 5]) expect(await fail()).toBe(attempt);
    expect(await values()).toEqual([]);
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

  test('a dead letter topic equal to the subscription’s own topic delivers the message as a new one', async () => {
    await subscribe({ deadLetterPolicy: { deadLetterTopic: TOPIC, maxDeliveryAttempts: 5 } });
    await publish('m');
    for (let i = 0; i < 5; i++) await modify(0, only(await pull()).ackId);
    expect(only(await pull())).toMatchObject({ data: 'm', attempt: 1 });
  });
});

describe('distribution of messages', () => {
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

  test('messages older than the retention are dropped', async () => {
    await subscribe({ messageRetentionDuration: { seconds: 600 } });
    await publish('old');
    pubsub.clock.advance(300_000);
    await publish('young');
    pubsub.clock.advance(300_001);
    expect(await values()).toEqual(['young']);
  });

  test('a seek to a time acknowledges earlier messages and returns later retained ones', async () => {
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
