/** The engine's source of time, which tests can control. */

/** Cancels a timer that has not fired. A second call does nothing. */
export type CancelTimer = () => void;

export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Calls `fire` once, after `delayMs`. */
  timer(delayMs: number, fire: () => void): CancelTimer;
  /**
   * Calls `listener` whenever the clock was moved by hand, and delays others until it is done. Absent for clocks
   * that cannot be moved.
   */
  onMoved?(listener: () => Promise<void>): CancelTimer;
}

/** Resolves after `delayMs`, or immediately when `signal` aborts. Never rejects, so the caller must check the signal. */
export function pause(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      cancel();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const cancel = clock.timer(delayMs, done);
    signal?.addEventListener('abort', done, { once: true });
  });
}

/**
 * The same clock, set to the time of another one (the store's). Times written by other processes must not be compared
 * with a local clock, which may be minutes off.
 */
export function setTo(clock: Clock, now: number): Clock {
  const aheadMs = now - clock.now();
  return { ...clock, now: () => clock.now() + aheadMs, timer: (delayMs, fire) => clock.timer(delayMs, fire) };
}
