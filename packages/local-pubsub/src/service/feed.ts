/**
 * One active subscription: its backlog, receivers and timer. Distributes messages, and reports results of deliveries to the
 * store and dead letters to the broker.
 */
import { Alarm } from '@cairn/local-kit/time/alarm';
import type { ServerClock } from '@cairn/local-kit/time/clock';
import { ackIdTag, requireAckIds } from '../model/ack-ids.ts';
import { type Acknowledgement, Backlog, type Delivery } from '../model/backlog.ts';
import { redeliveryPauseMs } from '../model/backoff.ts';
import { type MessageFilter, parseFilter } from '../model/filter.ts';
import type { Consumer } from '../model/leases.ts';
import { messageBytes, type StoredMessage, type SubscriptionConfig } from '../model/resources.ts';
import { invalid, notForPush, type PubsubError } from '../model/status.ts';
import type { PubsubStore } from '../storage/storage.ts';

/** A message for a receiver. */
export interface Received {
  readonly ackId: string;
  readonly message: StoredMessage;
  /** From 1; 0 without a dead-letter policy, as in production. */
  readonly attempt: number;
}

export interface FeedReceiver {
  readonly consumer: Consumer;
  leaseMs(): number;
  /** False if it accepts nothing now; it calls `pump` later. */
  ready(): boolean;
  receive(received: readonly Received[]): void;
  /** The configuration of the subscription changed. */
  configured?(config: SubscriptionConfig): void;
  /** The subscription was deleted, detached or switched between push and pull; the receiver is removed already. */
  ended(error: PubsubError): void;
}

interface FeedOptions {
  readonly config: SubscriptionConfig;
  readonly store: PubsubStore;
  readonly clock: ServerClock;
  /** Unique, also across restarts. */
  readonly freshGeneration: () => string;
  /** Retention of messages: that of the subscription, or of its topic if longer. */
  readonly retentionMs: (config: SubscriptionConfig) => number;
  /** Publishes a dead letter. @returns false if its topic does not exist */
  readonly forward: (config: SubscriptionConfig, message: StoredMessage, failures: number) => boolean;
}

/** Results for the ids of one call. */
export interface AckResult {
  readonly done: readonly string[];
  /** Invalid or expired. */
  readonly invalid: readonly string[];
  /** To be retried, because an earlier message of the key is outstanding. */
  readonly unordered: readonly string[];
}

/** Limits of one response: large enough for throughput, small enough for a client's memory. */
const BATCH_MESSAGES = 100;
const BATCH_BYTES = 1024 * 1024;

export class Feed {
  readonly #options: FeedOptions;
  readonly #receivers = new Set<FeedReceiver>();
  #config: SubscriptionConfig;
  #filter: MessageFilter;
  #backlog: Backlog;
  /** Stored messages whose publish call may not be answered yet; they are delivered after the answer. */
  #unannounced: StoredMessage[] = [];
  readonly #alarm: Alarm;
  #pumping = false;
  #pumpAgain = false;
  #closed = false;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#config = options.config;
    this.#filter = parseFilter(options.config.filter);
    this.#backlog = this.#load();
    this.#alarm = new Alarm(options.clock, () => this.pump());
  }

  get config(): SubscriptionConfig {
    return this.#config;
  }

  /** Messages not yet acknowledged. */
  get size(): number {
    return this.#backlog.size + this.#unannounced.length;
  }

  wants(attributes: Readonly<Record<string, string>>): boolean {
    return !this.#config.detached && this.#filter(attributes);
  }

  /** Adds a stored message, which is not delivered before `admit`. */
  add(message: StoredMessage): void {
    this.#unannounced.push(message);
  }

  /** Makes the messages up to this id deliverable; `pump` delivers them. */
  admit(upTo = Number.POSITIVE_INFINITY): void {
    const later = this.#unannounced.findIndex(({ id }) => id > upTo);
    const admitted = this.#unannounced.splice(0, later < 0 ? this.#unannounced.length : later);
    for (const message of admitted) {
      const key = this.#config.ordered ? message.orderingKey : '';
      const { id, publishedAt } = message;
      this.#backlog.add({ id, key, bytes: messageBytes(message), publishedAt, failures: 0 }, publishedAt);
    }
  }

  attach(receiver: FeedReceiver): void {
    this.#receivers.add(receiver);
    this.pump();
  }

  /** Messages held by the receiver stay with it until their deadline. */
  detach(receiver: FeedReceiver): void {
    this.#receivers.delete(receiver);
  }

  /** With exactly-once delivery, durable when this returns. @throws PubsubError for an invalid id */
  acknowledge(ackIds: readonly string[]): AckResult {
    return this.#settle(ackIds, (ackId) => this.#backlog.ack(ackId));
  }

  /** @param ms 0 returns the messages. @throws PubsubError for an invalid id */
  modifyDeadline(ackIds: readonly string[], ms: number): AckResult {
    const now = this.#options.clock.now();
    return this.#settle(ackIds, (ackId) => {
      const known = ms === 0 ? this.#backlog.nack(ackId, now) : this.#backlog.extend(ackId, now + ms);
      return known ? 'acked' : 'unknown';
    });
  }

  /** Applies a stored configuration. A switch between push and pull releases outstanding messages and ends all receivers. */
  configure(config: SubscriptionConfig): void {
    const switched = (config.push === undefined) !== (this.#config.push === undefined);
    // Only deliveries under a dead letter policy count, as documented.
    const counting = config.deadLetter !== undefined && this.#config.deadLetter === undefined;
    this.#config = config;
    if (counting) this.#forgetFailures();
    if (switched) {
      this.#endReceivers(notForPush());
      this.reload();
    } else this.pump();
    for (const receiver of this.#receivers) receiver.configured?.(config);
  }

  /** Reloads the backlog from storage: earlier deliveries no longer count. */
  reload(): void {
    this.#backlog.abandon();
    this.#unannounced = [];
    this.#backlog = this.#load();
    this.pump();
  }

  /** Ends all receivers. */
  close(error: PubsubError): void {
    this.#closed = true;
    this.#alarm.set(undefined);
    this.#endReceivers(error);
  }

  /** Delivers all deliverable messages and sets the timer for the next change. */
  pump(): void {
    // Delivery may change the backlog: by a receiver, or by a dead letter to this subscription.
    this.#pumpAgain = true;
    if (this.#pumping || this.#closed) return;
    this.#pumping = true;
    try {
      while (this.#pumpAgain) {
        this.#pumpAgain = false;
        this.#deliver();
      }
    } finally {
      this.#pumping = false;
    }
    if (!this.#closed) this.#alarm.set(this.#backlog.nextChange(this.#options.clock.now()));
  }

  /** Drops messages beyond the retention. */
  dropExpired(): void {
    const cutoff = this.#options.clock.now() - this.#retentionMs;
    this.#backlog.dropBefore(cutoff);
    this.#options.store.dropBefore(this.#config.name, cutoff);
  }

  get #retentionMs(): number {
    return this.#options.retentionMs(this.#config);
  }

  #settle(ackIds: readonly string[], one: (ackId: string) => Acknowledgement): AckResult {
    const { exactlyOnce, name } = this.#config;
    if (!exactlyOnce) requireAckIds(ackIds, name);
    const settled = { acked: [] as string[], unknown: [] as string[], unordered: [] as string[] };
    if (!this.#closed) {
      this.#backlog.expire(this.#options.clock.now());
      if (exactlyOnce) requireFew(ackIds.filter((ackId) => !this.#backlog.knows(ackId)));
      for (const ackId of new Set(ackIds)) settled[one(ackId)].push(ackId);
      if (exactlyOnce) this.#options.store.flush();
      this.pump();
    }
    return { done: settled.acked, invalid: settled.unknown, unordered: settled.unordered };
  }

  #forgetFailures(): void {
    this.#backlog.forgetFailures();
    this.#options.store.forgetFailures(this.#config.name);
  }

  #endReceivers(error: PubsubError): void {
    const receivers = [...this.#receivers];
    this.#receivers.clear();
    for (const receiver of receivers) receiver.ended(error);
  }

  #deliver(): void {
    const now = this.#options.clock.now();
    this.#backlog.expire(now);
    if (this.#backlog.dropBefore(now - this.#retentionMs)) this.dropExpired();
    for (let gave = true; gave; ) {
      gave = false;
      for (const receiver of [...this.#receivers]) {
        if (!this.#receivers.has(receiver) || !receiver.ready()) continue;
        const taken = this.#backlog.take(receiver.consumer, {
          now,
          leaseMs: receiver.leaseMs(),
          most: BATCH_MESSAGES,
          mostBytes: BATCH_BYTES,
        });
        if (taken.length === 0) continue;
        gave = true;
        // The consumer that just received a message is the last one next time.
        if (this.#receivers.delete(receiver)) this.#receivers.add(receiver);
        receiver.receive(taken.flatMap((delivery) => this.#received(delivery)));
      }
    }
  }

  #received({ id, ackId, attempt }: Delivery): Received[] {
    const message = this.#options.store.message(id);
    return message ? [{ ackId, message, attempt: this.#config.deadLetter ? attempt : 0 }] : [];
  }

  #load(): Backlog {
    const { store, freshGeneration } = this.#options;
    const backlog = new Backlog(
      {
        pauseMs: (failures) => redeliveryPauseMs(this.#config, failures),
        oneOfKey: this.#config.push !== undefined,
        generation: `${ackIdTag(this.#config.name)}.${freshGeneration()}`,
        confirmed: () => this.#config.exactlyOnce,
      },
      {
        acked: (id) => store.ackLater(this.#config.name, id, this.#config.retainAcked),
        failed: (id, failures) => this.#failed(id, failures),
      },
    );
    // Due at once, because the clock may be behind the time of publication after a restart.
    for (const waiting of store.pending(this.#config.name)) {
      backlog.add(this.#config.ordered ? waiting : { ...waiting, key: '' }, 0);
    }
    return backlog;
  }

  #failed(id: number, failures: number): boolean {
    const { store, forward } = this.#options;
    const { name, deadLetter } = this.#config;
    const message = deadLetter && failures >= deadLetter.maxDeliveryAttempts ? store.message(id) : undefined;
    if (message === undefined || !forward(this.#config, message, failures)) {
      store.failLater(name, id, failures);
      return false;
    }
    store.ackLater(name, id, false);
    return true;
  }
}

/** Most ids in one response, because they are in the trailers, of which a client accepts 64 KiB. */
const MAX_REFUSED = 500;

/** Called before any change, because clients take ids that are not named as refused for done. */
function requireFew(refused: readonly string[]): void {
  if (refused.length > MAX_REFUSED) throw invalid(REFUSED);
}

/** Message of production. */
export const REFUSED =
  'Some acknowledgement ids in the request were invalid. This could be because the acknowledgement ids have expired or the acknowledgement ids were malformed.';
