import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { refusal, until } from '../support.ts';
import {
  listen,
  PROJECT,
  type PubsubFixture,
  SUBSCRIPTION,
  startPubsub,
  TOPIC,
  text,
} from './pubsub-fixture.ts';

const MISSING_TOPIC = `${PROJECT}/topics/missing`;
const MISSING = `${PROJECT}/subscriptions/missing`;
const { ALREADY_EXISTS, FAILED_PRECONDITION, INVALID_ARGUMENT, NOT_FOUND, UNIMPLEMENTED } = status;
let pubsub: PubsubFixture;

beforeAll(async () => {
  pubsub = await startPubsub();
  await pubsub.publisher.createTopic({ name: TOPIC, labels: { team: 'x' } });
  await pubsub.subscriber.createSubscription({ name: SUBSCRIPTION, topic: TOPIC });
});
afterAll(() => pubsub.stop());

let names = 0;
const fresh = (kind: 'topics' | 'subscriptions') => `${PROJECT}/${kind}/fresh-${++names}`;
const subscribe = (options: object) =>
  pubsub.subscriber.createSubscription({ name: fresh('subscriptions'), topic: TOPIC, ...options });
const subscribed = async (options: object = {}) => {
  const [{ name }] = await subscribe(options);
  return String(name);
};
const publish = (...messages: object[]) => pubsub.publisher.publish({ topic: TOPIC, messages });
const data = Buffer.from('x');
const attributes = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']));

describe('topics', () => {
  test('are created once, read, listed by name in pages, relabelled and deleted', async () => {
    const one = fresh('topics');
    const made = [one, fresh('topics'), fresh('topics')];
    for (const name of made) await pubsub.publisher.createTopic({ name });
    expect(await refusal(pubsub.publisher.createTopic({ name: one }))).toEqual({
      code: ALREADY_EXISTS,
      details: expect.stringMatching(/^Resource already exists in the project \(resource=fresh-/),
    });
    const request = { project: PROJECT, pageSize: 3 };
    const [first, , answer] = await pubsub.publisher.listTopics(request, { autoPaginate: false });
    const [rest] = await pubsub.publisher.listTopics(
      { ...request, pageToken: String(answer?.nextPageToken) },
      { autoPaginate: false },
    );
    expect([...first, ...rest].map(({ name }) => name)).toEqual([...made, TOPIC]);
    await pubsub.publisher.updateTopic({
      topic: { name: one, labels: { a: 'b' } },
      updateMask: { paths: ['labels'] },
    });
    const [topic] = await pubsub.publisher.getTopic({ topic: one });
    expect(topic).toMatchObject({ name: one, labels: { a: 'b' }, state: 'ACTIVE' });
    for (const name of made) await pubsub.publisher.deleteTopic({ topic: name });
    expect((await refusal(pubsub.publisher.getTopic({ topic: one }))).code).toBe(NOT_FOUND);
  });

  test('leave their subscriptions and their messages when they are deleted', async () => {
    const topic = fresh('topics');
    const subscription = fresh('subscriptions');
    await pubsub.publisher.createTopic({ name: topic });
    await pubsub.subscriber.createSubscription({ name: subscription, topic });
    expect((await pubsub.publisher.listTopicSubscriptions({ topic }))[0]).toEqual([subscription]);
    await pubsub.publisher.publish({ topic, messages: [{ data }] });
    await pubsub.publisher.deleteTopic({ topic });
    await pubsub.publisher.createTopic({ name: topic });
    await pubsub.publisher.publish({ topic, messages: [{ data: Buffer.from('to the new topic') }] });
    expect((await pubsub.subscriber.getSubscription({ subscription }))[0].topic).toBe('_deleted-topic_');
    const [answer] = await pubsub.subscriber.pull({ subscription, maxMessages: 10 });
    expect(answer.receivedMessages?.map(({ message }) => text(message ?? {}))).toEqual(['x']);
  });
});

describe('publishing', () => {
  test('assigns unique, growing ids, also without subscribers', async () => {
    const topic = fresh('topics');
    await pubsub.publisher.createTopic({ name: topic });
    const ids: bigint[] = [];
    for (const to of [topic, TOPIC, topic, topic]) {
      const [{ messageIds }] = await pubsub.publisher.publish({ topic: to, messages: [{ data }, { data }] });
      ids.push(...(messageIds ?? []).map(BigInt));
    }
    expect(new Set(ids).size).toBe(8);
    expect(ids).toEqual(ids.toSorted((a, b) => (a < b ? -1 : 1)));
  });

  test('accepts requests just within the limits', async () => {
    const full = { data, attributes: { ['k'.repeat(256)]: 'v'.repeat(1024) }, orderingKey: 'o'.repeat(1024) };
    const [one] = await publish(full);
    expect(one.messageIds).toHaveLength(1);
    const [many] = await publish(...Array.from({ length: 1000 }, () => ({ data })));
    expect(many.messageIds).toHaveLength(1000);
    const [wide] = await publish({ attributes: attributes(100) });
    expect(wide.messageIds).toHaveLength(1);
    await publish({ data: Buffer.alloc(10 * 1024 * 1024 - 100) });
  });

  test.each<[string, object[], RegExp]>([
    ['no messages', [], /message_count is too small/],
    ['1,001 messages', Array.from({ length: 1001 }, () => ({ data })), /message_count is too large/],
    ['more than 10 MiB', [{ data: Buffer.alloc(10 * 1024 * 1024) }], /payload size exceeds the limit/],
    ['an empty message', [{ data }, {}], /non-empty data, or at least one attribute/],
    ['two ordering keys', [{ data, orderingKey: 'a' }, { data }], /same ordering_key/],
    [
      'a long ordering key',
      [{ data, orderingKey: 'ö'.repeat(513) }],
      /ordering key has more than 1024 bytes/,
    ],
    ['101 attributes', [{ attributes: attributes(101) }], /100 are allowed/],
    ['an empty attribute key', [{ attributes: { '': 'v' } }], /key is empty/],
    ['a reserved attribute key', [{ attributes: { google: 'v' } }], /begins with 'goog'/],
    ['a long attribute key', [{ attributes: { ['k'.repeat(257)]: 'v' } }], /key has more than 256/],
    ['a long attribute value', [{ attributes: { k: 'v'.repeat(1025) } }], /value of an attribute/],
  ])(
    '%s is an invalid argument, and nothing of the request is published',
    async (_what, messages, reason) => {
      const before = pubsub.server.counts.published;
      const { code, details } = await refusal(publish(...messages));
      expect({ code, details }).toEqual({ code: INVALID_ARGUMENT, details: expect.stringMatching(reason) });
      expect(pubsub.server.counts.published).toBe(before);
    },
  );

  test('to a topic that does not exist is not found: topics are not made by use', async () => {
    expect(await refusal(pubsub.publisher.publish({ topic: MISSING_TOPIC, messages: [{ data }] }))).toEqual({
      code: NOT_FOUND,
      details: 'Resource not found (resource=missing).',
    });
  });
});

describe('subscriptions', () => {
  test('have the documented defaults', async () => {
    const [made] = await subscribe({});
    expect(made).toMatchObject({
      topic: TOPIC,
      ackDeadlineSeconds: 10,
      retainAckedMessages: false,
      messageRetentionDuration: { seconds: '604800' },
      expirationPolicy: { ttl: { seconds: '2678400' } },
      enableMessageOrdering: false,
      filter: '',
      detached: false,
      state: 'ACTIVE',
    });
  });

  test('without a name get one in the project of their topic', async () => {
    const [made] = await pubsub.subscriber.createSubscription({ topic: TOPIC });
    expect(made.name).toMatch(/^projects\/demo-cairn\/subscriptions\/[A-Za-z][\w-]+$/);
  });

  test('are updated only in the fields of the mask', async () => {
    const name = await subscribed({ ackDeadlineSeconds: 60 });
    const [updated] = await pubsub.subscriber.updateSubscription({
      subscription: {
        name,
        ackDeadlineSeconds: 30,
        labels: { a: 'b' },
        retryPolicy: { minimumBackoff: { seconds: 1 }, maximumBackoff: { seconds: 2 } },
      },
      updateMask: { paths: ['retry_policy', 'labels'] },
    });
    expect(updated).toMatchObject({
      ackDeadlineSeconds: 60,
      labels: { a: 'b' },
      retryPolicy: { minimumBackoff: { seconds: '1' }, maximumBackoff: { seconds: '2' } },
    });
  });

  test('are listed by name and deleted', async () => {
    const [all] = await pubsub.subscriber.listSubscriptions({ project: PROJECT });
    expect(all.map(({ name }) => name)).toEqual(all.map(({ name }) => name).toSorted());
    expect((await pubsub.subscriber.listSubscriptions({ project: 'projects/other' }))[0]).toEqual([]);
    const subscription = await subscribed();
    await pubsub.subscriber.deleteSubscription({ subscription });
    expect((await refusal(pubsub.subscriber.getSubscription({ subscription }))).code).toBe(NOT_FOUND);
  });

  test('when detached drop their messages and refuse receivers', async () => {
    const subscription = await subscribed();
    await publish({ data });
    await pubsub.publisher.detachSubscription({ subscription });
    expect(await refusal(pubsub.subscriber.pull({ subscription, maxMessages: 1 }))).toEqual({
      code: FAILED_PRECONDITION,
      details: 'Subscription is detached.',
    });
    expect((await pubsub.subscriber.getSubscription({ subscription }))[0].detached).toBe(true);
    const [attached] = await pubsub.publisher.listTopicSubscriptions({ topic: TOPIC });
    expect(attached).not.toContain(subscription);
  });

  test.each<[string, object, number, RegExp]>([
    ['a topic that is missing', { topic: MISSING_TOPIC }, NOT_FOUND, /resource=missing/],
    ['a name that is taken', { name: SUBSCRIPTION }, ALREADY_EXISTS, /resource=reader/],
    ['a name that begins with goog', { name: `${PROJECT}/subscriptions/google` }, INVALID_ARGUMENT, /name:/],
    ['a name of two letters', { name: `${PROJECT}/subscriptions/ab` }, INVALID_ARGUMENT, /name:/],
    ['a deadline under 10 s', { ackDeadlineSeconds: 9 }, INVALID_ARGUMENT, /ack_deadline_seconds/],
    ['a deadline over 600 s', { ackDeadlineSeconds: 601 }, INVALID_ARGUMENT, /ack_deadline_seconds/],
    [
      'a retention under 10 min',
      { messageRetentionDuration: { seconds: 599 } },
      INVALID_ARGUMENT,
      /retention/,
    ],
    ['an expiry under a day', { expirationPolicy: { ttl: { seconds: 60 } } }, INVALID_ARGUMENT, /ttl/],
    [
      'a dead letter topic that is missing',
      { deadLetterPolicy: { deadLetterTopic: MISSING_TOPIC } },
      NOT_FOUND,
      /missing/,
    ],
    [
      'four delivery attempts',
      { deadLetterPolicy: { deadLetterTopic: TOPIC, maxDeliveryAttempts: 4 } },
      INVALID_ARGUMENT,
      /max_delivery_attempts/,
    ],
    [
      'a backoff over 600 s',
      { retryPolicy: { maximumBackoff: { seconds: 601 } } },
      INVALID_ARGUMENT,
      /maximum_backoff/,
    ],
    ['a filter that makes no sense', { filter: 'attributes.a = ' }, INVALID_ARGUMENT, /filter is not valid/],
    [
      'a filter over 256 bytes',
      { filter: `attributes:${'a'.repeat(250)}` },
      INVALID_ARGUMENT,
      /longer than 256/,
    ],
    [
      'a push endpoint elsewhere',
      { pushConfig: { pushEndpoint: 'http://example.com/push' } },
      INVALID_ARGUMENT,
      /127\.0\.0\.1 or localhost/,
    ],
    [
      'a push endpoint that only looks local',
      { pushConfig: { pushEndpoint: 'http://127.0.0.1@example.com/' } },
      INVALID_ARGUMENT,
      /127\.0\.0\.1 or localhost/,
    ],
    [
      'exactly once by push',
      { enableExactlyOnceDelivery: true, pushConfig: { pushEndpoint: 'http://127.0.0.1:1/' } },
      INVALID_ARGUMENT,
      /requires a pull subscription/,
    ],
    ['being detached', { detached: true }, UNIMPLEMENTED, /detached at creation/],
  ])('with %s are refused', async (_what, options, code, reason) => {
    expect(await refusal(subscribe(options))).toEqual({ code, details: expect.stringMatching(reason) });
  });
});

describe('what is refused', () => {
  const subscription = SUBSCRIPTION;
  const client = () => pubsub.subscriber;
  test.each<[string, () => Promise<unknown>, number, RegExp]>([
    ['a bad topic name', () => pubsub.publisher.createTopic({ name: 'news' }), INVALID_ARGUMENT, /topics/],
    [
      'an import from nowhere',
      () => pubsub.publisher.createTopic({ name: fresh('topics'), ingestionDataSourceSettings: {} }),
      INVALID_ARGUMENT,
      /No ingestion source provided/,
    ],
    [
      'an update without a mask',
      () => client().updateSubscription({ subscription: { name: subscription } }),
      INVALID_ARGUMENT,
      /update_mask/,
    ],
    [
      'an update of what is fixed',
      () =>
        client().updateSubscription({
          subscription: { name: subscription },
          updateMask: { paths: ['enable_message_ordering'] },
        }),
      INVALID_ARGUMENT,
      /enable_message_ordering/,
    ],
    [
      'an update mask that names what every object has',
      () =>
        client().updateSubscription({
          subscription: { name: subscription },
          updateMask: { paths: ['constructor'] },
        }),
      INVALID_ARGUMENT,
      /constructor/,
    ],
    [
      'a pull of nothing',
      () => client().pull({ subscription, maxMessages: 0 }),
      INVALID_ARGUMENT,
      /positive/,
    ],
    [
      'a pull from nowhere',
      () => client().pull({ subscription: MISSING, maxMessages: 1 }),
      NOT_FOUND,
      /missing/,
    ],
    ['no ack ids', () => client().acknowledge({ subscription, ackIds: [] }), INVALID_ARGUMENT, /No ack ids/],
    [
      'an ack id that never was one',
      () => client().acknowledge({ subscription, ackIds: ['no id'] }),
      INVALID_ARGUMENT,
      /invalid ack ID/,
    ],
    [
      'a deadline over 600 s',
      () => client().modifyAckDeadline({ subscription, ackIds: ['no id'], ackDeadlineSeconds: 601 }),
      INVALID_ARGUMENT,
      /\[0, 600\]/,
    ],
    ['a seek to nowhere', () => client().seek({ subscription }), INVALID_ARGUMENT, /target/],
    [
      'a seek to a snapshot that is missing',
      () => client().seek({ subscription, snapshot: `${PROJECT}/snapshots/snap` }),
      NOT_FOUND,
      /snap/,
    ],
  ])('%s', async (_what, call, code, reason) => {
    expect(await refusal(call())).toEqual({ code, details: expect.stringMatching(reason) });
  });

  test('an unknown ack id is ignored: acknowledging twice is no error', async () => {
    const { ackId } = await delivered(subscription);
    const ackIds = [ackId, ackId];
    await client().acknowledge({ subscription, ackIds });
    await client().acknowledge({ subscription, ackIds });
    await client().modifyAckDeadline({ subscription, ackIds, ackDeadlineSeconds: 0 });
  });

  test('an ack id of another subscription is invalid, also one of the same project and topic', async () => {
    const other = fresh('subscriptions');
    await subscribe({ name: other });
    const { ackId } = await delivered(other);
    for (const call of [
      client().acknowledge({ subscription, ackIds: [ackId] }),
      client().modifyAckDeadline({ subscription, ackIds: [ackId], ackDeadlineSeconds: 10 }),
    ]) {
      expect(await refusal(call)).toEqual({
        code: INVALID_ARGUMENT,
        details: expect.stringMatching(/does not belong to the given ack ID/),
      });
    }
    await client().acknowledge({ subscription: other, ackIds: [ackId] });
  });

  async function delivered(from: string): Promise<{ ackId: string }> {
    await pubsub.publisher.publish({ topic: TOPIC, messages: [{ data: Buffer.from('m') }] });
    const [response] = await client().pull({ subscription: from, maxMessages: 1, returnImmediately: true });
    return { ackId: String(response.receivedMessages?.[0]?.ackId) };
  }
});

describe('faults on request', () => {
  const rule = (call: string, fault: object) =>
    pubsub.server.faults.set(
      [{ call, probability: 1, times: 1, fault: fault as { kind: 'unavailable' } }],
      1,
    );

  test('a publish that fails as unavailable publishes nothing, one whose response is lost does; the client retries both', async () => {
    for (const [kind, more] of [
      ['unavailable', 1],
      ['lost-answer', 2],
    ] as const) {
      const before = pubsub.server.counts.published;
      rule('Publish', { kind });
      await pubsub.client.topic('news').publishMessage({ data });
      expect(pubsub.server.counts.published - before).toBe(more);
    }
  });

  test('the client reopens a cut stream, and gets lost messages after their deadline', async () => {
    const name = await subscribed();
    rule('StreamingPull', { kind: 'cut-stream', afterMessages: 1 });
    const subscription = pubsub.client.subscription(name, { streamingOptions: { maxStreams: 1 } });
    const received = listen(subscription, (message) => message.ack());
    await publish({ data });
    await until(() => {
      pubsub.clock.advance(1_000);
      return received.length === 1;
    }, 'the message, again');
    expect(pubsub.server.faults.injected()).toEqual({ 'cut-stream': 1 });
    await subscription.close();
  });
});
