/** Events in the order of their time; events of the same time in the order in which they were added. Pure. */

interface Event {
  readonly at: number;
  readonly order: number;
  readonly act: () => void;
}

export class EventQueue {
  /** Time of the current event, ms since the start. */
  now = 0;
  readonly #heap: Event[] = [];
  #added = 0;

  get size(): number {
    return this.#heap.length;
  }

  /** @param at ms since the start; a past time counts as now */
  add(at: number, act: () => void): void {
    const event = { at: Math.max(at, this.now), order: this.#added, act };
    this.#added += 1;
    this.#rise(event);
  }

  /** Runs the events up to and including `until`, also those added meanwhile. */
  run(until: number): void {
    for (;;) {
      const first = this.#heap[0];
      if (!first || first.at > until) break;
      this.#takeFirst();
      this.now = first.at;
      first.act();
    }
    this.now = until;
  }

  #rise(event: Event): void {
    const heap = this.#heap;
    let i = heap.length;
    heap.push(event);
    while (i > 0) {
      const parent = (i - 1) >> 1;
      const above = heap[parent] as Event;
      if (isBefore(above, event)) break;
      heap[i] = above;
      i = parent;
    }
    heap[i] = event;
  }

  #takeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop() as Event;
    if (heap.length === 0) return;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= heap.length) break;
      const right = heap[child + 1];
      if (right && isBefore(right, heap[child] as Event)) child += 1;
      const below = heap[child] as Event;
      if (isBefore(last, below)) break;
      heap[i] = below;
      i = child;
    }
    heap[i] = last;
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
