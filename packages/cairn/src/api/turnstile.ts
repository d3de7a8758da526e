/**
 * Lets few through at a time. For work whose memory, not whose time, is what an instance has too little of.
 *
 * Must not: know what is done behind it.
 */
import { CairnError } from '../core/errors.ts';

export interface TurnstileOptions {
  /** Most requests inside at once. */
  readonly passing: number;
  /** Most requests waiting; further ones are refused. */
  readonly waiting: number;
}

export class Turnstile {
  readonly #options: TurnstileOptions;
  readonly #waiting: (() => void)[] = [];
  #passing = 0;

  constructor(options: TurnstileOptions) {
    this.#options = options;
  }

  /** @throws CairnError UNAVAILABLE immediately if too many are waiting; otherwise errors of `work` */
  async pass<T>(work: () => Promise<T>): Promise<T> {
    if (this.#passing >= this.#options.passing) await this.#turn();
    else this.#passing += 1;
    try {
      return await work();
    } finally {
      // Whoever comes next takes the place that is left, so that nobody slips in between.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#passing -= 1;
    }
  }

  #turn(): Promise<void> {
    if (this.#waiting.length >= this.#options.waiting) {
      throw new CairnError('UNAVAILABLE', 'too many concurrent large requests');
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
