/** The time of this machine. */
import type { Clock } from '../ports/clock.ts';

/** Longest delay a Node timer takes; a longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: Date.now,
  timer(delayMs, fire) {
    const timer = setTimeout(fire, Math.min(Math.max(0, delayMs), MAX_TIMER_MS));
    return () => clearTimeout(timer);
  },
};
