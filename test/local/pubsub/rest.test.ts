/** Pub/Sub over REST: the generated clients with `fallback`, and requests as clients of other languages send them. */
import { v1 } from '@google-cloud/pubsub';
import { credentials } from '@grpc/grpc-js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { outcomesOf, type Step } from '../both-transports.ts';
import { restOptions } from '../rest-auth.ts';
import { PROJECT, type PubsubFixture, SUBSCRIPTION, startPubsub, TOPIC } from './pubsub-fixture.ts';

let fixtures: readonly PubsubFixture[];

beforeAll(async () => {
  fixtures = [await startPubsub(), await startPubsub()];
});
afterAll(async () => {
  for (const fixture of fixtures) await fixture.stop();
});

const SNAPSHOT = `${PROJECT}/snapshots/past`;
const SCHEMA = `${PROJECT}/schemas/city`;
const definition = JSON.stringify({
  type: 'record',
  name: 'City',
  fields: [{ name: 'name', type: 'string' }],
});
const data = Buffer.from([0, 255, 62, 63]);

const STEPS: readonly Step[] = [
  ['getTopic', { topic: TOPIC }],
  ['createTopic', { name: TOPIC, labels: { a: 'b' }, messageRetentionDuration: { seconds: 600, nanos: 0 } }],
  ['createTopic', { name: TOPIC }],
  ['createTopic', { name: `${PROJECT}/topics/goog` }],
  ['updateTopic', { topic: { name: TOPIC, labels: { c: 'd' } }, updateMask: { paths: ['labels'] } }],
  ['updateTopic', { topic: { name: TOPIC, labels: {} }, updateMask: { paths: ['nonsense'] } }],
  [
    'updateTopic',
    {
      topic: { name: TOPIC, messageRetentionDuration: { seconds: 900 } },
      updateMask: { paths: ['message_retention_duration'] },
    },
  ],
  ['getTopic', { topic: TOPIC }],
  [
    'createSubscription',
    {
      name: SUBSCRIPTION,
      topic: TOPIC,
      ackDeadlineSeconds: 20,
      enableMessageOrdering: true,
      filter: 'attributes.a = "1"',
      retryPolicy: { minimumBackoff: { seconds: 1, nanos: 500_000_000 }, maximumBackoff: { seconds: 20 } },
      expirationPolicy: {},
    },
  ],
  ['createSubscription', { name: SUBSCRIPTION, topic: `${PROJECT}/topics/none` }],
  [
    'updateSubscription',
    {
      subscription: { name: SUBSCRIPTION, ackDeadlineSeconds: 30 },
      updateMask: { paths: ['ack_deadline_seconds'] },
    },
  ],
  ['listSubscriptions', { project: PROJECT }],
  ['listTopicSubscriptions', { topic: TOPIC }],
  ['publish', { topic: TOPIC, messages: [{ data, attributes: { a: '1' } }, { attributes: { a: '2' } }] }],
  ['publish', { topic: TOPIC, messages: [] }],
  ['publish', { topic: `${PROJECT}/topics/none`, messages: [{ data }] }],
  ['createSnapshot', { name: SNAPSHOT, subscription: SUBSCRIPTION, labels: { x: 'y' } }],
  ['pull', { subscription: SUBSCRIPTION, maxMessages: 10 }],
  ['pull', { subscription: SUBSCRIPTION, maxMessages: 0 }],
  ['acknowledge', { subscription: SUBSCRIPTION, ackIds: ['nonsense'] }],
  ['seek', { subscription: SUBSCRIPTION, snapshot: SNAPSHOT }],
  ['seek', { subscription: SUBSCRIPTION, time: { seconds: 1_700_000_000 } }],
  ['listSnapshots', { project: PROJECT }],
  ['getSnapshot', { snapshot: SNAPSHOT }],
  ['deleteSnapshot', { snapshot: SNAPSHOT }],
  ['modifyPushConfig', { subscription: SUBSCRIPTION, pushConfig: {} }],
  ['createSchema', { parent: PROJECT, schemaId: 'city', schema: { type: 'AVRO', definition } }],
  ['getSchema', { name: SCHEMA, view: 'BASIC' }],
  ['listSchemas', { parent: PROJECT, view: 'FULL' }],
  [
    'validateMessage',
    { parent: PROJECT, name: SCHEMA, message: Buffer.from('{"name":1}'), encoding: 'JSON' },
  ],
  ['deleteSchema', { name: SCHEMA }],
  ['detachSubscription', { subscription: SUBSCRIPTION }],
  ['deleteSubscription', { subscription: SUBSCRIPTION }],
  ['listTopics', { project: PROJECT, pageSize: 1 }],
  ['deleteTopic', { topic: TOPIC }],
  ['deleteTopic', { topic: TOPIC }],
];

test('every call answers over REST as over gRPC', async () => {
  const [byGrpc, byRest] = fixtures.map(({ server }, i) => {
    const [apiEndpoint, port] = server.host.split(':');
    const grpc = { apiEndpoint, port: Number(port), sslCreds: credentials.createInsecure() };
    const options = i === 0 ? grpc : restOptions(server.host);
    return [v1.PublisherClient, v1.SubscriberClient, v1.SchemaServiceClient].map(
      (Made) => new Made(options as never),
    );
  });
  const expected = await outcomesOf(STEPS, byGrpc ?? []);
  const outcomes = await outcomesOf(STEPS, byRest ?? []);
  for (const [i, step] of STEPS.entries()) expect([step, outcomes[i]]).toEqual([step, expected[i]]);
  for (const client of [...(byGrpc ?? []), ...(byRest ?? [])]) await client.close();
});

const ask = async (method: string, path: string, body?: string, headers: Record<string, string> = {}) => {
  const address = `http://${fixtures[1]?.server.host}${path}`;
  const response = await fetch(address, { method, headers, ...(body !== undefined && { body }) });
  return [response.status, await response.text()] as const;
};

test.each([
  ['PUT', `/v1/${PROJECT}/topics/plain`, undefined, 200],
  ['GET', `/v1/${PROJECT}/topics?page_size=1&key=any&%24alt=json`, undefined, 200],
  ['GET', `/v1/${PROJECT}/topics?pageSize=x`, undefined, 400],
  ['GET', `/v1/${PROJECT}/topics?bogus=1`, undefined, 400],
  ['GET', `/v1/${PROJECT}/topics/%E0%A4%A`, undefined, 400],
  ['POST', `/v1/${PROJECT}/topics/plain:publish`, '{bad', 400],
  ['POST', `/v1/${PROJECT}/topics/plain:publish`, '[]', 400],
  ['POST', `/v1/${PROJECT}/topics/plain:publish`, '{"mesages":[]}', 400],
  ['PATCH', `/v1/${PROJECT}/topics/plain`, '{"topic":{"labels":{}},"updateMask":{}}', 400],
  ['POST', `/v1/${PROJECT}/subscriptions/none:streamingPull`, '{}', 404],
  ['POST', `/v1/${PROJECT}/topics`, '{}', 404],
  ['GET', `/v1/${PROJECT}/topics/plain:getIamPolicy?options.requestedPolicyVersion=3`, undefined, 200],
  ['POST', `/v1/${PROJECT}/topics/plain:getIamPolicy`, '{}', 200],
  ['GET', `/v1/${PROJECT}/topics/none:getIamPolicy`, undefined, 404],
  ['GET', '/', undefined, 200],
])('%s %s with the body %s gets %i', async (method, path, body, status) => {
  expect((await ask(method, path, body))[0]).toBe(status);
});

test('a refusal has the details that gRPC has in its trailers', async () => {
  const name = `/v1/${PROJECT}/subscriptions/exact`;
  await ask('PUT', `/v1/${PROJECT}/topics/exact`);
  const subscription = { topic: `${PROJECT}/topics/exact`, enableExactlyOnceDelivery: true };
  await ask('PUT', name, JSON.stringify(subscription));
  const [status, body] = await ask('POST', `${name}:acknowledge`, '{"ackIds":["gone"]}');
  expect([status, JSON.parse(body).error.details]).toEqual([
    400,
    [
      {
        '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
        domain: 'pubsub.googleapis.com',
        reason: expect.any(String),
        metadata: { gone: 'PERMANENT_FAILURE_INVALID_ACK_ID' },
      },
    ],
  ]);
});

test('web pages and foreign names are refused', async () => {
  expect((await ask('GET', `/v1/${PROJECT}/topics`, undefined, { origin: 'http://localhost' }))[0]).toBe(403);
});

test('a caller that is gone takes no message', async () => {
  const [, pubsub] = fixtures;
  await pubsub?.publisher.createTopic({ name: TOPIC });
  await pubsub?.subscriber.createSubscription({ name: SUBSCRIPTION, topic: TOPIC });
  const pull = (signal?: AbortSignal) =>
    fetch(`http://${pubsub?.server.host}/v1/${SUBSCRIPTION}:pull`, {
      method: 'POST',
      body: '{"maxMessages":1}',
      ...(signal && { signal }),
    });
  const leave = new AbortController();
  const waiting = pull(leave.signal);
  // Once a later request is answered, the server has handled the earlier ones.
  await ask('GET', '/');
  leave.abort();
  await expect(waiting).rejects.toThrow();
  await ask('GET', '/');
  const next = pull();
  await ask('GET', '/');
  await pubsub?.publisher.publish({ topic: TOPIC, messages: [{ data }] });
  const { receivedMessages } = (await (await next).json()) as { receivedMessages?: unknown[] };
  expect(receivedMessages).toHaveLength(1);
});
