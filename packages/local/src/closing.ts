/** Closes resources in the reverse order of their opening. Node 22 has no `AsyncDisposableStack`. */
export class Closing {
  readonly #steps: (() => unknown)[] = [];

  defer(step: () => unknown): void {
    this.#steps.push(step);
  }

  /** Does every step, whatever becomes of others. @throws the first error of a step */
  async close(): Promise<void> {
    const errors: unknown[] = [];
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop())
      try {
        await step();
      } catch (error) {
        errors.push(error);
      }
    if (errors.length > 0) throw errors[0];
  }
}
