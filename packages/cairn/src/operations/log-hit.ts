/** Log line of a request answered with the result of an earlier one with its key; the same for all entry points. */
import type { RequestSource } from '../core/decisions/idempotency.ts';
import type { Log } from '../ports/log.ts';

interface Hit {
  readonly key: string | undefined;
  readonly source: RequestSource;
  readonly tenantId: string;
  /** Trace of the repeated request, if it sent one. */
  readonly traceId?: string | undefined;
  /** The run that the first answer was about, if it was about one. */
  readonly cachedRunId: string | undefined;
}

export function logHit(log: Log, { key, source, tenantId, traceId, cachedRunId }: Hit): void {
  log.info('idempotency_hit', { key, cachedRunId, source, tenantId, traceId });
}
