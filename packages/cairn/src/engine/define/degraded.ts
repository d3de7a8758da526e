/** A result that is worth less than what was asked for: the step is done, and the record says so. */
import type { Degraded } from './types.ts';

class DegradedResult {
  readonly value: unknown;
  readonly reason: string;
  constructor(value: unknown, reason: string) {
    this.value = value;
    this.reason = reason;
  }
}

/** Returned by a body: the step ends as `degraded` with this value. */
export function degraded<T>(value: T, reason: string): Degraded<T> {
  return new DegradedResult(value, reason) as unknown as Degraded<T>;
}

export function isDegraded(result: unknown): result is Degraded<unknown> {
  return result instanceof DegradedResult;
}
