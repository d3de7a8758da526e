/**
 * Owns the idempotency record, its lifetimes, and the decision what an existing record means for a new request.
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
  /** Response of a `completed` record; in other records the progress of an unfinished request. */
  readonly response?: Json | undefined;
  /** The reason of the failure, for a `failed` record. */
  readonly error?: string | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Time from which the record counts as absent. Every read checks it, because Firestore deletes later. */
  readonly expiresAt: number;
  /** Time until which a `processing` record belongs to its process. */
  readonly lockExpiresAt?: number | undefined;
  /** Attempts of the request, without those that ended with a request to retry later. */
  readonly attempts: number;
  /**
   * Unique per attempt, so that a worker recognises its own record after it lost the answer to a write (J8). For a start, the id
   * of the run's first event.
   */
  readonly attemptId?: string | undefined;
}

/**
 * Lifetime of a record after its last change: long enough for every retry of every source. The record of a failed attempt is kept
 * as long, because the attempt may have acted and a retry must be recognised.
 */
export const RECORD_TTL_MS = 24 * 3_600_000;
/** Time for which a request is refused after its last allowed attempt failed: short, because the reason may pass. */
export const EXHAUSTED_MS = 3_600_000;
/** After this a worker that has not finished counts as dead. */
export const PROCESSING_LOCK_MS = 5 * 60_000;
/** Attempts of a request before it is refused for a time. */
export const MAX_ATTEMPTS = 3;
/**
 * Two deliveries of the same GitHub content within this time are one event (see `githubSecondaryKey`). Equal to the lifetime of
 * the record, so that a captured signed delivery cannot be replayed under another delivery id.
 */
export const GITHUB_SECONDARY_WINDOW_MS = RECORD_TTL_MS;

/** Decision about a request whose key has a record. */
export type ExistingDecision =
  /** Answer from the record. It has no `response` if the run was created but its response is not recorded yet. */
  | { readonly kind: 'replay' }
  /** The request is in progress: 202. */
  | { readonly kind: 'in_flight' }
  /** Another request under the same key: 422 `IDEMPOTENCY_KEY_REUSED`. */
  | { readonly kind: 'conflict' }
  /** Carry it out as this attempt, after taking the record with a precondition on the version that was read. */
  | { readonly kind: 'take_over'; readonly attempts: number }
  /** Treated as if there were no record: new work, which replaces it. */
  | { readonly kind: 'expired' }
  /** The last allowed attempt failed, and the time until the next one is not over. */
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
 * The order matters: the tenant is compared first, because even "expired" would reveal that the record exists; an expired record
 * cannot conflict; a different request is never answered from the record.
 */
export function decideExisting(record: IdempotencyRecord, request: RepeatedRequest): ExistingDecision {
  if (record.tenantId !== request.tenantId) return { kind: 'foreign_tenant' };
  if (request.now >= record.expiresAt) return { kind: 'expired' };
  if (record.requestHash !== request.requestHash) return { kind: 'conflict' };
  if (record.status === 'completed' || record.runId !== undefined) return { kind: 'replay' };
  const lockEnd = record.lockExpiresAt ?? record.updatedAt + PROCESSING_LOCK_MS;
  if (record.status === 'processing' && request.now < lockEnd) return { kind: 'in_flight' };
  const attempts = countedAttempts(record, request.now);
  if (attempts >= MAX_ATTEMPTS) return { kind: 'exhausted' };
  return { kind: 'take_over', attempts: attempts + 1 };
}

/** Counting restarts after an old failure, but not after the death of a worker, because the request may have caused it. */
function countedAttempts({ status, attempts, updatedAt }: IdempotencyRecord, now: number): number {
  return status === 'failed' && now - updatedAt >= EXHAUSTED_MS ? 0 : attempts;
}
