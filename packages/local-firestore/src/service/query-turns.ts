/**
 * Distributes queries over turns of the event loop, because one query may read thousands of entries in 100 ms without a pause. Once the
 * queries of a turn have used up its time, each further query waits for its own turn, so that reads by name and commits are served in
 * between.
 *
 * Must not: delay a query before the time of the turn is used up.
 */

/** Time that the queries of one turn may take before the next one waits, ms. */
const TIME_MS = 5;

export interface EventLoop {
  /** Any clock in ms. */
  now(): number;
  /** Calls back in the next turn, after requests that arrived before it. */
  nextTurn(callback: () => void): void;
}

const EVENT_LOOP: EventLoop = {
  now: () => performance.now(),
  nextTurn: (callback) => void setImmediate(callback),
};

export class QueryTurns {
  readonly #loop: EventLoop;
  readonly #waiting: (() => void)[] = [];
  /** Start of the first query of this turn; undefined if there was none. */
  #begunAt: number | undefined;

  constructor(loop: EventLoop = EVENT_LOOP) {
    this.#loop = loop;
  }

  /** Resolves when a query may run: in this turn, unless its time is used up or other queries wait. */
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
