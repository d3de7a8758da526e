/** Faults between the functions and an external service. Decided by `firestore/faults.ts`. */

/** Form in which a service reports a rate limit. */
export type RateLimitFault = {
  readonly kind: 'rate-limit';
  /** 429 or 403; GitHub uses both. */
  readonly status: 403 | 429;
  /** `Retry-After` in seconds; absent: `X-RateLimit-Reset` has the time, as for GitHub's primary limit. */
  readonly retryAfterS?: number;
  readonly message?: string;
};

export type StandInFault =
  /** Answers late. */
  | { readonly kind: 'latency'; readonly ms: number }
  /** Answers with this status; nothing is applied. */
  | { readonly kind: 'refuse'; readonly status: number; readonly message?: string }
  | RateLimitFault
  /** Breaks the connection; nothing is applied. */
  | { readonly kind: 'cut-before' }
  /** Applies the request, then breaks the connection. */
  | { readonly kind: 'lost-answer' }
  /** Applies the request, then answers with this status. */
  | { readonly kind: 'fail-after'; readonly status: number }
  /** Never answers; nothing is applied. */
  | { readonly kind: 'hang-before' }
  /** Applies the request and never answers. */
  | { readonly kind: 'hang-after' };
