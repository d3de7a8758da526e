import type { Message, Subscription } from '@google-cloud/pubsub';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { FusedBus } from '../../packages/cairn/src/bus/fused-bus.ts';
import { type PublisherClient, PubsubEventBus } from '../../packages/cairn/src/bus/pubsub-event-bus.ts';
import type { BusMessage } from '../../packages/cairn/src/ports/runs/event-bus.ts';
import { waitFor } from '../../scripts/demo/notes.ts';
import {
  listen,
  type PubsubFixture,
  SUBSCRIPTION,
  startPubsub,
  TOPIC,
  text,
} from '../local/pubsub/pubsub-fixture.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { seededRandomness } from '../support/world.ts';

const clock = { now: () => performance.now(), timer: realTimer };

function realTimer(delayMs: number, fire: () => void): () => void {
  const timer = setTimeout(fire, delayMs);
  return () => clearTimeout(timer);
}

const messageOf = (n: number, orderingKey = 'run_1'): BusMessage => ({
  orderingKey,
  attributes: { runId: orderingKey, seq: String(n) },
  text: JSON.stringify({ n, ü: '😀' }),
});

describe('the bus in Pub/Sub', () => {
  let pubsub: PubsubFixture;
  let received: Message[];
  let subscription: Subscription | undefined;
  const bus = (topic = 'news') =>
    new PubsubEventBus({
      client: pubsub.publisher as PublisherClient,
      project: 'demo-cairn',
      topic,
      clock,
      random: seededRandomness(1),
    });

  beforeEach(async () => {
    pubsub = await startPubsub();
    await pubsub.publisher.createTopic({ name: TOPIC });
    await pubsub.subscriber.createSubscription({
      name: SUBSCRIPTION,
      topic: TOPIC,
      enableMessageOrdering: true,
    });
  });
  afterEach(async () => {
    await subscription?.close();
    subscription = undefined;
    await pubsub.stop();
  });

  function read(): void {
    subscription = pubsub.client.subscription(SUBSCRIPTION);
    received = listen(subscription, (message) => message.ack());
  }

  const seqs = () => received.map(({ attributes }) => Number(attributes.seq));

  test('brings what was published to whoever subscribes, in order, to the byte', async () => {
    read();
    await bus().publish([1, 2, 3].map((n) => messageOf(n)));
    await bus().publish([messageOf(4)]);
    await waitFor('all messages', async () => received.length >= 4 || undefined);
    expect(seqs()).toEqual([1, 2, 3, 4]);
    expect(received.map(text)).toEqual([1, 2, 3, 4].map((n) => messageOf(n).text));
    expect(received.map(({ orderingKey }) => orderingKey)).toEqual(Array(4).fill('run_1'));
  });

  test('sends the same again when an answer was lost: in order, each at least once', async () => {
    read();
    pubsub.server.faults.set(
      [{ call: 'Publish', probability: 1, times: 2, fault: { kind: 'lost-answer' } }],
      1,
    );
    await bus().publish([messageOf(1), messageOf(2)]);
    await bus().publish([messageOf(3)]);
    await waitFor('all messages', async () => seqs().includes(3) || undefined);
    expect([...new Set(seqs())]).toEqual([1, 2, 3]);
  });

  test('gives up within seconds, with what the service said', async () => {
    await expect(bus('nobody-made-it').publish([messageOf(1)])).rejects.toMatchObject({ code: 5 });
    pubsub.server.faults.set([{ call: 'Publish', probability: 1, fault: { kind: 'unavailable' } }], 1);
    await expect(bus().publish([messageOf(1)])).rejects.toMatchObject({ code: 14 });
    expect(pubsub.server.faults.injected()).toMatchObject({ unavailable: 3 });
  });

  test('refuses what only a bug can ask for', async () => {
    await expect(bus().publish([])).rejects.toThrow('nothing');
    await expect(bus().publish([messageOf(1), messageOf(1, 'run_2')])).rejects.toThrow('several');
  });
});

describe('a fused bus', () => {
  const made = () => {
    const time = new VirtualClock();
    const lines: unknown[] = [];
    const state = { down: true, asked: 0 };
    const log = { debug() {}, info() {}, warn() {}, error: (event: string) => lines.push(event) };
    const inner = {
      publish: async () => {
        state.asked += 1;
        if (state.down) throw new Error('down');
      },
    };
    const bus = new FusedBus({ bus: inner, clock: time, log, topic: 'news' });
    return { time, lines, state, publish: () => bus.publish([messageOf(1)]) };
  };

  test('does not ask one that is down again for a while, longer each time, and says so once', async () => {
    const { time, lines, state, publish } = made();
    await expect(publish()).rejects.toThrow('down');
    for (let i = 0; i < 50; i += 1) await expect(publish()).rejects.toThrow('rejected an earlier message');
    expect([state.asked, lines]).toEqual([1, ['run_events_not_taken']]);
    time.jump(1_000);
    await expect(publish()).rejects.toThrow('down');
    time.jump(1_000);
    await expect(publish()).rejects.toThrow('rejected an earlier message');
    time.jump(1_000);
    await expect(publish()).rejects.toThrow('down');
    for (let hours = 0; hours < 100; hours += 1) {
      time.jump(60_000);
      await expect(publish()).rejects.toThrow('down');
    }
    expect(state.asked).toBe(103);
  });

  test('goes on as if nothing had been once it is back', async () => {
    const { time, state, publish } = made();
    await expect(publish()).rejects.toThrow('down');
    time.jump(1_000);
    state.down = false;
    await publish();
    await publish();
    state.down = true;
    await expect(publish()).rejects.toThrow('down');
    time.jump(1_000);
    await expect(publish()).rejects.toThrow('down');
  });
});
