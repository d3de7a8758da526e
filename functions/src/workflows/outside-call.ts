/** Calls of shipped workflows to their targets. */

/** `key` is the same for every repetition of a call: the receiver acts once per key, and answers the same. */
export interface OutsideCall {
  readonly key: string;
  /** Aborts when the answer is no longer wanted. */
  readonly signal: AbortSignal;
}

interface CallingStep {
  readonly runId: string;
  readonly stepId: string;
  readonly signal: AbortSignal;
}

/** @param about distinguishes several calls of one step, such as an item of a map or a compensation; any text */
export function callFrom({ runId, stepId, signal }: CallingStep, about?: string): OutsideCall {
  // Keys travel in headers, which take ASCII only.
  const rest = about === undefined ? [] : [encodeURIComponent(about)];
  return { key: [runId, stepId, ...rest].join('/'), signal };
}
