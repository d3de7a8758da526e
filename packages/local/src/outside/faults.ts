/** Faults between the functions and an external service. Decided by `firestore/faults.ts`. */

/** Form in which a receiver reports a rate limit. */
export type RateLimitFault = {
  readonly kind: 'rate-limit';
  /** 429 or 403; GitHub uses both. */
  readonly status: 403 | 429;
  /** `Retry-After` in seconds; absent: `X-RateLimit-Reset` says when, as GitHub's primary limit does. */
  readonly retryAfterS?: number;
  readonly message?: string;
};

export type OutsideFault =
  /** Answers late. */
  | { readonly kind: 'latency'; readonly ms: number }
  /** Answers with this status; nothing was done. */
  | { readonly kind: 'refuse'; readonly status: number; readonly message?: string }
  | RateLimitFault
  /** The connection breaks; nothing was done. */
  | { readonly kind: 'cut-before' }
  /** Does what was asked, and then the connection breaks. */
  | { readonly kind: 'lost-answer' }
  /** Does what was asked, and then answers with this status. */
  | { readonly kind: 'fail-after'; readonly status: number }
  /** Never answers; nothing was done. */
  | { readonly kind: 'hang-before' }
  /** Does what was asked, and never answers. */
  | { readonly kind: 'hang-after' };
