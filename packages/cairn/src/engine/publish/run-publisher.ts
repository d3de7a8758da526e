/**
 * Publishes the events of one run in order, beside its dispatch: takes durable events, waits a moment for more, and sends them
 * in batches. Reads from the journal the events that it did not get or could not keep. Owns the watermark; `unpublished.ts`
 * writes it.
 *
 * Must not: delay or fail the dispatch, whatever the bus does.
 */
import type { RunEvent } from '../../core/run/events.ts';
import { firstEventOf } from '../../core/run/first-event.ts';
import { readableValue } from '../../core/run/readable.ts';
import type { RunState } from '../../core/run/state.ts';
import type { Follower } from '../../journal/options.ts';
import type { CancelTimer, Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { RunStore } from '../../ports/run-store.ts';
import type { BusMessage, EventBus } from '../../ports/runs/event-bus.ts';

/** Time an event waits for others: most runs end earlier and are published at once. */
const LINGER_MS = 1_000;
/** Events kept in memory; later ones are read from the journal when their turn comes. Each takes a few hundred bytes. */
const MAX_HELD = 1_000;
/** Maximum number of events of a request. Pub/Sub takes 1,000. */
const MAX_BATCH = 100;
/** Maximum text of a request; a larger event is sent alone. Pub/Sub takes 10 MB. */
const MAX_BATCH_BYTES = 2 * 1024 * 1024;
/** Delay before the first retry after a refusal. It doubles; a dispatch that ends tries once more at once. */
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;

interface RunPublisherParams {
  readonly bus: EventBus;
  readonly store: Pick<RunStore, 'readEvents'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly run: RunState;
  /** Trace of the run, for readers of its events; absent: no collector is configured. */
  readonly traceparent?: string | undefined;
  /** Undefined: not known. */
  readonly firstEventId: string | undefined;
  /** Events up to this seq are published. */
  readonly publishedSeq: number;
  /** Events up to this seq are durable. */
  readonly head: number;
}

export class RunPublisher implements Follower {
  readonly #params: RunPublisherParams;
  /** Consecutive events, from any sequence number. */
  #held: RunEvent[] = [];
  #publishedSeq: number;
  #head: number;
  #sending: Promise<void> | undefined;
  #timer: CancelTimer | undefined;
  #retryMs = 0;
  #ended = false;
  /** Watermark in the last snapshot. */
  #notedSeq = 0;

  constructor(params: RunPublisherParams) {
    this.#params = params;
    this.#publishedSeq = params.publishedSeq;
    this.#head = params.head;
  }

  get publishedSeq(): number {
    return this.#publishedSeq;
  }

  publishedUpTo(head: number): number {
    this.#notedSeq = this.#isUnreachable ? head : this.#publishedSeq;
    return this.#notedSeq;
  }

  /**
   * True if nothing is left to publish, and the last snapshot of the run records that. A worker learns of a new subscription
   * late, so a snapshot may record it too early.
   */
  get isNoted(): boolean {
    return this.isDone && this.#notedSeq >= this.#head;
  }

  get #isUnreachable(): boolean {
    return this.#params.bus.isReachable?.() === false;
  }

  get isDone(): boolean {
    return this.#publishedSeq >= this.#head;
  }

  take(events: readonly RunEvent[]): void {
    for (const event of events) {
      if (event.seq <= this.#head) continue;
      const next = (this.#held.at(-1)?.seq ?? this.#head) + 1;
      // Events after a gap are not kept, because the read of the gap returns them as well.
      if (event.seq === next && this.#held.length < MAX_HELD) this.#held.push(event);
      this.#head = event.seq;
    }
    if (this.#isUnreachable && !this.#sending) {
      this.#held = [];
      this.#publishedSeq = this.#head;
      this.#disarm();
      return;
    }
    const isFull = this.#held.length >= MAX_BATCH && this.#retryMs === 0 && !this.#sending && !this.#ended;
    if (!isFull) this.#arm(LINGER_MS);
    else {
      this.#disarm();
      void this.#send();
    }
  }

  /** Publishes all durable events. Returns false if the bus refused them and the caller must retry. */
  async flush(): Promise<boolean> {
    while (this.#sending) await this.#sending;
    this.#disarm();
    if (!this.isDone) await this.#send();
    return this.isDone;
  }

  /** Stops its background work. */
  end(): void {
    this.#ended = true;
    this.#disarm();
  }

  #arm(delayMs: number): void {
    if (this.#ended || this.#timer || this.#sending || this.isDone) return;
    this.#timer = this.#params.clock.timer(Math.max(delayMs, this.#retryMs), () => {
      this.#timer = undefined;
      void this.#send();
    });
  }

  #disarm(): void {
    this.#timer?.();
    this.#timer = undefined;
  }

  /** Never rejects. */
  async #send(): Promise<void> {
    this.#sending = this.#sendAll();
    await this.#sending;
    this.#sending = undefined;
    this.#arm(LINGER_MS);
  }

  async #sendAll(): Promise<void> {
    const { run, log } = this.#params;
    try {
      while (!this.isDone && !this.#ended) await this.#sendSome();
      this.#retryMs = 0;
    } catch (error) {
      this.#retryMs = Math.min(LONGEST_RETRY_MS, Math.max(FIRST_RETRY_MS, 2 * this.#retryMs));
      log.debug('run_events_unpublished', { runId: run.id, publishedSeq: this.#publishedSeq, error });
    }
  }

  async #sendSome(): Promise<void> {
    const { bus, run, traceparent } = this.#params;
    const events = await this.#next();
    let batch: BusMessage[] = [];
    let bytes = 0;
    const publish = async (upTo: number) => {
      await bus.publish(batch);
      this.#publishedSeq = upTo;
      [batch, bytes] = [[], 0];
    };
    for (const event of events) {
      const message = messageOf(run, event, traceparent);
      const size = Buffer.byteLength(message.text);
      if (batch.length > 0 && bytes + size > MAX_BATCH_BYTES) await publish(event.seq - 1);
      batch.push(message);
      bytes += size;
    }
    await publish(events.at(-1)?.seq ?? this.#publishedSeq);
    // The filter runs after the send, because a refused batch keeps all its events.
    this.#held = this.#held.filter(({ seq }) => seq > this.#publishedSeq);
  }

  /** Next events in order: from memory, or missing earlier ones from the journal. */
  async #next(): Promise<readonly RunEvent[]> {
    const { store, run } = this.#params;
    const from = this.#publishedSeq + 1;
    const held = this.#held[0]?.seq ?? this.#head + 1;
    const first = from === 1 && held === 2 ? this.#firstEvent() : undefined;
    if (first) return [first];
    if (held <= from) return this.#held.filter(({ seq }) => seq >= from).slice(0, MAX_BATCH);
    const read = await store.readEvents(run.id, this.#publishedSeq, Math.min(held - from, MAX_BATCH));
    if (read.length === 0) throw new Error(`run ${run.id} has no event ${from}`);
    return read;
  }

  /** The first event, rebuilt from the state. Undefined if its hash is not the `prevHash` of the second event. */
  #firstEvent(): RunEvent | undefined {
    const { run, firstEventId } = this.#params;
    const hash = this.#held[0]?.prevHash;
    return firstEventId === undefined || hash === undefined
      ? undefined
      : firstEventOf(run, firstEventId, hash);
  }
}

/**
 * An event as subscribers receive it (docs/events.md) and as `GET /v1/runs/{id}/events` shows it. Outputs are not included.
 *
 * @param traceparent the run's span in W3C trace context, if a collector is configured
 */
function messageOf(
  { id, tenantId, type, traceId }: RunState,
  event: RunEvent,
  traceparent?: string,
): BusMessage {
  return {
    orderingKey: id,
    attributes: {
      runId: id,
      seq: String(event.seq),
      type: event.type,
      tenantId,
      workflow: type,
      traceId,
      ...(traceparent !== undefined && { traceparent }),
    },
    text: JSON.stringify(readableValue(event)),
  };
}
