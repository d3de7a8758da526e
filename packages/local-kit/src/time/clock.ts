/**
 * The clock of the local cloud, which can be moved forward: a timer fires when the clock passes its due time, whether
 * time passed or the clock was moved. Owns timers for due times; no other file of
 * `packages/local/src/` arms a timer for a due time.
 */

/** Cancels a wake-up; harmless after it happened. */
export type Cancel = () => void;

export interface ServerClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `wake` once, as soon as `now() >= timeMs`; never within this call. */
  at(timeMs: number, wake: () => void): Cancel;
  /** Calls `wake` after `ms` of the machine's time, for limits of running work, which moving the clock must not change. */
  after(ms: number, wake: () => void): Cancel;
}

export interface MovableClock extends ServerClock {
  /** Offset of this clock from its source, in milliseconds. */
  offsetMs(): number;
  /**
   * Moves the clock forward. Moving it back is refused, because stored times must never be in the future.
   *
   * @throws RangeError for a move backwards, or beyond {@link LATEST_MS}
   */
  advance(ms: number): void;
  /** Calls `listener` with the new offset after each move. If it throws, the move is undone. */
  onAdvance(listener: (offsetMs: number) => void): void;
}

/** The year 3000: later than any use needs, and far below the limits of dates and Firestore. */
export const LATEST_MS = Date.UTC(3000, 0);

/** Node fires a timer with a longer delay immediately; a later wake-up is rearmed. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

interface WaitingTimer {
  readonly timeMs: number;
  readonly wake: () => void;
  timer: NodeJS.Timeout | undefined;
}

/**
 * A clock over `source` (milliseconds since the epoch, `Date.now` in a main). Its timers do not keep the process alive; the open
 * port of a server does.
 */
export function movableClock(source: () => number): MovableClock {
  let offset = 0;
  const waiting = new Set<WaitingTimer>();
  const listeners: ((offsetMs: number) => void)[] = [];
  const now = () => source() + offset;

  function arm(entry: WaitingTimer): void {
    const delay = Math.min(Math.max(0, entry.timeMs - now()), LONGEST_TIMER_MS);
    entry.timer = setTimeout(() => {
      if (now() < entry.timeMs) {
        arm(entry);
        return;
      }
      waiting.delete(entry);
      entry.wake();
    }, delay);
    entry.timer.unref();
  }

  return {
    now,
    offsetMs: () => offset,
    at(timeMs, wake) {
      const entry: WaitingTimer = { timeMs, wake, timer: undefined };
      waiting.add(entry);
      arm(entry);
      return () => {
        clearTimeout(entry.timer);
        waiting.delete(entry);
      };
    },
    after(ms, wake) {
      const timer = setTimeout(wake, ms);
      timer.unref();
      return () => clearTimeout(timer);
    },
    advance(ms) {
      if (!Number.isFinite(ms) || ms < 0 || now() + ms > LATEST_MS)
        throw new RangeError(`cannot move the clock by ${ms} ms`);
      offset += ms;
      try {
        for (const listener of listeners) listener(offset);
      } catch (error) {
        // A move that cannot be stored is undone, because after a restart the clock would run back.
        offset -= ms;
        throw error;
      }
      for (const entry of waiting) {
        clearTimeout(entry.timer);
        arm(entry);
      }
    },
    onAdvance: (listener) => listeners.push(listener),
  };
}
