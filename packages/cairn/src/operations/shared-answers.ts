/** Answers that concurrent and repeated questions share for some time. A failed one is asked again. */
import { BoundedMap } from '../core/bounded-map.ts';
import type { Clock } from '../ports/clock.ts';

interface SharedAnswersOptions<T> {
  readonly clock: Pick<Clock, 'now'>;
  readonly ttlMs: number;
  /** Time this answer is cached instead. */
  ttlOf?(answer: T): number;
  /** Limit of cached answers, whatever questions callers invent. */
  readonly most: number;
}

export class SharedAnswers<T> {
  readonly #options: SharedAnswersOptions<T>;
  readonly #known: BoundedMap<string, { until: number; readonly answer: Promise<T> }>;

  constructor(options: SharedAnswersOptions<T>) {
    this.#options = options;
    this.#known = new BoundedMap(options.most);
  }

  /** @throws errors of `ask` */
  get(question: string, ask: () => Promise<T>): Promise<T> {
    const { clock, ttlMs, ttlOf = () => ttlMs } = this.#options;
    const now = clock.now();
    const known = this.#known.get(question);
    if (known && now < known.until) return known.answer;
    const answer = ask();
    const kept = { answer, until: now + ttlMs };
    this.#known.set(question, kept);
    answer.then(
      (value) => {
        kept.until = now + ttlOf(value);
      },
      () => {
        if (this.#known.get(question) === kept) this.#known.delete(question);
      },
    );
    return answer;
  }
}
