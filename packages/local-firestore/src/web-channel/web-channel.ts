/**
 * One WebChannel: a stream in both directions made of HTTP requests. Owns the numbers of messages and answers, the answers that
 * are not acknowledged, and the response that carries them (the back channel).
 */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { ChannelStream } from './channel-stream.ts';
import { type ForwardedMessage, framedArrays, greeting, type NumberedArray } from './wire.ts';

/** Beyond this, in characters, the call waits and the back channel ends; the client acknowledges by opening the next one. */
const MAX_UNACKNOWLEDGED = 1024 * 1024;
const KEEP_ALIVE_MS = 30_000;
/** A channel without a back channel for this time is abandoned. */
const ABANDONED_MS = 60_000;

interface BackChannel {
  readonly response: ServerResponse;
  /** Ends with its first answers, for proxies that hold responses back until they end. */
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
  /** In the order of their numbers. */
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

  /** For the response to messages: is there a back channel, its last answer, and how much is not acknowledged. */
  get progress(): readonly [number, number, number] {
    return [this.#back ? 1 : 0, this.#last, this.#unacknowledgedChars];
  }

  /** Messages that a repeated request brings again are passed over. */
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
    // Otherwise its next back channel would be the next to ask for more, which it does not open while it has one.
    if (this.#hasRoom) this.#stream.drain();
  }

  /** Takes the place of the former back channel; what is not acknowledged comes again. */
  openBack(response: ServerResponse, isLongPoll: boolean): void {
    this.#back?.response.end();
    clearTimeout(this.#abandoned);
    this.#back = { response, isLongPoll, sentTo: 0 };
    response.on('drain', () => this.#stream.drain());
    response.on('close', () => {
      if (this.#back?.response === response) this.#leaveBack();
    });
    response.flushHeaders();
    // A client that gets nothing at once supposes a proxy that holds answers back.
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

  /** False: wait for `drain`. */
  #push(text: string): boolean {
    this.#last++;
    this.#unacknowledged.push({ id: this.#last, text });
    this.#unacknowledgedChars += text.length;
    // Answers of one step of the event loop leave together.
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
