/** The log line and the errors for a request whose idempotency key is known; the same for all entry points. */
import type { ExistingDecision, RequestSource } from '../core/decisions/idempotency.ts';
import { CairnError } from '../core/errors.ts';
import type { Log } from '../ports/log.ts';

interface Hit {
  readonly key: string | undefined;
  readonly source: RequestSource;
  readonly tenantId: string;
  /** Trace of the repeated request, if it sent one. */
  readonly traceId?: string | undefined;
  /** The run of the first response, if it has one. */
  readonly cachedRunId: string | undefined;
}

export function logHit(log: Log, { key, source, tenantId, traceId, cachedRunId }: Hit): void {
  log.info('idempotency_hit', { key, cachedRunId, source, tenantId, traceId });
}

type RefusedKey = Extract<ExistingDecision['kind'], 'conflict' | 'exhausted' | 'foreign_tenant'>;

/** IDEMPOTENCY_CONFLICT or IDEMPOTENCY_KEY_REUSED. */
export function refusedKey(kind: RefusedKey): CairnError {
  if (kind === 'exhausted')
    return new CairnError('IDEMPOTENCY_CONFLICT', 'every attempt with this idempotency key failed');
  // The same error for all requests, so that no tenant learns of another's record.
  return new CairnError('IDEMPOTENCY_KEY_REUSED', 'this idempotency key was used with a different request', {
    field: 'Idempotency-Key',
  });
}
