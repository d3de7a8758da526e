/** Answers that concurrent and repeated questions share for some time. One that failed is asked again. */
import { BoundedMap } from '../core/bounded-map.ts';
import type { Clock } from '../ports/clock.ts';

interface SharedAnswersOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly ttlMs: number;
  /** Answers kept, whatever questions callers make up. */
  readonly most: number;
}

export class SharedAnswers<T> {
  readonly #options: SharedAnswersOptions;
  readonly #known: BoundedMap<string, { readonly until: number; readonly answer: Promise<T> }>;

  constructor(options: SharedAnswersOptions) {
    this.#options = options;
    this.#known = new BoundedMap(options.most);
  }

  /** @throws errors of `ask` */
  get(question: string, ask: () => Promise<T>): Promise<T> {
    const { clock, ttlMs } = this.#options;
    const now = clock.now();
    const known = this.#known.get(question);
    if (known && now < known.until) return known.answer;
    const answer = ask();
    this.#known.set(question, { answer, until: now + ttlMs });
    answer.catch(() => {
      if (this.#known.get(question)?.answer === answer) this.#known.delete(question);
    });
    return answer;
  }
}
