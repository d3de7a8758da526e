/**
 * Push delivery: each message is one HTTP POST, whose response acknowledges or returns it. Owns the requests in flight; the
 * feed decides which message is delivered when.
 */

import type { ServerClock } from '@cairn/local-kit/time/clock';
import { type Dispatch, unsendable } from '@cairn/local-tasks/attempt';
import type { PushConfig } from '../model/resources.ts';
import { pushRequest } from '../wire/push-envelope.ts';
import type { Feed, FeedReceiver, Received } from './feed.ts';

/**
 * Concurrent requests of one subscription. Production starts low and increases to thousands after successful responses.
 */
const MAX_IN_FLIGHT = 100;
/** Statuses that acknowledge, as documented; every other response returns the message. */
const ACKNOWLEDGING = new Set([102, 200, 201, 202, 204]);

interface PushersOptions {
  readonly clock: ServerClock;
  readonly dispatch: Dispatch;
}

export class Pushers {
  readonly #options: PushersOptions;
  readonly #pushers = new Map<Feed, Pusher>();
  readonly #aborts = new Set<AbortController>();

  constructor(options: PushersOptions) {
    this.#options = options;
  }

  /** Starts or stops pushing, by the configuration of the feed. */
  follow(feed: Feed): void {
    const { push, detached } = feed.config;
    if (push === undefined || detached) {
      this.forget(feed);
      return;
    }
    if (this.#pushers.has(feed)) return;
    const pusher = new Pusher(feed, (received) => void this.#deliver(feed, received));
    this.#pushers.set(feed, pusher);
    feed.attach(pusher);
  }

  /** Outstanding deliveries continue. */
  forget(feed: Feed): void {
    const pusher = this.#pushers.get(feed);
    if (pusher) feed.detach(pusher);
    this.#pushers.delete(feed);
  }

  /** Aborts the requests in flight, whose results no longer count. */
  stop(): void {
    for (const abort of this.#aborts) abort.abort(new Error('the server is stopping'));
  }

  async #deliver(feed: Feed, received: Received): Promise<void> {
    const { clock, dispatch } = this.#options;
    const { push, name, ackDeadlineMs } = feed.config;
    const abort = new AbortController();
    this.#aborts.add(abort);
    const cancelDeadline = clock.at(clock.now() + ackDeadlineMs, () =>
      abort.abort(new Error('the ack deadline passed')),
    );
    const request = pushRequest({ push: push as PushConfig, subscription: name, received, now: clock.now() });
    const outcome = await dispatch({ ...request, signal: abort.signal }).catch(unsendable);
    cancelDeadline();
    this.#aborts.delete(abort);
    if (outcome.kind === 'answered' && ACKNOWLEDGING.has(outcome.status)) feed.acknowledge([received.ackId]);
    else if (!abort.signal.aborted) feed.modifyDeadline([received.ackId], 0);
  }
}

class Pusher implements FeedReceiver {
  readonly consumer = {
    maxMessages: MAX_IN_FLIGHT,
    maxBytes: Number.POSITIVE_INFINITY,
    outstanding: 0,
    outstandingBytes: 0,
  };
  readonly #feed: Feed;
  readonly #deliver: (received: Received) => void;

  constructor(feed: Feed, deliver: (received: Received) => void) {
    this.#feed = feed;
    this.#deliver = deliver;
  }

  leaseMs(): number {
    return this.#feed.config.ackDeadlineMs;
  }

  ready(): boolean {
    return true;
  }

  receive(received: readonly Received[]): void {
    for (const one of received) this.#deliver(one);
  }

  ended(): void {}
}
