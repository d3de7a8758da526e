/** Local publishers are informed by frames whether a topic has subscribers. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { lazyBus } from '../../../packages/cairn/src/platform/clients/bus.ts';
import { Wire } from '../../../packages/cairn/src/platform/clients/wire.ts';
import { systemRandomness } from '../../../packages/cairn/src/platform/randomness.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { SILENT } from '../../support/world.ts';
import { until } from '../support.ts';
import { PROJECT, type PubsubFixture, SUBSCRIPTION, startPubsub, TOPIC } from './pubsub-fixture.ts';

let pubsub: PubsubFixture;
beforeEach(async () => {
  pubsub = await startPubsub();
});
afterEach(() => pubsub.stop());

/** Watches a topic; `now` resolves with the newest state after everything sent before on the same connection. */
async function heardOf(topic = TOPIC) {
  const wire = new Wire(pubsub.server.host);
  const heard: number[] = [];
  const stop = wire.listen('/cairn.local.Audience/Watch', Buffer.from(topic), {
    onMessage: (message) => heard.push(message[0] ?? -1),
    onEnd: () => {},
  });
  await until(() => heard.length > 0, 'the first word');
  const now = async () => {
    await wire.call('/google.pubsub.v1.Publisher/ListTopics', Buffer.alloc(0), 60_000).catch(() => {});
    return heard.at(-1);
  };
  return { heard, now, stop };
}

test('a topic has subscribers from its first subscription to its last, and a change is sent before that call is answered', async () => {
  await pubsub.publisher.createTopic({ name: TOPIC });
  const { now, heard } = await heardOf();
  expect(await now()).toBe(0);
  await pubsub.subscriber.createSubscription({ name: SUBSCRIPTION, topic: TOPIC });
  expect(await now()).toBe(1);
  await pubsub.subscriber.createSubscription({ name: `${PROJECT}/subscriptions/other`, topic: TOPIC });
  await pubsub.subscriber.deleteSubscription({ subscription: SUBSCRIPTION });
  expect(await now()).toBe(1);
  await pubsub.publisher.detachSubscription({ subscription: `${PROJECT}/subscriptions/other` });
  expect(await now()).toBe(0);
  expect(heard).toEqual([0, 1, 0]);
});

test('a topic that retains messages counts as one with subscribers, and so does one with a snapshot', async () => {
  await pubsub.publisher.createTopic({ name: TOPIC, messageRetentionDuration: { seconds: 600 } });
  await pubsub.publisher.createTopic({ name: `${TOPIC}-2` });
  const [kept, snapped] = [await heardOf(), await heardOf(`${TOPIC}-2`)];
  expect(await kept.now()).toBe(1);
  await pubsub.subscriber.createSubscription({ name: SUBSCRIPTION, topic: `${TOPIC}-2` });
  await pubsub.subscriber.createSnapshot({ name: `${PROJECT}/snapshots/before`, subscription: SUBSCRIPTION });
  await pubsub.subscriber.deleteSubscription({ subscription: SUBSCRIPTION });
  expect(await snapped.now()).toBe(1);
});

test('a missing topic counts as one with subscribers, so that publishers get NOT_FOUND', async () => {
  const { now } = await heardOf();
  expect(await now()).toBe(1);
});

test('the bus of a worker asks once, follows changes, and assumes subscribers after it lost the server', async () => {
  const clock = new VirtualClock();
  await pubsub.publisher.createTopic({ name: TOPIC });
  const { host } = pubsub.server;
  const settings = {
    project: 'demo-cairn',
    runEventsTopic: 'news',
    pubsubHost: host,
    wireHosts: new Set([host]),
  };
  const bus = lazyBus({ settings, clock, random: systemRandomness, log: SILENT });
  const isHeard = () => bus?.isReachable?.();
  expect(isHeard()).toBe(true);
  await until(() => isHeard() === false, 'the answer');
  await pubsub.subscriber.createSubscription({ name: SUBSCRIPTION, topic: TOPIC });
  await until(() => isHeard() === true, 'the change');
  await pubsub.subscriber.deleteSubscription({ subscription: SUBSCRIPTION });
  await until(() => isHeard() === false, 'the change back');
  await pubsub.kill();
  await until(() => isHeard() === true, 'the loss');
  pubsub = await startPubsub();
});

test('a bus over gRPC assumes subscribers', () => {
  const settings = {
    project: 'p',
    runEventsTopic: 'news',
    pubsubHost: pubsub.server.host,
    wireHosts: new Set<string>(),
  };
  const bus = lazyBus({ settings, clock: new VirtualClock(), random: systemRandomness, log: SILENT });
  expect(bus?.isReachable?.()).toBe(true);
});
