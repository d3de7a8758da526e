/**
 * Counting semaphore with a bounded queue, for work that is limited by the memory of an instance.
 */
import { CairnError } from '../core/errors.ts';

interface SemaphoreOptions {
  /** Most requests inside at once. */
  readonly running: number;
  /** Most requests waiting; further ones are refused. */
  readonly waiting: number;
}

export class Semaphore {
  readonly #options: SemaphoreOptions;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(options: SemaphoreOptions) {
    this.#options = options;
  }

  /** @throws CairnError UNAVAILABLE immediately if too many are waiting; otherwise errors of `work` */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#options.running) await this.#next();
    else this.#running += 1;
    try {
      return await work();
    } finally {
      // The next request takes over the place, so that a new one cannot overtake it.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }

  #next(): Promise<void> {
    if (this.#waiting.length >= this.#options.waiting) {
      throw new CairnError('UNAVAILABLE', 'too many concurrent large requests');
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
