/** Answers a repetition of a request for a successor from its record, without reading the run. */
import { decideExisting } from '../../core/decisions/idempotency.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import { refusedKey } from '../refused-key.ts';
import type { StartOutcome, StartResponse } from '../start/request.ts';
import type { SuccessorDeps, SuccessorRequest } from './request.ts';

/** @throws CairnError IDEMPOTENCY_KEY_REUSED */
export async function knownStart(
  deps: SuccessorDeps,
  { key, tenantId, requestHash }: Pick<SuccessorRequest, 'key' | 'tenantId' | 'requestHash'>,
): Promise<StartOutcome | undefined> {
  if (key === undefined) return undefined;
  const stored = await sendUntilKnown(deps, () => deps.records.read(key));
  if (!stored) return undefined;
  const decision = decideExisting(stored.record, { tenantId, requestHash, now: deps.clock.now() });
  switch (decision.kind) {
    case 'expired':
    case 'take_over':
      return undefined;
    case 'in_flight':
      return decision;
    case 'replay': {
      const { runId, response } = stored.record;
      if (runId === undefined || response === undefined) return { kind: 'in_flight' };
      deps.log.info('idempotency_hit', { key, cachedRunId: runId, source: 'api' });
      deps.metrics.answered({ tenantId, source: 'api', result: 'hit' });
      return { kind: 'replayed', runId, response: response as StartResponse };
    }
    default:
      throw refusedKey(decision.kind);
  }
}
