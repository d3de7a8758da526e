/**
 * Starts a run, exactly once per idempotency key. Create first: one atomic commit makes the record, the run and its
 * first event, each under must-not-exist. One caller wins; the others read what the winner wrote and answer the same.
 */

import { COMPLETED_TTL_MS, type IdempotencyRecord } from '../../core/decisions/idempotency.ts';
import { CairnError } from '../../core/errors.ts';
import { sendUntilKnown } from '../send-until-known.ts';
import { type Draft, draftRun } from './draft-run.ts';
import type { StartDeps, StartOutcome, StartRequest } from './request.ts';
import { judge, recordsFor, type StoredRecords } from './start-records.ts';

/** How often a start looks again when records change under its eyes before it asks the caller to come back. */
const MAX_LOOKS = 8;

/**
 * @throws CairnError INVALID_INPUT, PAYLOAD_TOO_LARGE (nothing is written), IDEMPOTENCY_KEY_REUSED,
 *   UNAVAILABLE when the same request should be sent again
 */
export function startRun(deps: StartDeps, request: StartRequest): Promise<StartOutcome> {
  return deps.recent
    ? deps.recent.join(deps, request, () => startOnce(deps, request))
    : startOnce(deps, request);
}

async function startOnce(deps: StartDeps, request: StartRequest): Promise<StartOutcome> {
  const draft = draftRun(deps, request);
  let records = recordsFor(request, draft, {});
  for (let look = 0; look < MAX_LOOKS; look += 1) {
    const commit = { ...draft.commit, records };
    if ((await sendUntilKnown(deps, () => deps.store.start(commit))).kind === 'committed')
      return created(deps, request, draft);

    const stored = await readRecords(deps, request);
    const verdict = judge(deps, request, draft, stored);
    if (verdict.kind === 'ours') return created(deps, request, draft);
    if (verdict.kind === 'in_flight') return verdict;
    if (verdict.kind === 'replayed') {
      deps.log.info('idempotency_hit', {
        key: request.key,
        cachedRunId: verdict.runId,
        source: request.source,
      });
      if (verdict.pointHere) await pointPrimaryAt(deps, request, verdict.record);
      return { kind: 'replayed', runId: verdict.runId, response: verdict.response };
    }
    records = recordsFor(request, draft, verdict.replace);
  }
  throw new CairnError('UNAVAILABLE', 'too many requests with this idempotency key at once');
}

/** Without it, a redelivery after the five seconds would be a second run for one delivery. */
async function pointPrimaryAt(deps: StartDeps, request: StartRequest, hit: IdempotencyRecord): Promise<void> {
  const { records, clock, log } = deps;
  if (request.key === undefined) return;
  const now = clock.now();
  const { requestHash } = request;
  const record = {
    ...hit,
    key: request.key,
    requestHash,
    createdAt: now,
    updatedAt: now,
    expiresAt: now + COMPLETED_TTL_MS,
  };
  const { kind } = await sendUntilKnown(deps, () => records.create(record));
  if (kind === 'exists') log.debug('idempotency_record_kept', { key: request.key });
}

async function readRecords(deps: StartDeps, request: StartRequest): Promise<StoredRecords> {
  const [primary, secondary] = await Promise.all(
    [request.key, request.secondaryKey].map((key) =>
      key === undefined ? undefined : sendUntilKnown(deps, () => deps.records.read(key)),
    ),
  );
  return { primary, secondary };
}

/** The start is durable, so the caller hears of it whatever the queue says: the scan finds a run without a task. */
async function created(deps: StartDeps, request: StartRequest, { response }: Draft): Promise<StartOutcome> {
  const { runId, type } = response;
  deps.log.info('run_created', { runId, type, tenantId: request.tenantId, idempotencyKey: request.key });
  try {
    await deps.queue.enqueue({ runId, reason: 'start' });
  } catch (error) {
    deps.log.error('enqueue_failed', {
      runId,
      error: error instanceof Error ? error.message : String(error),
    });
  }
  return { kind: 'created', runId, response };
}
