/** Exports, imports, keys and transforms are stored, returned unchanged, and reported as not applied. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
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

test('each setting is returned unchanged, also after a restart', async () => {
  const storage = { kind: 'sqlite', file: join(folder, 'told.sqlite'), sync: false } as const;
  const first = await startPubsub(storage);
  const created = await outcomesOf(CREATE, clients(first));
  expect(created).toMatchObject([
    ['createTopic', { kmsKeyName, ingestionDataSourceSettings, messageTransforms }],
    ['createSubscription', { bigqueryConfig, messageTransforms }],
    ['createSubscription', { cloudStorageConfig }],
  ]);
  expect(first.notices).toEqual([
    expect.stringMatching(/^kmsKeyName of .*topics.* not applied: messages are not encrypted/),
    expect.stringMatching(/^ingestionDataSourceSettings of .* nothing is ingested/),
    expect.stringMatching(/^messageTransforms of .*topics.* as they are published$/),
    expect.stringMatching(/^bigqueryConfig of .* nothing is written to the table/),
    expect.stringMatching(/^messageTransforms of .*subscriptions.* as they are published$/),
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

test('settings with a state are returned as active, whatever the caller sends', async () => {
  const pubsub = await startPubsub();
  const made = (id: string, settings: object): Step => [
    'createSubscription',
    { name: `${PROJECT}/subscriptions/${id}`, topic: TOPIC, ...settings },
  ];
  const topic = (id: string, source: object): Step => [
    'createTopic',
    { name: `${PROJECT}/topics/${id}`, ingestionDataSourceSettings: source },
  ];
  const state = 'ACTIVE';
  const told = await outcomesOf(
    [
      topic(TOPIC.split('/').at(-1) ?? '', ingestionDataSourceSettings),
      topic('kinesis', { awsKinesis: { streamArn: 'arn', consumerArn: 'arn', state: 'STREAM_NOT_FOUND' } }),
      made('table', { bigqueryConfig: { ...bigqueryConfig, state: 'NOT_FOUND' } }),
      made('bucket', { cloudStorageConfig }),
      made('bigtable', { bigtableConfig: { table: 'projects/p/instances/i/tables/t' } }),
    ],
    clients(pubsub),
  );
  expect(told).toMatchObject([
    [
      'createTopic',
      {
        ingestionDataSourceSettings: {
          cloudStorage: { state },
          platformLogsSettings: { severity: 'WARNING' },
        },
      },
    ],
    ['createTopic', { ingestionDataSourceSettings: { awsKinesis: { state } } }],
    ['createSubscription', { bigqueryConfig: { state } }],
    ['createSubscription', { cloudStorageConfig: { state } }],
    ['createSubscription', { bigtableConfig: { state } }],
  ]);
  await pubsub.stop();
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

/** Transforms with all kinds of values, including 64-bit numbers and durations. */
const anyTransforms = fc.array(
  fc.record(
    { javascriptUdf: fc.constant({ functionName: 'f', code }), disabled: fc.boolean() },
    { requiredKeys: ['javascriptUdf'] },
  ),
  { minLength: 1, maxLength: 5 },
);
const anyFiles = fc.record(
  {
    bucket: fc.constant('files'),
    maxDuration: fc.record({ seconds: fc.integer({ min: 60, max: 599 }), nanos: fc.nat(999_999_999) }),
    maxBytes: fc.integer({ min: 1000, max: 10 * 1024 ** 3 }),
    maxMessages: fc.integer({ min: 1000, max: 2 ** 40 }),
    textConfig: fc.constant({}),
  },
  { requiredKeys: ['bucket'] },
);
const anyExport = fc.oneof(
  fc.constant({}),
  anyFiles.map((files) => ({ cloudStorageConfig: files })),
  fc.boolean().map((writeMetadata) => ({ bigqueryConfig: { table: 'p.d.t', writeMetadata } })),
  fc.constant({ bigtableConfig: { table: 'projects/p/instances/i/tables/t' } }),
);
const anySettings = fc.record({
  ofTopic: fc.record({ kmsKeyName: fc.constant(kmsKeyName), messageTransforms: anyTransforms }),
  ofSubscription: fc
    .tuple(anyExport, fc.record({ messageTransforms: anyTransforms }, { requiredKeys: [] }))
    .map(([to, others]) => ({ ...to, ...others })),
});

test('an update of another field, and the end of a push, keep every setting', async () => {
  const pubsub = await startPubsub();
  let made = 0;
  await fc.assert(
    fc.asyncProperty(anySettings, async ({ ofTopic, ofSubscription }) => {
      const [topic, subscription] = [`${TOPIC}-${++made}`, `${SUBSCRIPTION}-${made}`];
      const updateMask = { paths: ['labels'] };
      const [createdTopic, created, ...updates] = await outcomesOf(
        [
          ['createTopic', { name: topic, ...ofTopic }],
          ['createSubscription', { name: subscription, topic, ...ofSubscription }],
          ['updateTopic', { topic: { name: topic }, updateMask }],
          ['updateSubscription', { subscription: { name: subscription }, updateMask }],
          ['modifyPushConfig', { subscription, pushConfig: {} }],
          ['getSubscription', { subscription }],
        ],
        clients(pubsub),
      );
      expect(created).toMatchObject(['createSubscription', { name: subscription }]);
      const [, asTopic] = createdTopic as [string, object];
      const [, asSubscription] = created as [string, object];
      expect(updates).toEqual([
        ['updateTopic', asTopic],
        ['updateSubscription', asSubscription],
        ['modifyPushConfig', undefined],
        ['getSubscription', asSubscription],
      ]);
    }),
    { numRuns: 30 },
  );
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
