/**
 * Probes a worker and measures for how long it has not answered. Probes use the link if there is one, like requests, because a body may
 * break only what requests need (`net.Socket.prototype.write`), while the channel and the heartbeats still work.
 */
import type { FrameClient } from '@cairn/local-kit/wire/frame-client';
import { type AnswerHead, decode, ECHO, encode, PATH } from '../link/messages.ts';

const WORD = Buffer.from('alive');
const QUESTION = encode({ name: ECHO, method: 'GET', path: '/', headers: {} }, WORD);

export class Probes {
  readonly #sendByChannel: () => void;
  #link: FrameClient | undefined;
  /** Callbacks of unanswered probes by the channel, the oldest first. */
  #byChannel: (() => void)[] = [];
  #isAsked = false;
  #unansweredMs = 0;

  constructor(sendByChannel: () => void) {
    this.#sendByChannel = sendByChannel;
  }

  /** Sends later probes by the link. If the link is lost, they get no answer. */
  useLink(link: FrameClient): void {
    this.#link = link;
  }

  /** @param onAnswer not called if the worker is ending or ends first */
  ask(onAnswer: () => void): void {
    if (this.#link === undefined) {
      this.#byChannel.push(onAnswer);
      this.#sendByChannel();
    } else if (this.#link.isOpen)
      this.#link.call(PATH, QUESTION, {
        onMessage(message) {
          if (decode<AnswerHead>(message).body.equals(WORD)) onAnswer();
        },
        // A call that ends without a message, or with an error, is not an answer.
        onEnd() {},
      });
  }

  answeredByChannel(): void {
    this.#byChannel.shift()?.();
  }

  forget(): void {
    this.#byChannel = [];
  }

  /**
   * Time in ms since the unanswered probe of this method, counted in calls each `tickMs`, so that a pause of this process does not count.
   * Probes again after each answer.
   *
   * @param turns true if the event loop of the worker turns; a blocked worker cannot answer, so its time does not count
   */
  unansweredFor(tickMs: number, turns: boolean): number {
    if (this.#isAsked) this.#unansweredMs += turns ? tickMs : 0;
    else {
      this.#isAsked = true;
      this.ask(() => {
        this.#isAsked = false;
        this.#unansweredMs = 0;
      });
    }
    return this.#unansweredMs;
  }
}
