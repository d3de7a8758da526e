/**
 * Queries take turns of the event loop: one may read thousands of entries without a pause, which takes 100 ms. Once those of a turn
 * have taken their time, the next ones wait for a turn each, so that reads by name and commits that arrive meanwhile are served between two.
 *
 * Must not: delay a query while the queries of the turn have taken little time.
 */

/** Time that the queries of one turn may take before the next one waits, ms. */
const TIME_MS = 5;

export interface EventLoop {
  /** Any clock in ms. */
  now(): number;
  /** Calls back in the next turn, after what has arrived until then was served. */
  nextTurn(callback: () => void): void;
}

const EVENT_LOOP: EventLoop = {
  now: () => performance.now(),
  nextTurn: (callback) => void setImmediate(callback),
};

export class QueryTurns {
  readonly #loop: EventLoop;
  readonly #waiting: (() => void)[] = [];
  /** Start of the first query of this turn; undefined: there was none. */
  #begunAt: number | undefined;

  constructor(loop: EventLoop = EVENT_LOOP) {
    this.#loop = loop;
  }

  /** Resolves when a query may run: before the next turn, unless queries of this one have taken their time or others wait. */
  take(): Promise<void> {
    if (this.#begunAt === undefined) {
      this.#begunAt = this.#loop.now();
      this.#loop.nextTurn(() => this.#turn());
    } else if (this.#waiting.length > 0 || this.#loop.now() - this.#begunAt >= TIME_MS) {
      return new Promise((resolve) => this.#waiting.push(resolve));
    }
    return Promise.resolve();
  }

  #turn(): void {
    const next = this.#waiting.shift();
    this.#begunAt = next && this.#loop.now();
    if (!next) return;
    this.#loop.nextTurn(() => this.#turn());
    next();
  }
}
