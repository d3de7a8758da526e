/** Awaitable record of an observer's notifications. */

/** Far more than anything takes on a busy machine; less than a test may take. */
const PATIENCE_MS = 120_000;

export class Awaited {
  #look = () => {};

  /** Something was told. */
  protected look(): void {
    this.#look();
  }

  /** @param told says what was told instead, if it does not come to hold in time */
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
