/**
 * System throttling: reduces the rate of a queue while its target is overloaded. Pure. Cloud Tasks documents which responses slow a
 * queue down, and that it recovers once they stop; the steps are ours.
 */
import type { DispatchResult } from './dispatch/attempt.ts';
import type { TaskTarget } from './model.ts';

/** `share`: fraction of the rate after the last overload; `at`: its time, epoch ms. */
export interface Throttle {
  readonly share: number;
  readonly slowedAt: number;
  readonly at: number;
}

export const UNTHROTTLED: Throttle = { share: 1, slowedAt: -Infinity, at: -Infinity };

/** Overload responses within this time slow a queue down once. A recovering queue doubles its rate in the same time. */
export const THROTTLE_STEP_MS = 1000;
const MIN_SHARE = 1 / 64;

/** A 429 of an App Engine app does not count, as App Engine's documentation says. */
export const isOverload = (outcome: DispatchResult, { appEngine }: Pick<TaskTarget, 'appEngine'>): boolean =>
  outcome.kind === 'answered' && (outcome.status === 503 || (outcome.status === 429 && !appEngine));

export function afterOverload(throttle: Throttle, now: number): Throttle {
  const share = shareAt(throttle, now);
  if (now - throttle.slowedAt < THROTTLE_STEP_MS) return { share, slowedAt: throttle.slowedAt, at: now };
  return { share: Math.max(MIN_SHARE, share / 2), slowedAt: now, at: now };
}

/** The remaining fraction of the queue's rate, from `MIN_SHARE` to 1. */
export function shareAt(throttle: Throttle, now: number): number {
  if (throttle.share === 1) return 1;
  const calmMs = now - throttle.at - THROTTLE_STEP_MS;
  return calmMs <= 0 ? throttle.share : Math.min(1, throttle.share * 2 ** (calmMs / THROTTLE_STEP_MS));
}
