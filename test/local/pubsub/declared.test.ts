/** Exports, imports, keys and transforms: kept, told as they were given, and named as not carried out. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { outcomesOf, type Step } from '../both-transports.ts';
import { PROJECT, type PubsubFixture, SUBSCRIPTION, startPubsub, TOPIC } from './pubsub-fixture.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'declared-'));
});
afterAll(() => rm(folder, { recursive: true }));

const INVALID_ARGUMENT = 3;
const code = 'function f(message, metadata) { return null; }';
const messageTransforms = [
  { javascriptUdf: { functionName: 'f', code } },
  { javascriptUdf: { functionName: 'f', code }, disabled: true },
];
const kmsKeyName = 'projects/p/locations/l/keyRings/r/cryptoKeys/k';
const ingestionDataSourceSettings = {
  cloudStorage: { bucket: 'files', textFormat: { delimiter: ';' }, matchGlob: '**.txt' },
  platformLogsSettings: { severity: 'WARNING' },
};
const bigqueryConfig = { table: 'p.d.t', writeMetadata: true, useTopicSchema: true };
const cloudStorageConfig = {
  bucket: 'files',
  filenamePrefix: 'a/',
  avroConfig: { writeMetadata: true },
  maxDuration: { seconds: 120 },
  maxBytes: 2000,
};
const TO_BUCKET = `${PROJECT}/subscriptions/bucket`;

const CREATE: readonly Step[] = [
  ['createTopic', { name: TOPIC, kmsKeyName, ingestionDataSourceSettings, messageTransforms }],
  ['createSubscription', { name: SUBSCRIPTION, topic: TOPIC, bigqueryConfig, messageTransforms }],
  ['createSubscription', { name: TO_BUCKET, topic: TOPIC, cloudStorageConfig }],
];
const TOLD: readonly Step[] = [
  ['getTopic', { topic: TOPIC }],
  ['getSubscription', { subscription: SUBSCRIPTION }],
  ['getSubscription', { subscription: TO_BUCKET }],
];

const clients = ({ publisher, subscriber }: PubsubFixture) => [publisher, subscriber];

test('each setting is told as it was given, after a restart too', async () => {
  const storage = { kind: 'sqlite', file: join(folder, 'told.sqlite'), sync: false } as const;
  const first = await startPubsub(storage);
  const created = await outcomesOf(CREATE, clients(first));
  expect(created).toMatchObject([
    ['createTopic', { kmsKeyName, ingestionDataSourceSettings, messageTransforms }],
    ['createSubscription', { bigqueryConfig, messageTransforms }],
    ['createSubscription', { cloudStorageConfig }],
  ]);
  expect(first.notices).toEqual([
    expect.stringMatching(/^kmsKeyName of .*topics.* but messages are not encrypted/),
    expect.stringMatching(/^ingestionDataSourceSettings of .* nothing is ingested/),
    expect.stringMatching(/^messageTransforms of .*topics.* not run/),
    expect.stringMatching(/^bigqueryConfig of .* nothing is written to the table/),
    expect.stringMatching(/^messageTransforms of .*subscriptions.* not run/),
    expect.stringMatching(/^cloudStorageConfig of .* nothing is written to the bucket/),
  ]);
  await first.stop();
  const second = await startPubsub(storage);
  const told = await outcomesOf(TOLD, clients(second));
  expect(told.map((outcome) => (outcome as [string, unknown])[1])).toEqual(
    created.map((outcome) => (outcome as [string, unknown])[1]),
  );
  await second.stop();
});

test('an update replaces what its mask names and keeps the others', async () => {
  const pubsub = await startPubsub();
  await outcomesOf(CREATE, clients(pubsub));
  const update = (subscription: object, ...paths: string[]): Step => [
    'updateSubscription',
    { subscription: { name: SUBSCRIPTION, ...subscription }, updateMask: { paths } },
  ];
  const push = { pushEndpoint: 'http://127.0.0.1:1/' };
  const outcomes = await outcomesOf(
    [
      update({ bigqueryConfig: { table: 'p.d.other' } }, 'bigquery_config'),
      update({ labels: { a: 'b' } }, 'labels'),
      update({ pushConfig: push }, 'push_config'),
      ['modifyPushConfig', { subscription: SUBSCRIPTION, pushConfig: push }],
      update({ pushConfig: push }, 'push_config', 'bigquery_config', 'message_transforms'),
      ['updateTopic', { topic: { name: TOPIC }, updateMask: { paths: ['message_transforms'] } }],
    ],
    clients(pubsub),
  );
  expect(outcomes).toMatchObject([
    ['updateSubscription', { bigqueryConfig: { table: 'p.d.other' }, messageTransforms }],
    ['updateSubscription', { bigqueryConfig: { table: 'p.d.other' }, labels: { a: 'b' } }],
    ['updateSubscription', { refused: INVALID_ARGUMENT }],
    ['modifyPushConfig', { refused: INVALID_ARGUMENT }],
    ['updateSubscription', { pushConfig: push }],
    ['updateTopic', { kmsKeyName }],
  ]);
  expect(outcomes[4]).not.toMatchObject(['updateSubscription', { messageTransforms }]);
  expect(outcomes[5]).not.toMatchObject(['updateTopic', { messageTransforms }]);
  await pubsub.stop();
});

test('messages of an export and of a transform can be pulled as they were published', async () => {
  const pubsub = await startPubsub();
  await outcomesOf(CREATE, clients(pubsub));
  await pubsub.publisher.publish({ topic: TOPIC, messages: [{ data: Buffer.from('whole') }] });
  for (const subscription of [SUBSCRIPTION, TO_BUCKET]) {
    const [{ receivedMessages }] = await pubsub.subscriber.pull({ subscription, maxMessages: 1 });
    expect(String(receivedMessages?.[0]?.message?.data)).toBe('whole');
  }
  await pubsub.stop();
});

test.each<[string, object, RegExp]>([
  ['a table without a dataset', { bigqueryConfig: { table: 't' } }, /datasetId/],
  ['an address for a bucket', { cloudStorageConfig: { bucket: 'gs://b' } }, /gs:/],
  [
    'files of ten seconds',
    { cloudStorageConfig: { bucket: 'files', maxDuration: { seconds: 10 } } },
    /max_duration/,
  ],
  [
    'two exports',
    { bigqueryConfig: { table: 'p.d.t' }, cloudStorageConfig: { bucket: 'files' } },
    /At most one/,
  ],
  [
    'a transform that does not compile',
    { messageTransforms: [{ javascriptUdf: { functionName: 'f', code: 'function (' } }] },
    /does not compile/,
  ],
  [
    'six transforms',
    {
      messageTransforms: Array.from({ length: 6 }, () => ({
        javascriptUdf: { functionName: 'f', code: ';' },
      })),
    },
    /Maximum enabled transforms: 5\. Enabled transforms: 6/,
  ],
])('a subscription with %s is refused', async (_what, options, reason) => {
  const pubsub = await startPubsub();
  await pubsub.publisher.createTopic({ name: TOPIC });
  const made = pubsub.subscriber.createSubscription({ name: SUBSCRIPTION, topic: TOPIC, ...options });
  await expect(made).rejects.toMatchObject({
    code: INVALID_ARGUMENT,
    details: expect.stringMatching(reason),
  });
  await pubsub.stop();
});
