/** Awaitable record of an observer's notifications. */

/** Longer than anything takes on a busy machine, and shorter than the timeout of a test. */
const PATIENCE_MS = 120_000;

export class Awaited {
  #look = () => {};

  /** Call after each notification. */
  protected look(): void {
    this.#look();
  }

  /** @param told describes the notifications so far, for the error after the timeout */
  protected wait(holds: () => boolean, told: () => string): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(told())), PATIENCE_MS);
      this.#look = () => {
        if (!holds()) return;
        clearTimeout(timer);
        resolve();
      };
      this.#look();
    });
  }
}
