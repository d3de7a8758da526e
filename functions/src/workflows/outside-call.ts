/** Calls of shipped workflows to their targets. */

/** `key` is the same for every repetition of a call. The receiver acts once per key and repeats its response. */
export interface OutsideCall {
  readonly key: string;
  /** Aborts when the response is no longer needed. */
  readonly signal: AbortSignal;
}

interface CallingStep {
  readonly runId: string;
  readonly stepId: string;
  readonly signal: AbortSignal;
}

/** @param about any text that distinguishes several calls of one step, such as an item of a map or a compensation */
export function callFrom({ runId, stepId, signal }: CallingStep, about?: string): OutsideCall {
  // Keys are sent in headers, which must be ASCII.
  const rest = about === undefined ? [] : [encodeURIComponent(about)];
  return { key: [runId, stepId, ...rest].join('/'), signal };
}
