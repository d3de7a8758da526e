import { v1 } from '@google-cloud/pubsub';
import { credentials, status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { PubsubError } from '../../../packages/local-pubsub/src/model/status.ts';
import { pageOf } from '../../../packages/local-pubsub/src/service/page.ts';
import { pushFrom, subscriptionFrom, topicFrom } from '../../../packages/local-pubsub/src/wire/decode.ts';
import { labelsFrom } from '../../../packages/local-pubsub/src/wire/decode-labels.ts';
import { durationFrom, timeFrom } from '../../../packages/local-pubsub/src/wire/decode-time.ts';
import { refusal } from '../support.ts';
import { PROJECT, type PubsubFixture, SUBSCRIPTION, startPubsub, TOPIC } from './pubsub-fixture.ts';

const { FAILED_PRECONDITION, INVALID_ARGUMENT } = status;
const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']));

describe('labels', () => {
  test.each<[string, Record<string, string>, boolean]>([
    ['a key of 63 letters', { ['a'.repeat(63)]: 'b' }, true],
    ['a key of 64 letters', { ['a'.repeat(64)]: 'b' }, false],
    ['an empty key', { '': 'b' }, false],
    ['a key that begins with a digit', { '1a': 'b' }, false],
    ['a key that begins with a dash', { '-a': 'b' }, false],
    ['a capital in a key', { aB: 'b' }, false],
    ['a dot in a key', { 'a.b': 'c' }, false],
    ['every character of a key', { 'a_b-1é日': 'b' }, true],
    ['an empty value', { a: '' }, true],
    ['a value of 63 letters', { a: 'b'.repeat(63) }, true],
    ['a value of 64 letters', { a: 'b'.repeat(64) }, false],
    ['a capital in a value', { a: 'B' }, false],
    ['a space in a value', { a: 'b c' }, false],
    ['a value of digits and dashes', { a: '1-_語' }, true],
    ['64 of them', many(64), true],
    ['65 of them', many(65), false],
  ])('%s: %j is allowed: %s', (_what, labels, allowed) => {
    const read = () => labelsFrom(labels);
    if (allowed) expect(read()).toEqual(labels);
    else expect(read).toThrow(PubsubError);
  });

  test('of topics and subscriptions are checked', () => {
    const labels = { A: 'b' };
    expect(() => topicFrom({ name: TOPIC, labels })).toThrow(/label key/);
    expect(() => subscriptionFrom({ name: SUBSCRIPTION, topic: TOPIC, labels })).toThrow(/label key/);
  });
});

describe('durations and times', () => {
  test.each<[number, number, boolean]>([
    [315_576_000_000, 0, true],
    [315_576_000_001, 0, false],
    [-315_576_000_001, 0, false],
    [1, 999_999_999, true],
    [1, 1_000_000_000, false],
    [1, -1, false],
    [-1, 1, false],
    [-1, -999_999_999, true],
    [0, -1, true],
  ])('a duration of %d s and %d ns is valid: %s', (seconds, nanos, valid) => {
    const read = () => durationFrom('ttl', { seconds, nanos });
    if (valid) expect(read()).toBeCloseTo(seconds * 1000 + nanos / 1e6, 3);
    else expect(read).toThrow(/ttl is not a valid duration/);
  });

  test.each<[number, number, boolean]>([
    [-62_135_596_800, 0, true],
    [-62_135_596_801, 0, false],
    [253_402_300_799, 999_999_999, true],
    [253_402_300_800, 0, false],
    [0, -1, false],
    [0, 1_000_000_000, false],
  ])('a time of %d s and %d ns is valid: %s', (seconds, nanos, valid) => {
    const read = () => timeFrom('time', { seconds, nanos });
    if (valid) expect(read()).toBeCloseTo(seconds * 1000 + nanos / 1e6, 0);
    else expect(read).toThrow(/time is not a valid time/);
  });

  const broken = { seconds: 86_400, nanos: 2e9 };
  test.each<[string, object]>([
    ['message_retention_duration', { messageRetentionDuration: broken }],
    ['expiration_policy.ttl', { expirationPolicy: { ttl: broken } }],
    ['retry_policy.minimum_backoff', { retryPolicy: { minimumBackoff: { seconds: 1, nanos: -1 } } }],
    ['retry_policy.maximum_backoff', { retryPolicy: { maximumBackoff: { seconds: 600, nanos: -1 } } }],
  ])('an invalid %s of a subscription is refused by its name', (field, options) => {
    const read = () => subscriptionFrom({ name: SUBSCRIPTION, topic: TOPIC, ...options });
    expect(read).toThrow(`${field} is not a valid duration`);
  });
});

describe('a value outside its bounds', () => {
  const bounds: readonly [string, string, [number, number], (value: number) => object][] = [
    ['ack_deadline_seconds', '', [10, 600], (value) => ({ ackDeadlineSeconds: value })],
    [
      'message_retention_duration',
      's',
      [600, 31 * 86_400],
      (seconds) => ({ messageRetentionDuration: { seconds } }),
    ],
    [
      'max_delivery_attempts',
      '',
      [5, 100],
      (value) => ({ deadLetterPolicy: { deadLetterTopic: TOPIC, maxDeliveryAttempts: value } }),
    ],
    [
      'retry_policy.maximum_backoff',
      's',
      [10, 600],
      (seconds) => ({ retryPolicy: { maximumBackoff: { seconds } } }),
    ],
  ];

  test('is refused in the unit in which it was given, with the bound', () => {
    const cases = fc
      .constantFrom(...bounds)
      .chain((bound) => fc.tuple(fc.constant(bound), fc.integer({ min: 1, max: 4_000_000 })));
    fc.assert(
      fc.property(cases, ([[field, unit, [least, most], settings], value]) => {
        const make = () => subscriptionFrom({ name: SUBSCRIPTION, topic: TOPIC, ...settings(value) });
        const refusedWith = (size: string, kind: string, bound: number) =>
          `The value for ${field} is too ${size}. You passed ${value}${unit} in the request, but the ${kind} value is ${bound}${unit}.`;
        if (value < least) expect(make).toThrow(refusedWith('small', 'minimum', least));
        else if (value > most) expect(make).toThrow(refusedWith('large', 'maximum', most));
        else expect(make).not.toThrow();
      }),
      {
        examples: bounds.flatMap((bound) =>
          bound[2].flatMap((edge) =>
            [edge - 1, edge, edge + 1].map((value): [[typeof bound, number]] => [[bound, value]]),
          ),
        ),
      },
    );
  });
});

test.each<[string, boolean]>([
  ['https://example.com/push?a=b#c', true],
  ['http://localhost:8080', true],
  ['HTTPS://example.com/', false],
  [' https://example.com/', false],
  ['https://example.com/ ', false],
  ['https://exam\tple.com/', false],
  ['https://example.com/\u0000', false],
  ['https://', false],
  ['https://example.com:99999/', false],
  ['ftp://example.com/', false],
])('the push endpoint %j is allowed: %s', (pushEndpoint, allowed) => {
  const read = () => pushFrom({ pushEndpoint });
  if (allowed) expect(read()?.endpoint).toBe(pushEndpoint);
  else expect(read).toThrow(/Invalid push endpoint/);
});

describe('page tokens', () => {
  const resources = fc
    .uniqueArray(fc.string({ minLength: 1 }), { maxLength: 12 })
    .map((names) => names.toSorted((a, b) => (a < b ? -1 : 1)).map((name) => ({ name })));

  test('lead through a list of any size, each resource once', () => {
    fc.assert(
      fc.property(resources, fc.integer({ min: 1, max: 5 }), (all, pageSize) => {
        const seen: object[] = [];
        let pageToken = '';
        do {
          const { page, nextPageToken } = pageOf(all, { pageSize, pageToken });
          seen.push(...page);
          pageToken = nextPageToken;
        } while (pageToken !== '');
        expect(seen).toEqual(all);
      }),
    );
  });

  test('that no list gave out are refused', () => {
    const text = fc.oneof(fc.string({ minLength: 1 }), fc.base64String({ minLength: 4 }));
    fc.assert(
      fc.property(text, (pageToken) => expect(() => pageOf([], { pageToken })).toThrow(/page_token/)),
    );
  });
});

describe('a call', () => {
  let pubsub: PubsubFixture;
  let schemas: v1.SchemaServiceClient;
  beforeAll(async () => {
    pubsub = await startPubsub();
    const [apiEndpoint = '', port = ''] = pubsub.server.host.split(':');
    const sslCreds = credentials.createInsecure();
    schemas = new v1.SchemaServiceClient({
      apiEndpoint,
      port: Number(port),
      sslCreds,
      projectId: 'demo-cairn',
    });
    await pubsub.publisher.createTopic({ name: TOPIC });
    await pubsub.subscriber.createSubscription({ name: SUBSCRIPTION, topic: TOPIC });
    await schemas.createSchema({ parent: PROJECT, schemaId: 'text', schema: TEXT });
  });
  afterAll(async () => {
    await schemas.close();
    await pubsub.stop();
  });
  const TEXT = { type: 'AVRO', definition: '"string"' } as const;
  const subscription = SUBSCRIPTION;
  const pushed = async () => {
    const name = `${PROJECT}/subscriptions/pushed`;
    const pushConfig = { pushEndpoint: 'http://127.0.0.1:1/' };
    await pubsub.subscriber.createSubscription({ name, topic: TOPIC, pushConfig });
    return name;
  };
  const update = (path: string) =>
    pubsub.subscriber.updateSubscription({
      subscription: { name: subscription },
      updateMask: { paths: [path] },
    });

  test('keeps and tells the storage policy of a topic until it is taken away', async () => {
    const { publisher } = pubsub;
    const name = `${PROJECT}/topics/placed`;
    const updateMask = { paths: ['message_storage_policy'] };
    const told = async () => (await publisher.getTopic({ topic: name }))[0].messageStoragePolicy;
    const policy = (...allowedPersistenceRegions: string[]) => ({ allowedPersistenceRegions });
    await publisher.createTopic({ name, messageStoragePolicy: policy('us-east1') });
    expect(await told()).toEqual({ ...policy('us-east1'), enforceInTransit: false });
    const messageStoragePolicy = { ...policy('asia-east1', 'us-east1'), enforceInTransit: true };
    await publisher.updateTopic({ topic: { name, messageStoragePolicy }, updateMask });
    for (const refused of [policy(), policy('us-east1', 'moon')]) {
      const topic = { name, messageStoragePolicy: refused };
      expect(await refusal(publisher.updateTopic({ topic, updateMask }))).toMatchObject({
        code: INVALID_ARGUMENT,
        details: expect.stringContaining('allowed_persistence_regions'),
      });
    }
    expect(await told()).toEqual(messageStoragePolicy);
    await publisher.updateTopic({ topic: { name }, updateMask });
    expect(await told()).toBeNull();
  });

  test.each<[string, () => Promise<unknown>, status, RegExp]>([
    [
      'that pulls from a push subscription',
      async () => pubsub.subscriber.pull({ subscription: await pushed(), maxMessages: 1 }),
      FAILED_PRECONDITION,
      /not supported for push/,
    ],
    ['with a camel-case mask', () => update('ackDeadlineSeconds'), INVALID_ARGUMENT, /ackDeadlineSeconds/],
    [
      'with a camel-case mask of a topic',
      () =>
        pubsub.publisher.updateTopic({
          topic: { name: TOPIC },
          updateMask: { paths: ['messageRetentionDuration'] },
        }),
      INVALID_ARGUMENT,
      /messageRetentionDuration/,
    ],
    [
      'that makes a schema without an id',
      () => schemas.createSchema({ parent: PROJECT, schema: TEXT }),
      INVALID_ARGUMENT,
      /schemas/,
    ],
    [
      'that rolls back to no revision',
      () => schemas.rollbackSchema({ name: `${PROJECT}/schemas/text` }),
      INVALID_ARGUMENT,
      /revision_id/,
    ],
    [
      'that seeks to no valid time',
      () => pubsub.subscriber.seek({ subscription, time: { seconds: 0, nanos: -1 } }),
      INVALID_ARGUMENT,
      /time/,
    ],
    [
      'that labels a snapshot badly',
      () =>
        pubsub.subscriber.createSnapshot({
          name: `${PROJECT}/snapshots/snap`,
          subscription,
          labels: { A: '' },
        }),
      INVALID_ARGUMENT,
      /label key/,
    ],
  ])('%s is refused', async (_what, call, code, reason) => {
    expect(await refusal(call())).toEqual({ code, details: expect.stringMatching(reason) });
  });
});
