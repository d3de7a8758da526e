import { join } from 'node:path';
import { type Message, PubSub, type Subscription } from '@google-cloud/pubsub';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type CloudProcess,
  control,
  getJson,
  startCloudProcess,
} from '../../../packages/local/src/cloud-process.ts';
import { builtFunctions } from '../../../scripts/test-functions/built.ts';
import { signalTo } from '../../support/processes.ts';
import { ended, eventually, startRun } from '../support.ts';

// Otherwise the client searches for Google's metadata server on the network.
process.env.METADATA_SERVER_DETECTION = 'none';

const MESSAGES = 25;
const DELIVERIES = 500;
/** Concurrent deliveries, of different messages. */
const AT_ONCE = 50;

interface Shown {
  readonly seq: number;
  readonly type: string;
}

describe('Pub/Sub, through the official client', () => {
  let cloud: CloudProcess;
  let client: PubSub;
  beforeAll(async () => {
    cloud = await startCloudProcess({
      data: 'memory',
      keepsSpare: false,
      functionsModule: builtFunctions(join(import.meta.dirname, '../fixtures/message-functions.ts')),
    });
    process.env.PUBSUB_EMULATOR_HOST = cloud.ready.pubsub;
    client = new PubSub({ projectId: cloud.ready.projectId });
  });
  afterAll(async () => {
    await client.close();
    cloud.process.kill('SIGTERM');
    await cloud.ended;
  });

  async function reading(
    topic: string,
    name: string,
  ): Promise<{ messages: Message[]; subscription: Subscription }> {
    const [subscription] = await client
      .topic(topic)
      .createSubscription(name, { enableMessageOrdering: true });
    const messages: Message[] = [];
    subscription.on('message', (message: Message) => {
      messages.push(message);
      message.ack();
    });
    return { messages, subscription };
  }

  /** Pushes a message as the subscription of the topic does. */
  async function deliveryTo(topic: string): Promise<(message: Message) => Promise<number>> {
    const [subscriptions] = await client.topic(topic).getSubscriptions();
    for (const subscription of subscriptions) {
      const [{ pushConfig }] = await subscription.getMetadata();
      const endpoint = pushConfig?.pushEndpoint;
      if (!endpoint) continue;
      return async ({ id, data, attributes, publishTime }) => {
        const message = { messageId: id, data: data.toString('base64'), attributes, publishTime };
        const { status } = await fetch(endpoint, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ message, subscription: subscription.name }),
        });
        return status;
      };
    }
    throw new Error(`no function takes the messages of ${topic}`);
  }

  test(`${DELIVERIES} deliveries of ${MESSAGES} messages, with one commit in ten unanswered, make ${MESSAGES} runs`, async () => {
    const { ready } = cloud;
    const { messages, subscription } = await reading('numbers', 'onlooker');
    const rules = [{ call: 'Commit', probability: 0.1, fault: { kind: 'lost-answer' } }];
    await control(ready, 'PUT', '/faults', { seed: 20_261_122, rules });
    const topic = client.topic('numbers');
    await Promise.all(Array.from({ length: MESSAGES }, (_, n) => topic.publishMessage({ json: { n } })));
    await eventually('all messages', async () => messages.length >= MESSAGES || undefined);
    await subscription.close();

    const deliver = await deliveryTo('numbers');
    // The subscription itself delivers each message once.
    const repeated = Array.from(
      { length: DELIVERIES - MESSAGES },
      (_, i) => messages[i % MESSAGES] as Message,
    );
    for (let i = 0; i < repeated.length; i += AT_ONCE) {
      await Promise.all(
        repeated
          .slice(i, i + AT_ONCE)
          .map((message) =>
            eventually('a delivery to be taken', async () =>
              (await deliver(message)) === 204 ? true : undefined,
            ),
          ),
      );
    }
    const runs = () => getJson<{ items: { id: string }[] }>(ready, '/v1/runs?type=counted&limit=100');
    const { items } = await runs();
    expect(items).toHaveLength(MESSAGES);
    const results = await Promise.all(
      items.map(async ({ id }) => {
        await ended(ready, id);
        return (await getJson<{ result: { twice: number } }>(ready, `/v1/runs/${id}`)).result.twice;
      }),
    );
    expect(results.sort((a, b) => a - b)).toEqual(Array.from({ length: MESSAGES }, (_, n) => 2 * n));
    // Read only now, because other workers dispatch and commit after the last delivery was acknowledged.
    const { injected } = await control<{ injected: Record<string, number> }>(ready, 'GET', '/faults');
    await control(ready, 'PUT', '/faults', { seed: 0, rules: [] });
    expect(injected['lost-answer']).toBeGreaterThan(MESSAGES / 10);
  });

  test('a message delivers the event that a run waits for, also after a message that cannot be read', async () => {
    const { ready } = cloud;
    const { runId } = (await (await startRun(ready, 'answered', { key: 'k' })).json()) as { runId: string };
    const topic = client.topic('answers');
    await topic.publishMessage({ data: Buffer.from('no event') });
    await topic.publishMessage({ json: { yes: true }, attributes: { event: 'answer', key: 'k' } });
    expect(await ended(ready, runId)).toMatchObject({ status: 'completed' });
  });

  test('a subscriber receives every event of a run in order, though the worker of the run is killed', async () => {
    const { ready } = cloud;
    const { messages, subscription } = await reading('run-events', 'audience');
    const { runId } = (await (await startRun(ready, 'paced', {})).json()) as { runId: string };
    const messagesOfRun = () => messages.filter(({ attributes }) => attributes.runId === runId);
    await eventually('some events', async () => messagesOfRun().length > 5 || undefined);
    for (const pid of ready.pids.workers) signalTo(pid, 'SIGKILL');
    expect(await ended(ready, runId)).toMatchObject({ status: 'completed', resumeCount: 1 });
    const { items } = await getJson<{ items: Shown[] }>(ready, `/v1/runs/${runId}/events?limit=100`);
    await eventually(
      'the last event',
      async () =>
        messagesOfRun().some(({ attributes }) => Number(attributes.seq) === items.length) || undefined,
    );
    await subscription.close();

    const first = new Map<number, Shown>();
    for (const { attributes, data } of messagesOfRun()) {
      const event = JSON.parse(data.toString()) as Shown;
      expect(attributes).toMatchObject({
        seq: String(event.seq),
        type: event.type,
        tenantId: 'local',
        workflow: 'paced',
      });
      if (!first.has(event.seq)) first.set(event.seq, event);
    }
    expect([...first.values()]).toEqual(items);
    expect(await ended(ready, runId)).toMatchObject({ status: 'completed' });
  });
});
