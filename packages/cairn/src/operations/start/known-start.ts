/** Answers a repetition of a start from its record, without the deployed workflows. Reads the run only as long as its task may be lost. */
import { decideExisting } from '../../core/decisions/idempotency.ts';
import { CairnError, type ErrorCode } from '../../core/errors.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import { logHit, refusedKey } from '../repeated-request.ts';
import { enqueueIfLost } from './lost-task.ts';
import type { StartDeps, StartRequest, StartResult } from './request.ts';
import { answerOf } from './start-records.ts';

type Keyed = Pick<StartRequest, 'key' | 'tenantId' | 'requestHash'>;

/** @throws CairnError IDEMPOTENCY_KEY_REUSED */
export async function knownStart(deps: StartDeps, request: Keyed): Promise<StartResult | undefined> {
  const { key, tenantId, requestHash } = request;
  if (key === undefined) return undefined;
  const stored = await sendUntilKnown(deps, () => deps.records.read(key));
  if (!stored) return undefined;
  const { record } = stored;
  const decision = decideExisting(record, { tenantId, requestHash, now: deps.clock.now() });
  switch (decision.kind) {
    case 'expired':
    case 'take_over':
      return undefined;
    case 'in_flight':
      return decision;
    case 'replay': {
      const answer = answerOf(record);
      if (answer.kind === 'in_flight') return answer;
      const { source } = record;
      logHit(deps.log, { key, source, tenantId, cachedRunId: answer.runId });
      deps.metrics.answered({ tenantId, source, result: 'hit' });
      await enqueueIfLost(deps, answer.response);
      return answer;
    }
    default:
      throw refusedKey(decision.kind);
  }
}

const ABOUT_THE_BODY: ReadonlySet<string> = new Set<ErrorCode>(['INVALID_INPUT', 'PAYLOAD_TOO_LARGE']);

/**
 * A request that is refused now, for example by the schema of a newer version, may be the repetition of an accepted one. Then its
 * run is the response.
 *
 * @throws the refusal
 */
export async function startedBefore(deps: StartDeps, request: Keyed, refusal: unknown): Promise<StartResult> {
  if (!(refusal instanceof CairnError) || !ABOUT_THE_BODY.has(refusal.code)) throw refusal;
  const known = await knownStart(deps, request).catch((error: unknown) => {
    // The key belongs to another request, so this one must be corrected in any case.
    if (!(error instanceof CairnError) || error.httpStatus >= 500) throw error;
  });
  if (known?.kind === 'replayed') return known;
  throw refusal;
}
