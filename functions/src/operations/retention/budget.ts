/** What a tick may still do. Shared by all that it does at once. */
import type { Clock } from '../../ports/clock.ts';
import type { Bounds } from './deps.ts';

export class Budget {
  readonly #clock: Clock;
  readonly #until: number;
  #documents: number;
  #runs: number;

  constructor({ documents, runs, forMs }: Bounds, clock: Clock) {
    this.#clock = clock;
    this.#until = clock.now() + forMs;
    this.#documents = documents;
    this.#runs = runs;
  }

  /** Documents that may be deleted yet. */
  get documents(): number {
    return this.isOverdue ? 0 : Math.max(0, this.#documents);
  }

  get isSpent(): boolean {
    return this.isOverdue || this.#documents <= 0 || this.#runs <= 0;
  }

  get isOverdue(): boolean {
    return this.#clock.now() >= this.#until;
  }

  deleted(documents: number): void {
    this.#documents -= documents;
  }

  looked(runs: number): void {
    this.#runs -= runs;
  }
}
