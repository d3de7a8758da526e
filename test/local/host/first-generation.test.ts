import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { onMessagePublished } from 'firebase-functions/pubsub';
import { onSchedule } from 'firebase-functions/scheduler';
import * as v1 from 'firebase-functions/v1';
import { functionsOf } from '../../../packages/local/src/host/function-spec.ts';

beforeAll(() => {
  process.env.GCLOUD_PROJECT = 'demo-shop';
});

/** The answer of a function to a request; undefined if it returned without one. */
async function answerTo(call: unknown, request: { headers?: object; body?: object }) {
  const [found] = functionsOf({ one: call }, 'us-central1');
  let answered: number | undefined;
  const response = {
    on: () => response,
    headersSent: false,
    setHeader: () => response,
    status: (code: number) => ({ end: () => (answered = code), send: () => (answered = code) }),
  };
  await found?.handler({ headers: {}, on() {}, ...request }, response);
  return { trigger: found?.spec.trigger, answered };
}

const SCHEDULED = {
  headers: {
    'x-cloudscheduler-jobname': 'firebase-schedule-one-us-central1',
    'x-cloudscheduler-scheduletime': '2026-03-01T03:00:00.000Z',
  },
};

describe('a function of the first generation', () => {
  test('for a schedule gets its context, and answers', async () => {
    const run = jest.fn<(context: v1.EventContext) => null>(() => null);
    const tick = v1.pubsub.schedule('every 5 minutes').timeZone('Europe/Berlin').onRun(run);
    expect(await answerTo(tick, SCHEDULED)).toEqual({
      trigger: { kind: 'schedule', schedule: 'every 5 minutes', timeZone: 'Europe/Berlin', retryCount: 0 },
      answered: 204,
    });
    expect(run.mock.calls[0]?.[0]).toMatchObject({
      timestamp: '2026-03-01T03:00:00.000Z',
      eventType: 'google.pubsub.topic.publish',
    });
  });

  test('for a topic gets each message with its data and attributes, and acknowledges it', async () => {
    const attributes = fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.string());
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), attributes, async (json, given) => {
        const take = jest.fn<(message: v1.pubsub.Message, context: v1.EventContext) => null>(() => null);
        const data = Buffer.from(JSON.stringify(json)).toString('base64');
        const message = { messageId: '7', publishTime: '2026-03-01T03:00:00Z', data, attributes: given };
        const body = { message, subscription: 'projects/demo-shop/subscriptions/s' };
        expect(await answerTo(v1.pubsub.topic('orders').onPublish(take), { body })).toEqual({
          trigger: { kind: 'message', topic: 'orders' },
          answered: 204,
        });
        const [got, context] = take.mock.calls[0] ?? [];
        expect([got?.json, got?.attributes]).toEqual([JSON.parse(JSON.stringify(json)), given]);
        expect(context).toMatchObject({
          eventId: '7',
          timestamp: '2026-03-01T03:00:00Z',
          eventType: 'google.pubsub.topic.publish',
          resource: { service: 'pubsub.googleapis.com', name: 'projects/demo-shop/topics/orders' },
        });
      }),
      { numRuns: 30 },
    );
  });

  test('that throws does not acknowledge its event', async () => {
    const fail = () => {
      throw new Error('boom');
    };
    const body = { message: { messageId: '7' } };
    await expect(answerTo(v1.pubsub.topic('orders').onPublish(fail), { body })).rejects.toThrow('boom');
    await expect(answerTo(v1.pubsub.schedule('every 5 minutes').onRun(fail), SCHEDULED)).rejects.toThrow(
      'boom',
    );
  });

  test('for the events of another service is named with their type', async () => {
    const unserved = { onUser: v1.auth.user().onCreate(() => null) };
    expect(functionsOf(unserved, 'us-central1')[0]?.spec.trigger).toEqual({
      kind: 'unsupported',
      what: 'providers/firebase.auth/eventTypes/user.create',
    });
  });
});

test('a later function gets the CloudEvent of a message, and the request of a schedule', async () => {
  const take = jest.fn<(event: { readonly id: string }) => void>();
  const body = { message: { messageId: '7', data: '' } };
  expect(await answerTo(onMessagePublished('orders', take), { body })).toMatchObject({ answered: 204 });
  expect(take.mock.calls[0]?.[0]).toMatchObject({ id: '7' });
  const run = jest.fn<(event: { readonly scheduleTime: string }) => void>();
  const headers = SCHEDULED.headers;
  const request = {
    headers,
    header: (name: string) => headers[name.toLowerCase() as keyof typeof headers],
  };
  await answerTo(onSchedule('every 5 minutes', run), request);
  expect(run).toHaveBeenCalledTimes(1);
});
