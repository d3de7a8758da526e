import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { status } from '@grpc/grpc-js';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { DispatchResult } from '../../../packages/local-tasks/src/dispatch/attempt.ts';
import { dispatchOverHttp } from '../../../packages/local-tasks/src/dispatch/over-http.ts';
import { refusal, until } from '../support.ts';
import {
  answered,
  PROJECT,
  type PubsubFixture,
  SUBSCRIPTION,
  startPubsub,
  TOPIC,
  text,
} from './pubsub-fixture.ts';

const ENDPOINT = 'http://127.0.0.1:1/push';
let pubsub: PubsubFixture;
afterEach(() => pubsub.stop());

async function start(options: object = {}, pushConfig: object = {}, ...rest: Parameters<typeof startPubsub>) {
  pubsub = await startPubsub(...rest);
  await pubsub.publisher.createTopic({ name: TOPIC });
  await pubsub.subscriber.createSubscription({
    name: SUBSCRIPTION,
    topic: TOPIC,
    pushConfig: { pushEndpoint: ENDPOINT, ...pushConfig },
    ...options,
  });
}
const publish = (data: string, more: object = {}) =>
  pubsub.publisher.publish({ topic: TOPIC, messages: [{ data: Buffer.from(data), ...more }] });
const pushed = (count: number) => until(() => pubsub.pushes.length >= count, `${count} pushes`);
const envelope = (index: number) =>
  JSON.parse(Buffer.from(pubsub.pushes[index]?.body ?? []).toString()) as {
    deliveryAttempt?: number;
    message: { data: string; messageId: string };
  };
const dataOf = (index: number) => Buffer.from(envelope(index).message.data, 'base64').toString();
/** Resolves when all due messages have been pushed: a later call is then answered. */
const settled = async () => {
  await new Promise((resolve) => setTimeout(resolve, 2));
  await pubsub.publisher.getTopic({ topic: TOPIC });
};

describe('a push', () => {
  test('is a POST of the documented envelope, in both spellings', async () => {
    await start();
    const [{ messageIds }] = await publish('hello', { attributes: { a: 'b' }, orderingKey: 'k' });
    await pushed(1);
    const [request] = pubsub.pushes;
    expect(request).toMatchObject({
      url: ENDPOINT,
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
    });
    const publishTime = new Date(pubsub.clock.now()).toISOString();
    expect(envelope(0)).toEqual({
      message: {
        attributes: { a: 'b' },
        data: Buffer.from('hello').toString('base64'),
        messageId: messageIds?.[0],
        message_id: messageIds?.[0],
        orderingKey: 'k',
        publishTime,
        publish_time: publishTime,
      },
      subscription: SUBSCRIPTION,
    });
  });

  test('without a wrapper has the data as its body, with message metadata in headers if configured', async () => {
    const noWrapper = { writeMetadata: true };
    await start({ enableMessageOrdering: true }, { noWrapper });
    const attributes = { color: 'red', host: 'x', trailer: 'x', unsendable: '\u2192' };
    await publish('hello', { orderingKey: 'k', attributes });
    await pushed(1);
    expect(text({ data: pubsub.pushes[0]?.body ?? null })).toBe('hello');
    const { headers } = pubsub.pushes[0] ?? {};
    expect(headers).toMatchObject({
      color: 'red',
      'x-goog-pubsub-subscription-name': SUBSCRIPTION,
      'x-goog-pubsub-message-id': expect.stringMatching(/^\d+$/),
      'x-goog-pubsub-ordering-key': 'k',
    });
    expect(Object.keys(headers ?? {})).not.toContain('host');
    expect(Object.keys(headers ?? {})).not.toContain('trailer');
    expect(Object.keys(headers ?? {})).not.toContain('unsendable');
    const [config] = await pubsub.subscriber.getSubscription({ subscription: SUBSCRIPTION });
    expect(config.pushConfig).toMatchObject({ noWrapper });
    await pubsub.subscriber.modifyPushConfig({
      subscription: SUBSCRIPTION,
      pushConfig: { pushEndpoint: 'https://push.example/', noWrapper: {} },
    });
    await publish('bare', { attributes: { color: 'red' } });
    await pushed(2);
    expect(pubsub.pushes[1]).toMatchObject({ url: 'https://push.example/' });
    expect(Object.keys(pubsub.pushes[1]?.headers ?? {})).toEqual(['User-Agent']);
  });

  test('reaches a real endpoint, whose 2xx ends it', async () => {
    const bodies: string[] = [];
    const endpoint = createServer((request, response) => {
      void bodyOf(request).then((body) => {
        bodies.push(body);
        response.writeHead(204).end();
      });
    });
    await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve));
    const pushEndpoint = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/push`;
    await start({}, { pushEndpoint }, { kind: 'memory' }, dispatchOverHttp);
    await publish('over the wire');
    await until(() => bodies.length === 1, 'the push');
    expect(JSON.parse(String(bodies[0])).message.data).toBe(Buffer.from('over the wire').toString('base64'));
    await settled();
    pubsub.clock.advance(600_000);
    await settled();
    expect(bodies).toHaveLength(1);
    endpoint.closeAllConnections();
    await new Promise((resolve) => endpoint.close(resolve));
  });

  test('carries a token that names account and audience but is not signed', async () => {
    await start({}, { oidcToken: { serviceAccountEmail: 'push@p.iam.example' } });
    await publish('m');
    await pushed(1);
    const [, claims, signature] = String(pubsub.pushes[0]?.headers.Authorization).split('.');
    expect(JSON.parse(Buffer.from(claims ?? '', 'base64url').toString())).toMatchObject({
      email: 'push@p.iam.example',
      aud: ENDPOINT,
    });
    expect(signature).toBe('');
  });
});

describe('an answer', () => {
  test.each([200, 201, 202, 204])('of %i acknowledges', async (status) => {
    await start();
    pubsub.answers.push(answered(status));
    await publish('m');
    await pushed(1);
    await settled();
    pubsub.clock.advance(600_000);
    await settled();
    expect(pubsub.pushes).toHaveLength(1);
  });

  test.each<[string, DispatchResult]>([
    ['of 500', answered(500)],
    ['of 404', answered(404)],
    ['of 301, which is not followed', answered(301)],
    ['that never comes', { kind: 'unreachable', reason: 'ECONNREFUSED' }],
  ])('%s brings the message again, after 100 ms, then 200 ms', async (_what, outcome) => {
    await start();
    pubsub.answers.push(outcome, outcome);
    await publish('m');
    for (const [index, pause] of [100, 200].entries()) {
      await pushed(index + 1);
      await settled();
      pubsub.clock.advance(pause - 1);
      await settled();
      expect(pubsub.pushes).toHaveLength(index + 1);
      pubsub.clock.advance(1);
    }
    await pushed(3);
  });

  test('after the ack deadline does not count', async () => {
    await start({ ackDeadlineSeconds: 15 });
    let answer = () => {};
    pubsub.answers.push(
      () =>
        new Promise((resolve) => {
          answer = () => resolve(answered(200));
        }),
    );
    await publish('m');
    await pushed(1);
    pubsub.clock.advance(15_000);
    await until(() => pubsub.pushes[0]?.signal.aborted === true, 'the request to be given up');
    answer();
    await settled();
    pubsub.clock.advance(100);
    await pushed(2);
  });

  test('with an error status counts towards the dead letter topic', async () => {
    pubsub = await startPubsub();
    const grave = `${PROJECT}/topics/grave`;
    const mourner = `${PROJECT}/subscriptions/mourner`;
    for (const name of [TOPIC, grave]) await pubsub.publisher.createTopic({ name });
    await pubsub.subscriber.createSubscription({ name: mourner, topic: grave });
    await pubsub.subscriber.createSubscription({
      name: SUBSCRIPTION,
      topic: TOPIC,
      pushConfig: { pushEndpoint: ENDPOINT },
      deadLetterPolicy: { deadLetterTopic: grave, maxDeliveryAttempts: 5 },
      retryPolicy: { minimumBackoff: { seconds: 0 }, maximumBackoff: { seconds: 0 } },
    });
    pubsub.answers.push(...Array.from({ length: 5 }, () => answered(500)));
    await publish('m');
    const [dead] = await pubsub.subscriber.pull({ subscription: mourner, maxMessages: 1 });
    expect(text(dead.receivedMessages?.[0]?.message ?? {})).toBe('m');
    expect(pubsub.pushes.map((_, index) => envelope(index).deliveryAttempt)).toEqual([1, 2, 3, 4, 5]);
  });
});

describe('order', () => {
  test('one message of a key is pushed at a time, and a failure delays the later ones', async () => {
    await start({ enableMessageOrdering: true });
    pubsub.answers.push(answered(500));
    for (const data of ['1', '2', '3']) await publish(data, { orderingKey: 'k' });
    await pushed(1);
    await settled();
    expect(pubsub.pushes).toHaveLength(1);
    pubsub.clock.advance(100);
    await pushed(4);
    expect([0, 1, 2, 3].map(dataOf)).toEqual(['1', '1', '2', '3']);
  });
});

describe('switching', () => {
  test('to pull stops pushing, and back to push delivers the rest', async () => {
    await start();
    await pubsub.subscriber.modifyPushConfig({ subscription: SUBSCRIPTION, pushConfig: {} });
    await publish('m');
    await settled();
    expect(pubsub.pushes).toHaveLength(0);
    const [answer] = await pubsub.subscriber.pull({ subscription: SUBSCRIPTION, maxMessages: 1 });
    expect(answer.receivedMessages).toHaveLength(1);
    const pushEndpoint = `${ENDPOINT}/elsewhere`;
    await pubsub.subscriber.modifyPushConfig({ subscription: SUBSCRIPTION, pushConfig: { pushEndpoint } });
    await pushed(1);
    expect(pubsub.pushes[0]?.url).toBe(pushEndpoint);
  });

  test('to pull while a message is pushed gives that message to the next pull', async () => {
    await start();
    pubsub.answers.push(() => new Promise(() => {}));
    await publish('m');
    await pushed(1);
    await pubsub.subscriber.modifyPushConfig({ subscription: SUBSCRIPTION, pushConfig: {} });
    const [answer] = await pubsub.subscriber.pull({ subscription: SUBSCRIPTION, maxMessages: 1 });
    expect(text(answer.receivedMessages?.[0]?.message ?? {})).toBe('m');
    expect(pubsub.pushes).toHaveLength(1);
  });

  test('to push ends streams and waiting pulls, and pushes what they had', async () => {
    await start({}, { pushEndpoint: '' });
    const stream = pubsub.subscriber.streamingPull();
    const ended = new Promise<{ code?: unknown }>((resolve) => stream.once('error', resolve));
    const received = new Promise((resolve) =>
      stream.on('data', ({ receivedMessages }: { receivedMessages?: unknown[] }) => {
        if (receivedMessages?.length) resolve(undefined);
      }),
    );
    stream.write({ subscription: SUBSCRIPTION, streamAckDeadlineSeconds: 10 });
    await publish('m');
    await received;
    const waiting = refusal(pubsub.subscriber.pull({ subscription: SUBSCRIPTION, maxMessages: 1 }));
    await pubsub.publisher.getTopic({ topic: TOPIC });
    await pubsub.subscriber.modifyPushConfig({
      subscription: SUBSCRIPTION,
      pushConfig: { pushEndpoint: ENDPOINT },
    });
    expect((await waiting).code).toBe(status.FAILED_PRECONDITION);
    expect((await ended).code).toBe(status.FAILED_PRECONDITION);
    await pushed(1);
    expect(dataOf(0)).toBe('m');
  });
});

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
