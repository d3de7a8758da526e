/** Enqueues and publishes to a service that does not respond or returns errors: calls end within Cairn's deadline, and succeed when it recovers. */
import { v1 } from '@google-cloud/pubsub';
import { credentials } from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type PublisherClient, PubsubEventBus } from '../../../packages/cairn/src/bus/pubsub-event-bus.ts';
import { lazyQueue } from '../../../packages/cairn/src/platform/clients/tasks.ts';
import { systemClock } from '../../../packages/cairn/src/platform/clock.ts';
import { GRPC_STATUS, leavesOutcomeUnknown } from '../../../packages/cairn/src/ports/grpc-outcome.ts';
import { OutcomeUnknown } from '../../../packages/cairn/src/ports/store-errors.ts';
import { type PubsubFixture, startPubsub, TOPIC } from '../../local/pubsub/pubsub-fixture.ts';
import { startTasks, type TasksFixture } from '../../local/tasks/tasks-fixture.ts';
import { HostileGrpc, type Mood } from '../../support/hostile-grpc.ts';

/** Deadline of calls without a response. Other calls have enough time for a slow machine. */
const SOON_MS = 200;
const LONG_MS = 60_000;
/** Most attempts until a client that lost its connection has a new one, for which it waits a second. */
const MAX_TRIES = 600;
/** Almost no pause between two attempts. */
const random = { unit: () => 0.01, token: () => 't', runId: () => 'run_1' };
const PROJECT = 'demo-cairn';

const MOODS: readonly [string, Mood][] = [
  ['deaf', 'deaf'],
  ['silent', 'silent'],
  ['unavailable', GRPC_STATUS.UNAVAILABLE],
  ['exhausted', GRPC_STATUS.RESOURCE_EXHAUSTED],
];

let tasks: TasksFixture;
let pubsub: PubsubFixture;
let hostile: HostileGrpc;
let host: string;
const publishers: v1.PublisherClient[] = [];

beforeAll(async () => {
  tasks = await startTasks();
  const queue = { name: `projects/${PROJECT}/locations/us-central1/queues/drive` };
  await tasks.client.createQueue({ parent: `projects/${PROJECT}/locations/us-central1`, queue });
  pubsub = await startPubsub();
  await pubsub.publisher.createTopic({ name: TOPIC });
});
afterAll(async () => {
  await Promise.all(publishers.map((client) => client.close()));
  await tasks.stop();
  await pubsub.stop();
});
afterEach(() => hostile.stop());

/** One request of a service behind the hostile server. */
interface Service {
  readonly name: string;
  readonly upstream: () => string;
  /** Number of attempts before the call fails. */
  readonly attempts: number;
  /** True for the error of an unknown outcome. */
  readonly isUnknown: (error: unknown) => boolean;
  readonly sending: (timeoutMs: () => number) => () => Promise<void>;
}

const SERVICES: readonly Service[] = [
  {
    name: 'Cloud Tasks',
    upstream: () => tasks.server.host,
    attempts: 4,
    isUnknown: (error) => error instanceof OutcomeUnknown,
    sending(timeoutMs) {
      const settings = {
        project: PROJECT,
        region: 'us-central1',
        tasksHost: host,
        wireHosts: new Set<string>(),
        drive: {
          shared: { name: 'drive', targetUrl: 'http://127.0.0.1:1/drive' },
          alone: { name: 'driveAlone', targetUrl: 'http://127.0.0.1:1/driveAlone' },
        },
        pools: {},
        serviceAccount: 'drive@cairn.invalid',
      };
      const queue = lazyQueue({ settings, clock: systemClock, random, timeoutMs });
      return () => queue.enqueue({ runId: 'run_1', reason: 'start', name: 'first' });
    },
  },
  {
    name: 'Pub/Sub',
    upstream: () => pubsub.server.host,
    attempts: 3,
    isUnknown: leavesOutcomeUnknown,
    sending(timeoutMs) {
      const [apiEndpoint = '', port] = host.split(':');
      const sslCreds = credentials.createInsecure();
      const client = new v1.PublisherClient({ apiEndpoint, port: Number(port), sslCreds });
      publishers.push(client);
      const bus = new PubsubEventBus({
        client: client as PublisherClient,
        project: PROJECT,
        topic: TOPIC.split('/').at(-1) as string,
        clock: systemClock,
        random,
        timeoutMs,
      });
      return () => bus.publish([{ orderingKey: 'run_1', attributes: {}, text: '{}' }]);
    },
  },
];

describe.each(SERVICES)('$name', ({ upstream, attempts, isUnknown, sending }) => {
  beforeEach(async () => {
    hostile = new HostileGrpc(upstream());
    host = await hostile.start();
  });

  test.each(MOODS)(
    'that is %s is given up within our deadline, and used again when it recovers',
    async (_, mood) => {
      const isAnswered = typeof mood === 'number';
      const send = sending(() => (isAnswered || hostile.mood === 'well' ? LONG_MS : SOON_MS));
      hostile.mood = mood;
      const error = await send().catch((thrown: unknown) => thrown);
      expect([error, isUnknown(error)]).toEqual([error, true]);
      // Each attempt is one request, because the client does not retry by itself.
      if (isAnswered) expect(hostile.requests).toHaveLength(attempts);
      else expect(hostile.requests.length).toBeLessThanOrEqual(attempts);
      hostile.heal();
      await untilTaken(send, isUnknown);
    },
  );

  test('that refuses permanently is called once', async () => {
    const send = sending(() => LONG_MS);
    hostile.mood = GRPC_STATUS.PERMISSION_DENIED;
    await expect(send()).rejects.toMatchObject({ code: GRPC_STATUS.PERMISSION_DENIED });
    expect(hostile.requests).toHaveLength(1);
  });
});

async function untilTaken(send: () => Promise<void>, isUnknown: (error: unknown) => boolean): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await send();
    } catch (error) {
      if (!isUnknown(error) || tries === MAX_TRIES) throw error;
    }
  }
}
