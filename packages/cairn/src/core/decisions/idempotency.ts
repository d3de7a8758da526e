/**
 * Owns the idempotency record, its lifetimes, and the one decision what an existing record means for a new request.
 *
 * Must not: read or write records (see ports/) or build keys (see encoding/idempotency-keys.ts).
 */
import type { Json } from '../encoding/json.ts';

export type RequestSource = 'github_webhook' | 'api' | 'slack' | 'scheduler' | 'pubsub';

/** All times are epoch milliseconds. */
export interface IdempotencyRecord {
  readonly key: string;
  readonly source: RequestSource;
  readonly tenantId: string;
  /** The run that the request created. Once set, the record is not replaced before it expires. */
  readonly runId?: string | undefined;
  readonly status: 'processing' | 'completed' | 'failed';
  /** See `requestHash` in encoding/fingerprint.ts. */
  readonly requestHash: string;
  /** Response of a `completed` record; in another one the progress of a request that is to be continued. */
  readonly response?: Json | undefined;
  /** The reason of the failure, for a `failed` record. */
  readonly error?: string | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** From here on the record counts as absent. Firestore deletes later, so it is checked on every read. */
  readonly expiresAt: number;
  /** Until then a `processing` record belongs to the process working on it. */
  readonly lockExpiresAt?: number | undefined;
  /** Attempts of the request, without those that ended with a request to retry later. */
  readonly attempts: number;
  /**
   * Unique per attempt at the work: by it a worker knows its own record again when the answer to writing it was lost
   * (J8). Of a start, the id of the run's first event.
   */
  readonly attemptId?: string | undefined;
}

/**
 * Lifetime of a record after its last change, whatever became of the request: long enough that every retry of every source finds
 * it. A failed attempt may have acted, so its record is kept as long: the next one must be known as the same request.
 */
export const RECORD_TTL_MS = 24 * 3_600_000;
/** Time for which a request is refused after its last allowed attempt failed: short, because the reason may pass. */
export const EXHAUSTED_MS = 3_600_000;
/** After this a worker that has not finished counts as dead. */
export const PROCESSING_LOCK_MS = 5 * 60_000;
/** Attempts of a request before it is refused for a time. */
export const MAX_ATTEMPTS = 3;
/**
 * Two deliveries of the same GitHub content within this time are one event (see `githubSecondaryKey`): as long as the
 * record is kept, so that a captured signed delivery cannot be replayed under another delivery id.
 */
export const GITHUB_SECONDARY_WINDOW_MS = RECORD_TTL_MS;

/** Decision about a request whose key has a record. */
export type ExistingDecision =
  /** Answer as before, from the record. It has no `response` if a run was made but its response not yet recorded. */
  | { readonly kind: 'replay' }
  /** The request is in progress: 202. */
  | { readonly kind: 'in_flight' }
  /** Another request under the same key: 422 `IDEMPOTENCY_KEY_REUSED`. */
  | { readonly kind: 'conflict' }
  /** Do it, as this attempt, after winning the record with a precondition on the version that was read. */
  | { readonly kind: 'take_over'; readonly attempts: number }
  /** Treated as if there were no record: new work, which replaces it. */
  | { readonly kind: 'expired' }
  /** The last allowed attempt failed, and the time after which it may be tried again is not over. */
  | { readonly kind: 'exhausted' }
  /** The record must be neither used nor revealed. */
  | { readonly kind: 'foreign_tenant' };

interface RepeatedRequest {
  readonly requestHash: string;
  readonly tenantId: string;
  /** Epoch ms. */
  readonly now: number;
}

/**
 * Decides in an order that matters: the tenant is compared first, because even "expired" would reveal that the record exists;
 * an expired record cannot conflict; a different request is never answered from the record.
 */
export function decideExisting(record: IdempotencyRecord, request: RepeatedRequest): ExistingDecision {
  if (record.tenantId !== request.tenantId) return { kind: 'foreign_tenant' };
  if (request.now >= record.expiresAt) return { kind: 'expired' };
  if (record.requestHash !== request.requestHash) return { kind: 'conflict' };
  if (record.status === 'completed' || record.runId !== undefined) return { kind: 'replay' };
  if (record.status === 'processing' && request.now < lockEnd(record)) return { kind: 'in_flight' };
  const attempts = countedAttempts(record, request.now);
  if (attempts >= MAX_ATTEMPTS) return { kind: 'exhausted' };
  return { kind: 'take_over', attempts: attempts + 1 };
}

/** After a failure of long ago counting begins again. It does not after a death of the worker: the request may be what kills it. */
function countedAttempts({ status, attempts, updatedAt }: IdempotencyRecord, now: number): number {
  return status === 'failed' && now - updatedAt >= EXHAUSTED_MS ? 0 : attempts;
}

function lockEnd(record: IdempotencyRecord): number {
  return record.lockExpiresAt ?? record.updatedAt + PROCESSING_LOCK_MS;
}
