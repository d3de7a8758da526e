/**
 * One active subscription: its backlog, its receivers, and its timer. Owns the distribution; reports the
 * results of deliveries to the store, dead letters to the broker.
 */
import type { Cancel, Clock } from '@cairn/local-kit/time/clock';
import { type Acknowledgement, Backlog, type Delivery } from '../model/backlog.ts';
import { redeliveryPauseMs } from '../model/backoff.ts';
import { type MessageFilter, parseFilter } from '../model/filter.ts';
import type { Consumer } from '../model/leases.ts';
import { type Message, messageBytes, type SubscriptionConfig } from '../model/resources.ts';
import { invalid, type PubsubError } from '../model/status.ts';
import type { PubsubStore } from '../storage/storage.ts';

/** A message on its way to a receiver. */
export interface Received {
  readonly ackId: string;
  readonly message: Message;
  /** From 1; counted for dead letters, and 0 where there are none, as in production. */
  readonly attempt: number;
}

export interface FeedReceiver {
  readonly consumer: Consumer;
  leaseMs(): number;
  /** False: deliver nothing now. It calls `pump` when that changes. */
  ready(): boolean;
  receive(received: readonly Received[]): void;
  /** The configuration of the subscription changed. */
  configured?(config: SubscriptionConfig): void;
  /** The subscription is gone, or no longer to be received from; it is detached already. */
  ended(error: PubsubError): void;
}

export interface FeedOptions {
  readonly config: SubscriptionConfig;
  readonly store: PubsubStore;
  readonly clock: Clock;
  /** Never the same twice, not even after a restart. */
  readonly freshGeneration: () => string;
  /** Retention of messages: that of the subscription, or of its topic if longer. */
  readonly retentionMs: (config: SubscriptionConfig) => number;
  /** Publishes a dead letter. @returns false if there is no such topic (any more) */
  readonly forward: (config: SubscriptionConfig, message: Message, failures: number) => boolean;
}

/** Results for the ids of one call. */
export interface AckResult {
  readonly done: readonly string[];
  /** Invalid or expired. */
  readonly invalid: readonly string[];
  /** An earlier message of the key is still outstanding: to be retried. */
  readonly unordered: readonly string[];
}

/** Messages and bytes of one answer: large enough for throughput, small enough for a client's memory. */
const BATCH_MESSAGES = 100;
const BATCH_BYTES = 1024 * 1024;
const ACK_ID = /^[A-Za-z0-9_-]+\.\d+\.\d+$/;

export class Feed {
  readonly #options: FeedOptions;
  readonly #receivers = new Set<FeedReceiver>();
  #config: SubscriptionConfig;
  #filter: MessageFilter;
  #backlog: Backlog;
  /** Stored messages whose publisher may not have been told their ids yet; they are delivered after that. */
  #unannounced: Message[] = [];
  #timer: { readonly atMs: number; readonly cancel: Cancel } | undefined;
  #pumping = false;
  #pumpAgain = false;
  #closed = false;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#config = options.config;
    this.#filter = parseFilter(options.config.filter);
    this.#backlog = this.#load();
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

  /** A stored message. It is not delivered before `admit`, whatever else has messages delivered meanwhile. */
  add(message: Message): void {
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

  /** With exactly-once delivery, what is done is on disk when this returns. @throws PubsubError for what never was an id */
  acknowledge(ackIds: readonly string[]): AckResult {
    return this.#settle(ackIds, (ackId) => this.#backlog.ack(ackId));
  }

  /** 0 gives back. @throws PubsubError for what never was an id */
  modifyDeadline(ackIds: readonly string[], ms: number): AckResult {
    const now = this.#options.clock.now();
    return this.#settle(ackIds, (ackId) => {
      const known = ms === 0 ? this.#backlog.nack(ackId, now) : this.#backlog.extend(ackId, now + ms);
      return known ? 'acked' : 'unknown';
    });
  }

  /** The new configuration is stored already. Switching between push and pull frees what is out. */
  configure(config: SubscriptionConfig): void {
    const switched = (config.push === undefined) !== (this.#config.push === undefined);
    this.#config = config;
    if (switched) this.reload();
    else this.pump();
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
    this.#sleepUntil(undefined);
    const receivers = [...this.#receivers];
    this.#receivers.clear();
    for (const receiver of receivers) receiver.ended(error);
  }

  /** Delivers all deliverable messages and sets the timer for the next change. */
  pump(): void {
    // A receiver, or a dead letter that comes back to this subscription, changes something while it is given out.
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
    if (!this.#closed) this.#sleepUntil(this.#backlog.nextChange(this.#options.clock.now()));
  }

  /** Forgets what is older than the subscription keeps. */
  dropExpired(): void {
    const cutoff = this.#options.clock.now() - this.#retentionMs;
    this.#backlog.dropBefore(cutoff);
    this.#options.store.dropBefore(this.#config.name, cutoff);
  }

  get #retentionMs(): number {
    return this.#options.retentionMs(this.#config);
  }

  #settle(ackIds: readonly string[], one: (ackId: string) => Acknowledgement): AckResult {
    const { exactlyOnce } = this.#config;
    if (!exactlyOnce) requireAckIds(ackIds);
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
        // The consumer that has just received comes last the next time.
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
        generation: freshGeneration(),
        confirmed: () => this.#config.exactlyOnce,
      },
      {
        acked: (id) => store.ackLater(this.#config.name, id, this.#config.retainAcked),
        failed: (id, failures) => this.#failed(id, failures),
      },
    );
    // Due at once, whatever the clock said when they were published: a moved clock is not kept across a restart.
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

  #sleepUntil(atMs: number | undefined): void {
    if (this.#timer?.atMs === atMs) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    if (atMs === undefined) return;
    const cancel = this.#options.clock.at(atMs, () => {
      this.#timer = undefined;
      this.pump();
    });
    this.#timer = { atMs, cancel };
  }
}

/** Ids that one answer can name: they travel in the trailers of the call, and a client takes 64 KiB of those. */
const MOST_REFUSED = 500;

/** Before anything is done, since what is not named as refused counts as done. */
function requireFew(refused: readonly string[]): void {
  if (refused.length > MOST_REFUSED) throw invalid(REFUSED);
}

/** Production's own words. */
export const REFUSED =
  'Some acknowledgement ids in the request were invalid. This could be because the acknowledgement ids have expired or the acknowledgement ids were malformed.';

function requireAckIds(ackIds: readonly string[]): void {
  for (const ackId of ackIds) {
    if (!ACK_ID.test(ackId)) {
      const shown = ackId.slice(0, 100).replace(/[^\x20-\x7e]/g, '?');
      throw invalid(`You have passed an invalid ack ID to the service (ack_id=${shown}).`);
    }
  }
}
