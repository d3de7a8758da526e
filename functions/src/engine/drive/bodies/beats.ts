/** What the bodies of a run last said of themselves: goes out with the heartbeat, and in to the attempt that follows. */
import type { Progress } from '../../../core/run/state.ts';

export class Beats {
  readonly #last: Map<string, Progress>;
  #news = false;

  /** @param before what the drive before this one left in the snapshot */
  constructor(before: readonly Progress[] = []) {
    this.#last = new Map(before.map((progress) => [progress.step, progress]));
  }

  note(progress: Progress): void {
    this.#last.set(progress.step, progress);
    this.#news = true;
  }

  lastOf(step: string): string | undefined {
    return this.#last.get(step)?.detailsText;
  }

  forget(step: string): void {
    if (this.#last.delete(step)) this.#news = true;
  }

  /** All of it, if anything changed since it was last taken. */
  takeNews(): readonly Progress[] | undefined {
    if (!this.#news) return undefined;
    this.#news = false;
    return [...this.#last.values()];
  }
}
