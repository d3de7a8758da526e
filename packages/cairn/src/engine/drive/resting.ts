/**
 * Steps whose time has not come: between two attempts, or asleep. A drive stays for those due soon; while it is busy with other
 * steps it sees to the others as well, else they are left to a later drive, and `earliest` says when that has something to do.
 *
 * Must not: decide what happens when a step is due; it only says so.
 */
import type { CancelTimer, Clock } from '../../ports/clock.ts';

export interface RestingOptions {
  readonly clock: Clock;
  /** The drive stays for a due time that is at most this far ahead, ms. */
  readonly soonMs: number;
  /** Longest time of a drive, ms: what is due later is another's. */
  readonly budgetMs: number;
  readonly onDue: (id: string) => void;
}

export class RestingSteps {
  readonly #options: RestingOptions;
  /** Due times, epoch ms. */
  readonly #due = new Map<string, number>();
  readonly #timers = new Map<string, CancelTimer>();

  constructor(options: RestingOptions) {
    this.#options = options;
  }

  /** Notes a due time; nothing happens at it before `watch`. */
  add(id: string, at: number): void {
    this.#due.set(id, at);
  }

  /** Begins to wait for a step in process, if it is due in the time of this drive. */
  watch(id: string): void {
    const { clock, budgetMs, onDue } = this.#options;
    const at = this.#due.get(id);
    if (at === undefined || this.#timers.has(id)) return;
    const delayMs = Math.max(0, at - clock.now());
    if (delayMs > budgetMs) return;
    const cancel = clock.timer(delayMs, () => {
      this.#timers.delete(id);
      this.#due.delete(id);
      onDue(id);
    });
    this.#timers.set(id, cancel);
  }

  has(id: string): boolean {
    return this.#due.has(id);
  }

  /** Its time does not matter any more. */
  remove(id: string): void {
    this.#due.delete(id);
    this.#timers.get(id)?.();
    this.#timers.delete(id);
  }

  /** Steps that the drive stays for. */
  get watched(): number {
    const { clock, soonMs } = this.#options;
    const soon = clock.now() + soonMs;
    return [...this.#timers.keys()].filter((id) => (this.#due.get(id) ?? 0) <= soon).length;
  }

  get earliest(): number | undefined {
    return this.#due.size === 0 ? undefined : Math.min(...this.#due.values());
  }

  /** Ends all waiting in process. */
  end(): void {
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }
}
