/** The only reader of the device's clock, which may be wrong; `reach.ts` corrects it. */

/** Epoch ms. */
export function deviceNow(): number {
  return Date.now();
}

const TICK_MS = 1_000;
const listeners = new Set<() => void>();
let tick = deviceNow();
let timer: ReturnType<typeof setInterval> | undefined;

/** Calls the listener once a second. One timer for all times of the page. Returns the function that ends it. */
export function onTick(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    tick = deviceNow();
    for (const each of listeners) each();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Epoch ms of the last tick. Reads the clock if no timer runs, because the last tick may be minutes old. */
export function lastTick(): number {
  const now = deviceNow();
  if (timer === undefined && Math.abs(now - tick) >= TICK_MS) tick = now;
  return tick;
}
