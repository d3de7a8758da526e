/**
 * One WebChannel: a bidirectional stream over HTTP requests. Owns the numbers of messages and answers, the unacknowledged answers, and the
 * response that carries them (the back channel).
 */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { ChannelStream } from './channel-stream.ts';
import { type ForwardedMessage, framedArrays, greeting, type NumberedArray } from './wire.ts';

/** Limit in characters above which the call waits and the back channel ends. The client acknowledges by opening the next one. */
const MAX_UNACKNOWLEDGED = 1024 * 1024;
const KEEP_ALIVE_MS = 30_000;
/** A channel without a back channel for this time is abandoned. */
const ABANDONED_MS = 60_000;

interface BackChannel {
  readonly response: ServerResponse;
  /** True if it ends after its first answers, for proxies that buffer responses until they end. */
  readonly isLongPoll: boolean;
  sentTo: number;
}

export class WebChannel {
  readonly id: string = randomUUID();
  readonly #stream: ChannelStream;
  readonly #forget: () => void;
  readonly #keepAlive: NodeJS.Timeout;
  #abandoned: NodeJS.Timeout;
  #back: BackChannel | undefined;
  /** Ordered by number. */
  #unacknowledged: NumberedArray[] = [];
  #unacknowledgedChars = 0;
  #last = 0;
  #nextMessage = 0;
  #flushing: NodeJS.Immediate | undefined;
  #hasEnded = false;

  constructor(
    open: (answers: { push(text: string): boolean; ended(): void }) => ChannelStream,
    forget: (channel: WebChannel) => void,
  ) {
    this.#forget = () => forget(this);
    this.#abandoned = this.#abandonLater();
    this.#keepAlive = setInterval(() => {
      if (this.#back) this.#push('["noop"]');
    }, KEEP_ALIVE_MS);
    this.#keepAlive.unref();
    this.#stream = open({
      push: (text) => this.#push(text),
      ended: () => {
        this.#hasEnded = true;
      },
    });
  }

  get greeting(): NumberedArray {
    return greeting(this.id, KEEP_ALIVE_MS);
  }

  /** Content of the response to messages: whether there is a back channel, its last answer, and the unacknowledged size. */
  get progress(): readonly [number, number, number] {
    return [this.#back ? 1 : 0, this.#last, this.#unacknowledgedChars];
  }

  /** Skips messages that a repeated request sends again. */
  take(messages: readonly ForwardedMessage[]): void {
    for (const { id, text } of messages) {
      if (id < this.#nextMessage) continue;
      this.#nextMessage = id + 1;
      this.#stream.take(text);
    }
  }

  acknowledge(upTo: number): void {
    while (this.#unacknowledged[0] !== undefined && this.#unacknowledged[0].id <= upTo) {
      this.#unacknowledgedChars -= this.#unacknowledged.shift()?.text.length ?? 0;
    }
    // An acknowledgement must drain here, because the client opens no further back channel while it has one.
    if (this.#hasRoom) this.#stream.drain();
  }

  /** Replaces the previous back channel and sends unacknowledged answers again. */
  openBack(response: ServerResponse, isLongPoll: boolean): void {
    this.#back?.response.end();
    clearTimeout(this.#abandoned);
    this.#back = { response, isLongPoll, sentTo: 0 };
    response.on('drain', () => this.#stream.drain());
    response.on('close', () => {
      if (this.#back?.response === response) this.#leaveBack();
    });
    response.flushHeaders();
    // Without an immediate answer a client assumes a buffering proxy.
    if (this.#unacknowledged.length === 0 && !isLongPoll) this.#push('["noop"]');
    this.#flush();
    this.#stream.drain();
  }

  close(): void {
    this.#hasEnded = true;
    clearInterval(this.#keepAlive);
    this.#back?.response.end();
    this.#back = undefined;
    clearTimeout(this.#abandoned);
    this.#stream.cancel();
    this.#forget();
  }

  /** @returns false if the call must wait for `drain` */
  #push(text: string): boolean {
    this.#last++;
    this.#unacknowledged.push({ id: this.#last, text });
    this.#unacknowledgedChars += text.length;
    // Answers of one step of the event loop are sent together.
    this.#flushing ??= setImmediate(() => this.#flush());
    return this.#hasRoom;
  }

  get #hasRoom(): boolean {
    const isRead = this.#unacknowledgedChars <= MAX_UNACKNOWLEDGED;
    return isRead && this.#back !== undefined && !this.#back.response.writableNeedDrain;
  }

  #flush(): void {
    clearImmediate(this.#flushing);
    this.#flushing = undefined;
    const back = this.#back;
    const first = this.#unacknowledged[0];
    if (!back || !first) return;
    const unsent = this.#unacknowledged.slice(Math.max(0, back.sentTo + 1 - first.id));
    if (unsent.length === 0) return;
    back.sentTo = this.#last;
    back.response.write(framedArrays(unsent));
    if (back.isLongPoll || this.#hasEnded || this.#unacknowledgedChars > MAX_UNACKNOWLEDGED) {
      back.response.end();
      this.#leaveBack();
    }
  }

  #leaveBack(): void {
    this.#back = undefined;
    this.#abandoned = this.#abandonLater();
  }

  #abandonLater(): NodeJS.Timeout {
    return setTimeout(() => this.close(), ABANDONED_MS).unref();
  }
}
