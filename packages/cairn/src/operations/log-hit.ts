/** The log line for a request that was answered as an earlier one with its key (run lifecycle text, 7.2): the same wherever that is found. */
import type { EventSource } from '../core/decisions/idempotency.ts';
import type { Log } from '../ports/log.ts';

export interface Hit {
  readonly key: string | undefined;
  readonly source: EventSource;
  readonly tenantId: string;
  /** Trace of the repeated request, if it sent one. */
  readonly traceId?: string | undefined;
  /** The run that the first answer was about, if it was about one. */
  readonly cachedRunId: string | undefined;
}

export function logHit(log: Log, { key, source, tenantId, traceId, cachedRunId }: Hit): void {
  log.info('idempotency_hit', { key, cachedRunId, source, tenantId, traceId });
}
