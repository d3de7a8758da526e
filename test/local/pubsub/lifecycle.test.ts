/** Random operations on a subscription in any order: no call is an internal error, and no message is lost. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type PubsubFixture, SUBSCRIPTION, startPubsub, TOPIC, text } from './pubsub-fixture.ts';

const PUSH = { pushEndpoint: 'http://127.0.0.1:1/push' };
const RUNS = 25;
const HOUR_MS = 3_600_000;
const subscription = SUBSCRIPTION;

type Step = 'publish' | 'pull' | 'acknowledge' | 'return' | 'push' | 'to-pull' | 'wait' | 'reconfigure';
const step = fc.constantFrom<Step>(
  'publish',
  'pull',
  'acknowledge',
  'return',
  'push',
  'to-pull',
  'wait',
  'reconfigure',
);

test('every unacknowledged message is delivered in the end', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 3, maxLength: 25 }),
      fc.boolean(),
      async (steps, ordered) => {
        // No push is answered.
        const pubsub = await startPubsub({ kind: 'memory' }, () => new Promise(() => {}));
        try {
          const life = new Life(pubsub);
          await life.begin(ordered);
          for (const each of steps) await life.do(each);
          expect(await life.rest()).toEqual(expect.arrayContaining(life.unacknowledged()));
        } finally {
          await pubsub.stop();
        }
      },
    ),
    { numRuns: RUNS },
  );
});

class Life {
  readonly #pubsub: PubsubFixture;
  readonly #acknowledged = new Set<string>();
  /** Messages by ack id, with those of earlier deliveries. */
  readonly #held = new Map<string, string>();
  #published = 0;
  #isPush = false;

  constructor(pubsub: PubsubFixture) {
    this.#pubsub = pubsub;
  }

  async begin(ordered: boolean): Promise<void> {
    await this.#pubsub.publisher.createTopic({ name: TOPIC });
    await this.#pubsub.subscriber.createSubscription({
      name: subscription,
      topic: TOPIC,
      enableMessageOrdering: ordered,
    });
  }

  async do(what: Step): Promise<void> {
    const { publisher, subscriber, clock } = this.#pubsub;
    const ackIds = [...this.#held.keys()];
    switch (what) {
      case 'publish': {
        const data = Buffer.from(String(++this.#published));
        await publisher.publish({
          topic: TOPIC,
          messages: [{ data, orderingKey: `k${this.#published % 2}` }],
        });
        return;
      }
      case 'pull':
        if (!this.#isPush) await this.#pull(2);
        return;
      case 'acknowledge':
        if (ackIds.length === 0) return;
        await subscriber.acknowledge({ subscription, ackIds: ackIds.slice(0, 1) });
        this.#acknowledged.add(String(this.#held.get(String(ackIds[0]))));
        this.#held.delete(String(ackIds[0]));
        return;
      case 'return':
        if (ackIds.length > 0)
          await subscriber.modifyAckDeadline({ subscription, ackIds, ackDeadlineSeconds: 0 });
        return;
      case 'push':
      case 'to-pull':
        this.#isPush = what === 'push';
        await subscriber.modifyPushConfig({ subscription, pushConfig: this.#isPush ? PUSH : {} });
        return;
      case 'wait':
        clock.advance(11_000);
        return;
      case 'reconfigure':
        await subscriber.updateSubscription({
          subscription: { name: subscription, labels: { a: 'b' } },
          updateMask: { paths: ['labels'] },
        });
    }
  }

  unacknowledged(): string[] {
    const all = Array.from({ length: this.#published }, (_, index) => String(index + 1));
    return all.filter((data) => !this.#acknowledged.has(data));
  }

  /** All messages that the subscription still has. */
  async rest(): Promise<string[]> {
    await this.do('to-pull');
    this.#pubsub.clock.advance(HOUR_MS);
    const found: string[] = [];
    for (let some = await this.#pull(100); some.length > 0; some = await this.#pull(100)) {
      found.push(...some.map(({ data }) => data));
      await this.#pubsub.subscriber.acknowledge({
        subscription,
        ackIds: some.map(({ ackId }) => ackId),
      });
    }
    return found;
  }

  async #pull(maxMessages: number): Promise<{ ackId: string; data: string }[]> {
    const [response] = await this.#pubsub.subscriber.pull({
      subscription,
      maxMessages,
      returnImmediately: true,
    });
    const received = (response.receivedMessages ?? []).map(({ ackId, message }) => ({
      ackId: String(ackId),
      data: text(message ?? {}),
    }));
    for (const { ackId, data } of received) this.#held.set(ackId, data);
    return received;
  }
}
