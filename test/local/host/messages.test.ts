import { describe, expect, test } from '@jest/globals';
import { onMessagePublished } from 'firebase-functions/pubsub';
import { functionsOf } from '../../../packages/local/src/host/function-spec.ts';
import { subscriptionOf } from '../../../packages/local/src/host/pubsub/subscription-of.ts';
import { startPubsub } from '../pubsub/pubsub-fixture.ts';
import { until } from '../support.ts';

const ENVELOPE = {
  message: {
    messageId: '77',
    data: Buffer.from('{"n":1}').toString('base64'),
    attributes: { a: 'b' },
    publishTime: '2026-11-22T05:00:00Z',
  },
  subscription: 'projects/p/subscriptions/s',
};

/** The only function of a module, as loaded by the host; `calls` records its arguments. */
function loaded(take: (event: unknown) => unknown = () => undefined) {
  const calls: { data: { message: { json: unknown }; subscription: string }; source: string; id: string }[] =
    [];
  const orders = onMessagePublished(
    { topic: 'orders', region: 'europe-west1', retry: true },
    async (event) => {
      calls.push(event as never);
      await take(event);
    },
  );
  const [found] = functionsOf({ pubsub: { orders } }, 'us-central1');
  if (!found) throw new Error('no function');
  return { ...found, calls };
}

async function post(
  handler: (request: unknown, response: unknown) => unknown,
  body: unknown,
): Promise<number> {
  let answered = 0;
  const response = {
    status(code: number) {
      answered = code;
      return { end() {}, send() {} };
    },
  };
  await handler({ body }, response);
  return answered;
}

describe('a function that takes messages', () => {
  test('is known by its topic', () => {
    expect(loaded().spec).toMatchObject({
      name: 'pubsub-orders',
      region: 'europe-west1',
      trigger: { kind: 'message', topic: 'orders' },
    });
  });

  test('gets a push request as the event of production', async () => {
    const { handler, calls } = loaded();
    expect(await post(handler, structuredClone(ENVELOPE))).toBe(204);
    const [event] = calls;
    expect(event).toMatchObject({ id: '77', source: '//pubsub.googleapis.com/projects/p/topics/orders' });
    expect(event?.data.message.json).toEqual({ n: 1 });
    expect(event?.data.subscription).toBe('projects/p/subscriptions/s');
  });

  test('rejects a message by throwing, and never gets anything else than messages', async () => {
    const { handler, calls } = loaded(() => Promise.reject(new Error('not now')));
    await expect(post(handler, structuredClone(ENVELOPE))).rejects.toThrow('not now');
    expect(await post(handler, {})).toBe(400);
    expect(calls).toHaveLength(1);
  });

  test('gets a topic and a push subscription, which a restart points to the new address', async () => {
    const { spec } = loaded();
    if (spec.trigger.kind !== 'message') throw new Error('no message trigger');
    const at = (port: number) =>
      subscriptionOf({
        projectId: 'p',
        functionsUrl: `http://127.0.0.1:${port}`,
        spec,
        trigger: spec.trigger as never,
      });
    const pubsub = await startPubsub();
    try {
      pubsub.server.ensureSubscription(at(1));
      pubsub.server.ensureSubscription(at(2));
      await pubsub.publisher.publish({ topic: at(2).topic, messages: [{ data: Buffer.from('x') }] });
      await until(() => pubsub.pushes.length > 0, 'the message to be pushed');
      expect(pubsub.pushes.map(({ url }) => url)).toEqual(['http://127.0.0.1:2/pubsub-orders']);
      const [subscriptions] = await pubsub.publisher.listTopicSubscriptions({ topic: at(1).topic });
      expect(subscriptions).toEqual(['projects/p/subscriptions/eventarc-europe-west1-pubsub-orders-sub']);
    } finally {
      await pubsub.stop();
    }
  });
});
