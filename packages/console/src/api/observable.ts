/** A changing value outside React, for `useSyncExternalStore`. */
export abstract class Observable<T> {
  readonly #listeners = new Set<() => void>();
  #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly shown = (): T => this.#value;

  protected become(value: T): void {
    this.#value = value;
    for (const listener of this.#listeners) listener();
  }
}
