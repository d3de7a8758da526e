/**
 * Asks a worker whether it answers, and measures for how long it has not. A worker with a link is asked by that, as requests are: a
 * body may break what they need (`net.Socket.prototype.write`), but not the channel and the heartbeats.
 */
import type { FrameClient } from '@cairn/local-kit/wire/frame-client';
import { type AnswerHead, decode, ECHO, encode, PATH } from '../link/messages.ts';

const WORD = Buffer.from('alive');
const QUESTION = encode({ name: ECHO, method: 'GET', path: '/', headers: {} }, WORD);

export class Probes {
  readonly #sendByChannel: () => void;
  #link: FrameClient | undefined;
  /** Callbacks of unanswered questions by the channel, the oldest first. */
  #byChannel: (() => void)[] = [];
  #isAsked = false;
  #unansweredMs = 0;

  constructor(sendByChannel: () => void) {
    this.#sendByChannel = sendByChannel;
  }

  /** Later questions go by the link, also when it is lost: then there is no answer. */
  useLink(link: FrameClient): void {
    this.#link = link;
  }

  /** @param onAnswer not called if the worker ends first, or is ending */
  ask(onAnswer: () => void): void {
    if (this.#link === undefined) {
      this.#byChannel.push(onAnswer);
      this.#sendByChannel();
    } else if (this.#link.isOpen)
      this.#link.call(PATH, QUESTION, {
        onMessage(message) {
          if (decode<AnswerHead>(message).body.equals(WORD)) onAnswer();
        },
        // Nothing, or an error, is no answer.
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
   * Time in ms that the last question of this method has had no answer, counted in calls each `tickMs`, so that a pause of this process does
   * not count. Probes again after each answer.
   *
   * @param turns the event loop of the worker turns. It does not answer earlier, and that time does not count
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
