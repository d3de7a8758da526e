/** The time of this machine. */
import type { Clock } from '../ports/clock.ts';

/** Longest delay of a Node timer; a longer one would fire immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Event that the local cloud's worker emits after it moved the time of this process. Listeners add promises to `waits`. */
const MOVED = 'cairn:clock-moved';
const moved = new Set<() => Promise<void>>();
process.on(MOVED as 'message', (waits: unknown) => {
  for (const listener of moved) (waits as Promise<void>[]).push(listener());
});

export const systemClock: Clock = {
  now: Date.now,
  timer(delayMs, fire) {
    // A timer without a delay fires a millisecond later, and a flow waits for thousands of such turns.
    if (delayMs <= 0) {
      const turn = setImmediate(fire);
      return () => clearImmediate(turn);
    }
    const timer = setTimeout(fire, Math.min(delayMs, MAX_TIMER_MS));
    return () => clearTimeout(timer);
  },
  onMoved(listener) {
    moved.add(listener);
    return () => void moved.delete(listener);
  },
};
