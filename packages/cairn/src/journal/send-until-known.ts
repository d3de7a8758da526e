/** Repeats a call of a store until its outcome is known (J8), for callers without a journal writer. */
import { type Backoff, backoffBoundMs, halfJitterMs } from '../core/decisions/retry.ts';
import { CairnError } from '../core/errors.ts';
import { type Clock, pause } from '../ports/clock.ts';
import type { Randomness } from '../ports/randomness.ts';
import { OutcomeUnknown } from '../ports/store-errors.ts';

/** Sends of the same bytes while their outcome is unknown. */
const MAX_SENDS = 8;
/** A third or later sending must begin within this time of the first. A silent store takes a deadline of 8 or 10 s for each. */
const SEND_PATIENCE_MS = 20_000;
/**
 * Number of sendings regardless of the clock, if one took longer than any deadline. The process was then suspended, and lost
 * that response and perhaps the connection with the next request, which is no outage.
 */
const SENDS_AFTER_SUSPENSION = 3;
const BACKOFF: Backoff = { initialMs: 50, factor: 2, capMs: 1_000 };

export interface SendDeps {
  readonly clock: Clock;
  readonly random: Randomness;
}

/**
 * Sends the same bytes again until it is known whether they were applied. Safe for calls that read, create, or replace a
 * version. An earlier sending may have been applied, so "already exists" can mean the caller's own write.
 *
 * @throws CairnError UNAVAILABLE if the store does not answer
 */
export async function sendUntilKnown<T>({ clock, random }: SendDeps, send: () => Promise<T>): Promise<T> {
  const deadline = clock.now() + SEND_PATIENCE_MS;
  let wasSuspended = false;
  for (let sent = 1; ; sent += 1) {
    const sentAt = clock.now();
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof OutcomeUnknown)) throw error;
      const now = clock.now();
      wasSuspended ||= now - sentAt >= SEND_PATIENCE_MS;
      const isOver = now >= deadline && !(wasSuspended && sent < SENDS_AFTER_SUSPENSION);
      if (sent === MAX_SENDS || isOver) {
        throw new CairnError('UNAVAILABLE', 'the store did not respond', { cause: error });
      }
      await pause(clock, halfJitterMs(backoffBoundMs(BACKOFF, sent), random.unit()));
    }
  }
}
