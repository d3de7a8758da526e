import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PubSub, v1 } from '@google-cloud/pubsub';
import { credentials } from '@grpc/grpc-js';
import { afterEach, describe, expect, test } from '@jest/globals';
import { freshFolder, type StartedProcess, startProcess } from '../start/start-fixture.ts';
import { until } from '../support.ts';
import { listen, PROJECT, SUBSCRIPTION, startPubsub, TOPIC, text } from './pubsub-fixture.ts';

const processes: StartedProcess[] = [];
afterEach(async () => {
  for (const { child } of processes) child.kill('SIGKILL');
  await Promise.all(processes.map(({ ended }) => ended));
});

describe('what was published and not acknowledged', () => {
  test('is delivered again after SIGKILL of the cloud, in order, without acknowledged messages', async () => {
    const data = freshFolder();
    const first = start(data);
    const before = clients((await first.ready).pubsub);
    await before.publisher.createTopic({ name: TOPIC });
    await before.subscriber.createSubscription({
      name: SUBSCRIPTION,
      topic: TOPIC,
      enableMessageOrdering: true,
    });
    const messages = ['1', '2', '3', '4'].map((value) => ({ data: Buffer.from(value), orderingKey: 'k' }));
    const [{ messageIds }] = await before.publisher.publish({ topic: TOPIC, messages });
    const [pulled] = await before.subscriber.pull({ subscription: SUBSCRIPTION, maxMessages: 10 });
    const ackIds = (pulled.receivedMessages ?? []).slice(0, 2).map(({ ackId }) => String(ackId));
    await before.subscriber.acknowledge({ subscription: SUBSCRIPTION, ackIds });
    // A later call is answered after the acknowledgement was written.
    await before.publisher.getTopic({ topic: TOPIC });
    first.child.kill('SIGKILL');
    await first.ended;
    await before.close();

    const host = (await start(data).ready).pubsub;
    process.env.PUBSUB_EMULATOR_HOST = host;
    const client = new PubSub({ projectId: 'demo-cairn' });
    const subscription = client.subscription('reader');
    const received = listen(subscription, (message) => message.ack());
    await until(() => received.length === 2, 'the rest');
    expect(received.map(text)).toEqual(['3', '4']);
    expect(received.map(({ id }) => id)).toEqual(messageIds?.slice(2));
    const after = await client.topic('news').publishMessage({ data: Buffer.from('5'), orderingKey: 'k' });
    expect(BigInt(after)).toBeGreaterThan(BigInt(String(messageIds?.at(-1))));
    await subscription.close();
    await client.close();
  });

  test('an ack id issued before a restart is ignored', async () => {
    const storage = { kind: 'sqlite' as const, file: join(freshFolder(), 'pubsub.sqlite') };
    const former = await startPubsub(storage);
    await former.publisher.createTopic({ name: TOPIC });
    await former.subscriber.createSubscription({ name: SUBSCRIPTION, topic: TOPIC });
    await former.publisher.publish({ topic: TOPIC, messages: [{ data: Buffer.from('m') }] });
    const [pulled] = await former.subscriber.pull({ subscription: SUBSCRIPTION, maxMessages: 1 });
    await former.stop();
    const later = await startPubsub(storage);
    const ackIds = [String(pulled.receivedMessages?.[0]?.ackId)];
    await later.subscriber.acknowledge({ subscription: SUBSCRIPTION, ackIds });
    const [again] = await later.subscriber.pull({ subscription: SUBSCRIPTION, maxMessages: 1 });
    expect(again.receivedMessages).toHaveLength(1);
    await later.stop();
  });

  test('keeps the count of its failed deliveries', async () => {
    const storage = { kind: 'sqlite' as const, file: join(freshFolder(), 'pubsub.sqlite') };
    const deadLetterPolicy = { deadLetterTopic: TOPIC, maxDeliveryAttempts: 10 };
    let fixture = await startPubsub(storage);
    await fixture.publisher.createTopic({ name: TOPIC });
    await fixture.subscriber.createSubscription({ name: SUBSCRIPTION, topic: TOPIC, deadLetterPolicy });
    await fixture.publisher.publish({ topic: TOPIC, messages: [{ data: Buffer.from('m') }] });
    const attempts: unknown[] = [];
    for (let i = 0; i < 3; i++) {
      const [pulled] = await fixture.subscriber.pull({ subscription: SUBSCRIPTION, maxMessages: 1 });
      const [received] = pulled.receivedMessages ?? [];
      attempts.push(received?.deliveryAttempt);
      await fixture.subscriber.modifyAckDeadline({
        subscription: SUBSCRIPTION,
        ackIds: [String(received?.ackId)],
        ackDeadlineSeconds: 0,
      });
      await fixture.stop();
      fixture = await startPubsub(storage);
    }
    expect(attempts).toEqual([1, 2, 3]);
    expect((await fixture.subscriber.listSubscriptions({ project: PROJECT }))[0]).toHaveLength(1);
    await fixture.stop();
  });
});

test('ids are unique across restarts, including those of messages without subscribers', async () => {
  const storage = { kind: 'sqlite' as const, file: join(freshFolder(), 'pubsub.sqlite') };
  const ids: number[] = [];
  for (const deaf of [true, false, true]) {
    const { publisher, subscriber, stop } = await startPubsub(storage);
    if (ids.length === 0) await publisher.createTopic({ name: TOPIC });
    if (!deaf)
      await subscriber.createSubscription({ name: SUBSCRIPTION, topic: TOPIC, filter: 'attributes:heard' });
    // The message that the filter passes is between two that it drops.
    const messages = [{}, { heard: '1' }, {}].map((attributes) => ({ data: Buffer.from('m'), attributes }));
    const [{ messageIds }] = await publisher.publish({ topic: TOPIC, messages });
    ids.push(...(messageIds ?? []).map(Number));
    if (!deaf) {
      const [{ receivedMessages }] = await subscriber.pull({ subscription: SUBSCRIPTION, maxMessages: 10 });
      expect(receivedMessages?.map(({ message }) => Number(message?.messageId))).toEqual([ids[4]]);
      await subscriber.deleteSubscription({ subscription: SUBSCRIPTION });
    }
    await stop();
  }
  expect(ids).toEqual(Array.from({ length: 9 }, (_, i) => (ids[0] as number) + i));
});

test('messages that every subscription has acknowledged leave nothing on disk, nor do those without a subscription', async () => {
  const file = join(freshFolder(), 'pubsub.sqlite');
  const { publisher, subscriber, stop } = await startPubsub({ kind: 'sqlite', file });
  const names = [SUBSCRIPTION, `${PROJECT}/subscriptions/second`, `${PROJECT}/subscriptions/third`];
  await publisher.createTopic({ name: TOPIC });
  await publisher.publish({ topic: TOPIC, messages: [{ data: Buffer.from('to nobody') }] });
  for (const name of names) await subscriber.createSubscription({ name, topic: TOPIC });
  await publisher.publish({
    topic: TOPIC,
    messages: [{ data: Buffer.from('a') }, { data: Buffer.from('b') }],
  });
  for (const subscription of names.slice(0, 2)) {
    const [{ receivedMessages }] = await subscriber.pull({ subscription, maxMessages: 10 });
    const ackIds = (receivedMessages ?? []).map(({ ackId }) => String(ackId));
    await subscriber.acknowledge({ subscription, ackIds });
  }
  const rows = (table: string) => {
    const db = new DatabaseSync(file, { readOnly: true });
    const { count } = db.prepare(`SELECT count(*) AS count FROM ${table}`).get() as { count: number };
    db.close();
    return count;
  };
  await publisher.getTopic({ topic: TOPIC });
  expect([rows('messages'), rows('pending')]).toEqual([2, 2]);
  await subscriber.deleteSubscription({ subscription: String(names[2]) });
  expect([rows('messages'), rows('pending')]).toEqual([0, 0]);
  await stop();
});

function start(data: string): StartedProcess {
  const started = startProcess(['--json', '--no-spare', '--data', data], {});
  processes.push(started);
  return started;
}

function clients(host: string) {
  const [apiEndpoint = '', port = ''] = host.split(':');
  const sslCreds = credentials.createInsecure();
  const options = { apiEndpoint, port: Number(port), sslCreds, projectId: 'demo-cairn' };
  const publisher = new v1.PublisherClient(options);
  const subscriber = new v1.SubscriberClient(options);
  return { publisher, subscriber, close: () => Promise.all([publisher.close(), subscriber.close()]) };
}
