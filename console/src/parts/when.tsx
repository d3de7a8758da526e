/** A time beside which the clock goes on: how long ago, and on hovering when exactly. */
import { useSyncExternalStore } from 'react';
import { relative } from './time.ts';

const TICK_MS = 1_000;
const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

/** One timer for all times of the page. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const each of listeners) each();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Epoch ms, moving once a second. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

export function When({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={at}>
      {relative(at, useNow())}
    </time>
  );
}
