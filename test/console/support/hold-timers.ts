/** Holds timers of a page until a test fires them. */

export interface Holding {
  held: (() => void)[];
}

/** Runs in the page. Holds the timers of this length in `held`. */
export function holdTimers(ms: number): void {
  const page = globalThis as unknown as Holding;
  page.held = [];
  const real = globalThis.setTimeout;
  const cancel = globalThis.clearTimeout;
  globalThis.setTimeout = ((call: () => void, delay?: number) => {
    if (delay !== ms) return real(call, delay);
    page.held.push(call);
    return call;
  }) as unknown as typeof setTimeout;
  globalThis.clearTimeout = ((timer: unknown) => {
    const at = page.held.indexOf(timer as () => void);
    if (at >= 0) page.held.splice(at, 1);
    else cancel(timer as number);
  }) as typeof clearTimeout;
}
