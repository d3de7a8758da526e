/** Gathers changes in quick succession: an editor writes a file in several steps, a compiler many files. */

export interface DebounceOptions<T> {
  readonly quietMs: number;
  /** Changes are passed on after this time even if more keep coming. */
  readonly mostMs: number;
  /** ms of a clock that never runs back. */
  now(): number;
  /** Calls once after this time in ms; returns a function that cancels it. */
  after(ms: number, call: () => void): () => void;
  take(items: ReadonlySet<T>): void;
}

export class Debounce<T> {
  readonly #options: DebounceOptions<T>;
  #items = new Set<T>();
  #firstAt = 0;
  #cancel: (() => void) | undefined;

  constructor(options: DebounceOptions<T>) {
    this.#options = options;
  }

  add(item: T): void {
    const { quietMs, mostMs, now, after } = this.#options;
    if (this.#items.size === 0) this.#firstAt = now();
    this.#items.add(item);
    this.#cancel?.();
    const left = Math.max(0, this.#firstAt + mostMs - now());
    this.#cancel = after(Math.min(quietMs, left), () => this.#flush());
  }

  stop(): void {
    this.#cancel?.();
    this.#items = new Set();
  }

  #flush(): void {
    const items = this.#items;
    this.#items = new Set();
    this.#cancel = undefined;
    if (items.size > 0) this.#options.take(items);
  }
}
