/**
 * The event bus over Pub/Sub: one topic for all runs. Uses the low-level client, because the high-level one batches messages
 * itself and stops an ordering key after a failure. Here the publisher of a run batches and retries.
 *
 * Must not: know the content of a message, or decide when to give up.
 */
import { type Backoff, backoffBoundMs, halfJitterMs } from '../core/decisions/retry.ts';
import { type Clock, pause } from '../ports/clock.ts';
import { leavesOutcomeUnknown } from '../ports/grpc-outcome.ts';
import type { Randomness } from '../ports/randomness.ts';
import { assertSoundMessages, type BusMessage, type EventBus } from '../ports/runs/event-bus.ts';

/** The part of `v1.PublisherClient` that this adapter uses. */
export interface PublisherClient {
  publish(
    request: PublishRequest,
    options: { readonly timeout: number; readonly retry: null },
  ): Promise<unknown>;
}

export interface PublishRequest {
  topic: string;
  messages: { data: Buffer; attributes: { [name: string]: string }; orderingKey: string }[];
}

interface PubsubEventBusOptions {
  readonly client: PublisherClient;
  readonly project: string;
  readonly topic: string;
  readonly clock: Clock;
  readonly random: Randomness;
  /** Time limit for all attempts of a publish; shorter in tests. */
  readonly timeoutMs?: () => number;
}

/** Enough for a lost response. If the bus does not respond, a later flush tries again. */
const ATTEMPTS = 3;
/** Short, because a dispatch that has released its run still waits for the call. */
const CALL_TIMEOUT_MS = 5_000;
const BACKOFF: Backoff = { initialMs: 100, factor: 2, capMs: CALL_TIMEOUT_MS };

export class PubsubEventBus implements EventBus {
  readonly #options: PubsubEventBusOptions;
  readonly #topic: string;

  constructor(options: PubsubEventBusOptions) {
    this.#options = options;
    this.#topic = `projects/${options.project}/topics/${options.topic}`;
  }

  /** After a lost response the same messages are sent again. Pub/Sub then has them twice, still in order. */
  async publish(messages: readonly BusMessage[]): Promise<void> {
    assertSoundMessages(messages);
    const { client, clock, random, timeoutMs = () => CALL_TIMEOUT_MS } = this.#options;
    const request = {
      topic: this.#topic,
      messages: messages.map(({ orderingKey, attributes, text }) => ({
        data: Buffer.from(text),
        attributes: { ...attributes },
        orderingKey,
      })),
    };
    const deadline = clock.now() + timeoutMs();
    for (let attempt = 1; ; attempt += 1) {
      try {
        await client.publish(request, { timeout: Math.max(1, deadline - clock.now()), retry: null });
        return;
      } catch (error) {
        if (!leavesOutcomeUnknown(error) || attempt === ATTEMPTS || clock.now() >= deadline) throw error;
      }
      await pause(clock, halfJitterMs(backoffBoundMs(BACKOFF, attempt), random.unit()));
    }
  }
}
