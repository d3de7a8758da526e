/** Timers of a page that go off when a test says so. */

export interface Holding {
  held: (() => void)[];
}

/** In a page: timers of this length end when the test says so, on a slow machine too. */
export function holdTimers(ms: number): void {
  const page = globalThis as unknown as Holding;
  page.held = [];
  const real = globalThis.setTimeout;
  globalThis.setTimeout = ((call: () => void, delay?: number) =>
    delay === ms ? page.held.push(call) : real(call, delay)) as unknown as typeof setTimeout;
}
