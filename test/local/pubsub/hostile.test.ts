import {
  Client,
  type ClientDuplexStream,
  credentials,
  Metadata,
  type ServiceDefinition,
  type StatusObject,
  status,
} from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { pubsubProtocol } from '../../../packages/local-pubsub/src/wire/protocol.ts';
import { PROJECT, type PubsubFixture, SUBSCRIPTION, startPubsub, TOPIC, text } from './pubsub-fixture.ts';

const {
  CANCELLED,
  DEADLINE_EXCEEDED,
  FAILED_PRECONDITION,
  INTERNAL,
  INVALID_ARGUMENT,
  NOT_FOUND,
  UNIMPLEMENTED,
} = status;
const DEADLINE_MS = 120_000;
const protocol = pubsubProtocol();
const METHODS: ServiceDefinition[string][] = [
  protocol.publisher.definition,
  protocol.subscriber.definition,
  protocol.schemas.definition,
  protocol.iam.definition,
].flatMap((service) => Object.values(service));
const UNARY = METHODS.filter(({ requestStream }) => !requestStream);

let pubsub: PubsubFixture;
let raw: Client;
beforeAll(async () => {
  pubsub = await startPubsub();
  raw = new Client(pubsub.server.host, credentials.createInsecure());
  await pubsub.publisher.createTopic({ name: TOPIC });
  await pubsub.subscriber.createSubscription({ name: SUBSCRIPTION, topic: TOPIC });
});
afterAll(async () => {
  raw.close();
  await pubsub.stop();
});

const same = (bytes: Buffer) => bytes;

/** Result of a call with these request bytes. */
function send(path: string, bytes: Buffer): Promise<{ readonly code: status; readonly details: string }> {
  const deadline = { deadline: Date.now() + DEADLINE_MS };
  return new Promise((resolve) => {
    raw.makeUnaryRequest(path, same, same, bytes, new Metadata(), deadline, (error) =>
      resolve(error ?? { code: status.OK, details: '' }),
    );
  });
}

/** A stream that sends these requests, one after the other, and the status it ends with. */
function streamed(requests: readonly (Buffer | object)[]): Promise<StatusObject> {
  const method = protocol.subscriber.definition.StreamingPull as ServiceDefinition[string];
  const encode = (request: Buffer | object) =>
    Buffer.isBuffer(request) ? request : method.requestSerialize(request);
  const call: ClientDuplexStream<Buffer | object, Buffer> = raw.makeBidiStreamRequest(
    method.path,
    encode,
    same,
    new Metadata(),
    { deadline: Date.now() + DEADLINE_MS },
  );
  return new Promise((resolve) => {
    call.on('error', () => {});
    call.on('data', () => {});
    call.on('status', resolve);
    for (const request of requests) call.write(request);
    call.end();
  });
}

/** Checks that the server still publishes, delivers and acknowledges. */
async function works(): Promise<void> {
  const name = `${PROJECT}/subscriptions/probe`;
  await pubsub.subscriber.createSubscription({ name, topic: TOPIC });
  await pubsub.publisher.publish({ topic: TOPIC, messages: [{ data: Buffer.from('alive') }] });
  const [answer] = await pubsub.subscriber.pull({ subscription: name, maxMessages: 1 });
  const [received] = answer.receivedMessages ?? [];
  expect(text(received?.message ?? {})).toBe('alive');
  await pubsub.subscriber.acknowledge({ subscription: name, ackIds: [String(received?.ackId)] });
  await pubsub.subscriber.deleteSubscription({ subscription: name });
}

test('random bytes for any call are refused, and the server continues', async () => {
  const refusals = new Set([INTERNAL, INVALID_ARGUMENT, NOT_FOUND, UNIMPLEMENTED, FAILED_PRECONDITION]);
  const call = fc.constantFrom(...UNARY.map(({ path }) => path));
  await fc.assert(
    fc.asyncProperty(call, fc.uint8Array({ minLength: 1, maxLength: 60 }), async (path, bytes) => {
      const { code, details } = await send(path, Buffer.from(bytes));
      expect(refusals).toContain(code);
      expect(details).not.toMatch(/Defect/);
    }),
    { numRuns: 500 },
  );
  await works();
});

describe('a damaged request', () => {
  const requests: [string, object][] = [
    ['CreateTopic', { name: `${PROJECT}/topics/damaged`, labels: { a: 'b' } }],
    ['Publish', { topic: TOPIC, messages: [{ data: Buffer.from('x'), attributes: { a: 'b' } }] }],
    [
      'CreateSubscription',
      {
        name: `${PROJECT}/subscriptions/damaged`,
        topic: TOPIC,
        filter: 'attributes:a',
        retryPolicy: { minimumBackoff: { seconds: 1 } },
      },
    ],
    ['UpdateSubscription', { subscription: { name: SUBSCRIPTION }, updateMask: { paths: ['labels'] } }],
    ['Acknowledge', { subscription: SUBSCRIPTION, ackIds: ['g.1.1'] }],
    ['Seek', { subscription: SUBSCRIPTION, time: { seconds: 1_700_000_000 } }],
  ];

  test.each(requests)('%s gets a response and is never an internal error', async (name, request) => {
    const method = METHODS.find(({ path }) => path.endsWith(`/${name}`)) as ServiceDefinition[string];
    const whole = method.requestSerialize(request);
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.nat(255), fc.boolean(), async (at, byte, cut) => {
        const bytes = Buffer.from(cut ? whole.subarray(0, at) : whole);
        if (!cut) bytes[at] = byte;
        const { code, details } = await send(method.path, bytes);
        expect([CANCELLED, DEADLINE_EXCEEDED]).not.toContain(code);
        expect(details).not.toMatch(/Defect/);
      }),
      { numRuns: 150 },
    );
    await works();
  });
});

describe('a stream', () => {
  const first = { subscription: SUBSCRIPTION, streamAckDeadlineSeconds: 10 };
  test.each<[string, (Buffer | object)[], status, RegExp]>([
    ['without a subscription', [{ streamAckDeadlineSeconds: 10 }], INVALID_ARGUMENT, /subscriptions/],
    [
      'of a missing subscription',
      [{ ...first, subscription: `${PROJECT}/subscriptions/none` }],
      NOT_FOUND,
      /none/,
    ],
    ['without a deadline', [{ subscription: SUBSCRIPTION }], INVALID_ARGUMENT, /\[10, 600\]/],
    [
      'that names its subscription again',
      [first, first],
      INVALID_ARGUMENT,
      /only be set by the first request/,
    ],
    [
      'that sets flow control again',
      [first, { maxOutstandingMessages: 5 }],
      INVALID_ARGUMENT,
      /first request/,
    ],
    ['with a nonsensical ack id', [first, { ackIds: ['?'] }], INVALID_ARGUMENT, /invalid ack ID/],
    [
      'with a negative deadline',
      [first, { modifyDeadlineAckIds: ['g.1.1'], modifyDeadlineSeconds: [-1] }],
      INVALID_ARGUMENT,
      /\[0, 600\]/,
    ],
    ['with deadlines for nothing', [first, { modifyDeadlineSeconds: [1] }], INVALID_ARGUMENT, /same length/],
    ['of bytes that are no request', [Buffer.from([0xff, 0xff, 0xff])], INTERNAL, /./],
  ])('%s ends with its status', async (_what, requests, code, details) => {
    expect(await streamed(requests)).toMatchObject({ code, details: expect.stringMatching(details) });
    await works();
  });

  test('ended by the client has status OK', async () => {
    expect(await streamed([first])).toMatchObject({ code: status.OK });
  });

  test('of random bytes ends, and the server continues', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 30 }), { maxLength: 4 }), async (requests) => {
        const { code, details } = await streamed(requests.map((bytes) => Buffer.from(bytes)));
        expect(details).not.toMatch(/Defect/);
        expect([CANCELLED, DEADLINE_EXCEEDED]).not.toContain(code);
      }),
      { numRuns: 150 },
    );
    await works();
  });
});
