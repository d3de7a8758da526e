/**
 * Limits the time one request waits for an unresponsive store, over all its calls, so that the caller gets a response
 * within seconds. Only time without any response counts, so progressing work may take as long as it takes.
 *
 * Must not: end a call. It has its own deadline, and its effect is recognised when the request is repeated (J8).
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { CairnError } from '../core/errors.ts';
import type { Clock } from '../ports/clock.ts';
import { OutcomeUnknown } from '../ports/store-errors.ts';

/** GitHub gives up after 10 s. An earlier answer leaves time for the network and the queue. */
const REQUEST_BUDGET_MS = 6_500;

const current = new AsyncLocalStorage<RequestBudget>();

export class RequestBudget {
  readonly #clock: Clock;
  readonly #budgetMs: number;
  /** Start of the oldest call that has failed since the last answer of the store. */
  #failingSince: number | undefined;

  constructor(clock: Clock, budgetMs: number = REQUEST_BUDGET_MS) {
    this.#clock = clock;
    this.#budgetMs = budgetMs;
  }

  /** Undefined if the current work is not a request of an endpoint. */
  static get current(): RequestBudget | undefined {
    return current.getStore();
  }

  /** Counts everything that `work` does as part of this request. */
  run<T>(work: () => Promise<T>): Promise<T> {
    return current.run(this, work);
  }

  /** @throws CairnError UNAVAILABLE when the time is up, and errors of `send` */
  async spend<T>(what: string, send: () => Promise<T>): Promise<T> {
    const clock = this.#clock;
    const begunAt = clock.now();
    const left = (this.#failingSince ?? begunAt) + this.#budgetMs - begunAt;
    if (left <= 0) throw this.#timeIsUp(what);
    const late = Promise.withResolvers<never>();
    late.promise.catch(() => {});
    const cancel = clock.timer(left, () => {
      this.#failingSince ??= begunAt;
      late.reject(this.#timeIsUp(what));
    });
    try {
      const answer = await Promise.race([send(), late.promise]);
      this.#failingSince = undefined;
      return answer;
    } catch (error) {
      if (error instanceof OutcomeUnknown) this.#failingSince ??= begunAt;
      throw error;
    } finally {
      cancel();
    }
  }

  #timeIsUp(what: string): CairnError {
    return new CairnError('UNAVAILABLE', 'the store did not respond in time', {
      cause: new OutcomeUnknown(what, `no response of the store for ${this.#budgetMs} ms`),
    });
  }
}
