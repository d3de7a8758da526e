/**
 * Progress of a set (the items of a map, or a list of children): which item begins next, and when the set has succeeded or failed.
 * Pure. The cost per item does not depend on the number of items.
 *
 * Must not: know what an item does or where its outcome is kept.
 */

/** `all`: no item may fail. `tolerate`: number that may fail. `share`: percentage that may fail. `at_least`: number that must succeed. */
export type CompletionRule =
  | { readonly kind: 'all' }
  | { readonly kind: 'tolerate'; readonly failures: number }
  | { readonly kind: 'share'; readonly percent: number }
  | { readonly kind: 'at_least'; readonly successes: number };

export type SetStatus = 'open' | 'succeeded' | 'failed';

export interface ItemCounts {
  readonly items: number;
  readonly succeeded: number;
  readonly failed: number;
}

/** Decides whether the outcome of the map step is settled. Running items are still awaited. */
export function statusOfSet(completion: CompletionRule, { items, succeeded, failed }: ItemCounts): SetStatus {
  if (completion.kind === 'at_least') {
    const wanted = completion.successes;
    if (succeeded >= wanted) return 'succeeded';
    return items - failed < wanted ? 'failed' : 'open';
  }
  if (failed > toleratedFailures(completion, items)) return 'failed';
  return succeeded + failed === items ? 'succeeded' : 'open';
}

function toleratedFailures(completion: Exclude<CompletionRule, { kind: 'at_least' }>, items: number): number {
  switch (completion.kind) {
    case 'all':
      return 0;
    case 'tolerate':
      return completion.failures;
    case 'share':
      // In whole millionths of a per cent: 16.4 % of 750 is 123, which fractions of two miss.
      return Math.floor(Math.round(items * completion.percent * 1_000_000) / 100_000_000);
  }
}

/** `idle`: not begun, or must begin again. */
export type ItemState = 'idle' | 'open' | 'succeeded' | 'failed';

export class SetProgress {
  readonly #completion: CompletionRule;
  readonly #concurrency: number;
  readonly #states: ItemState[];
  readonly #counts = { open: 0, succeeded: 0, failed: 0 };
  /** No item before this index is idle. */
  #next = 0;

  constructor(states: readonly ItemState[], completion: CompletionRule, concurrency: number) {
    this.#completion = completion;
    this.#concurrency = concurrency;
    this.#states = [...states];
    for (const state of states) if (state !== 'idle') this.#counts[state] += 1;
  }

  get status(): SetStatus {
    const { succeeded, failed } = this.#counts;
    return statusOfSet(this.#completion, { items: this.#states.length, succeeded, failed });
  }

  /** Items begun and not ended. */
  get open(): number {
    return this.#counts.open;
  }

  stateOf(index: number): ItemState | undefined {
    return this.#states[index];
  }

  /** The next item that may begin now, if one may. */
  next(): number | undefined {
    if (this.#counts.open >= this.#concurrency || this.status !== 'open') return undefined;
    while (this.#next < this.#states.length && this.#states[this.#next] !== 'idle') this.#next += 1;
    return this.#next < this.#states.length ? this.#next : undefined;
  }

  settle(index: number, state: ItemState): void {
    const before = this.#states[index];
    if (before === undefined || before === state) return;
    if (before !== 'idle') this.#counts[before] -= 1;
    if (state !== 'idle') this.#counts[state] += 1;
    else this.#next = Math.min(this.#next, index);
    this.#states[index] = state;
  }
}
