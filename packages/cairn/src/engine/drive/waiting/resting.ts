/**
 * Steps whose time has not come: between two attempts, or asleep. A dispatch waits for the steps that are due soon. It handles
 * later ones only while other steps keep it busy; otherwise a dispatch at the time `earliest` does.
 *
 * Must not: decide what happens when a step is due; it only reports it.
 */
import type { CancelTimer, Clock } from '../../../ports/clock.ts';

interface RestingOptions {
  readonly clock: Clock;
  /** Maximum distance of a due time for which the dispatch waits, ms. */
  readonly soonMs: number;
  /** Longest time of a dispatch, ms: later steps are left to another dispatch. */
  readonly budgetMs: number;
  readonly onDue: (id: string) => void;
}

interface Resting {
  /** Due time, epoch ms. */
  readonly at: number;
  /** Absent: it is due after the time of this dispatch. */
  readonly cancel: CancelTimer | undefined;
}

export class RestingSteps {
  readonly #options: RestingOptions;
  readonly #resting = new Map<string, Resting>();

  constructor(options: RestingOptions) {
    this.#options = options;
  }

  add(id: string, at: number): void {
    this.remove(id);
    const { clock, budgetMs, onDue } = this.#options;
    const delayMs = Math.max(0, at - clock.now());
    const due = () => {
      this.#resting.delete(id);
      onDue(id);
    };
    this.#resting.set(id, { at, cancel: delayMs > budgetMs ? undefined : clock.timer(delayMs, due) });
  }

  has(id: string): boolean {
    return this.#resting.has(id);
  }

  /** Forgets a step, whose due time no longer matters. */
  remove(id: string): void {
    this.#resting.get(id)?.cancel?.();
    this.#resting.delete(id);
  }

  /** Steps for which the dispatch waits. */
  get watched(): number {
    const { clock, soonMs } = this.#options;
    const soon = clock.now() + soonMs;
    let count = 0;
    for (const { at, cancel } of this.#resting.values()) if (cancel && at <= soon) count += 1;
    return count;
  }

  get earliest(): number | undefined {
    if (this.#resting.size === 0) return undefined;
    return Math.min(...Array.from(this.#resting.values(), ({ at }) => at));
  }

  /** Ends all waiting in process. */
  end(): void {
    for (const { cancel } of this.#resting.values()) cancel?.();
    this.#resting.clear();
  }
}
