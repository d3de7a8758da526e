/**
 * Starts a run exactly once per idempotency key. Create first: one atomic commit creates the record, the run and its first
 * event, each only if it does not exist. One caller wins; the others read its record and give the same answer. An input that is too
 * large for that commit is written before it; a caller that lost deletes its copy.
 */

import { type IdempotencyRecord, RECORD_TTL_MS } from '../../core/decisions/idempotency.ts';
import { CairnError } from '../../core/errors.ts';
import { enqueueSoon, poolAndTenant } from '../../engine/enqueue-soon.ts';
import { type PlanChange, planChanged } from '../../engine/plans/known-plans.ts';
import { runExists } from '../../engine/run-exists.ts';
import { answeredSpan, startedSpan } from '../../engine/tracing/run-spans.ts';
import { OVERTAKEN, tryToChange } from '../../journal/change-versioned.ts';
import { CostCounter } from '../../journal/cost/cost-counter.ts';
import { countedRunStore } from '../../journal/cost/counted-run-store.ts';
import { measure } from '../../journal/measure.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import type { Supersedes } from '../../ports/run-store.ts';
import { logHit } from '../repeated-request.ts';
import { type DraftedStart, draftRun } from './draft-run.ts';
import { startedBefore } from './known-start.ts';
import { enqueueIfLost } from './lost-task.ts';
import type { StartDeps, StartRequest, StartResult } from './request.ts';
import { judge, type Replace, recordsFor, type StartDecision, type StoredRecords } from './start-records.ts';

/**
 * @throws CairnError INVALID_INPUT, PAYLOAD_TOO_LARGE, PLAN_CHANGED (no run is written), IDEMPOTENCY_KEY_REUSED,
 *   UNAVAILABLE if the same request should be sent again
 */
export async function startRun(deps: StartDeps, request: StartRequest): Promise<StartResult> {
  const startedAt = deps.clock.now();
  const outcome = await startOrJoin(deps, request).catch((refusal: unknown) =>
    startedBefore(deps, request, refusal),
  );
  reportAnswered(deps, request, { outcome, startedAt });
  return outcome;
}

async function startOrJoin(deps: StartDeps, request: StartRequest): Promise<StartResult> {
  const start = () => startOnce(deps, request);
  const outcome = await (deps.recent ? deps.recent.join(deps, request, start) : start());
  const { tenantId, source, key } = request;
  if (key !== undefined && outcome.kind !== 'in_flight')
    deps.metrics.answered({ tenantId, source, result: outcome.kind === 'replayed' ? 'hit' : 'miss' });
  return outcome;
}

async function startOnce(world: StartDeps, request: StartRequest): Promise<StartResult> {
  const deps = { ...world, store: countedRunStore(world.store, new CostCounter()) };
  const draft = draftRun(deps, request);
  const start: DraftedStart = { deps, request, draft };
  const { payloads } = draft;
  const change = await deps.plans.meet(request.workflow, draft.response.runId);
  if (change) return refusedByPlan(start, change);
  const supersedes = request.lineage?.supersede !== undefined;
  if (payloads.length === 0 && !supersedes) return commitUntilDecided(start, {});
  // Repetitions are recognised before the input is written, because a write costs much more than this read. Also, a repeated
  // request that superseded a run must get its first response, not the error that the run is already superseded.
  const keyed = request.key !== undefined || request.secondaryKey !== undefined;
  const known: StartDecision = keyed ? await judged(start) : { kind: 'again', replace: {} };
  if (known.kind !== 'again') return answered(start, known);
  for (const { text } of payloads)
    await sendUntilKnown(deps, () => deps.store.writePayload(draft.response.runId, text));
  return commitUntilDecided(start, known.replace);
}

/** Refuses to start a run on a changed plan. A repetition gets the run that it started before. */
async function refusedByPlan(start: DraftedStart, change: PlanChange): Promise<StartResult> {
  const { deps, request, draft } = start;
  const { runId } = request;
  if (runId !== undefined && (await runExists(deps, runId)))
    return { kind: 'replayed', runId, response: draft.response };
  return refused(start, planChanged(change));
}

/** Sends the commit until it is stored, or another document is in its place. */
async function commitUntilDecided(start: DraftedStart, replace: Replace): Promise<StartResult> {
  const { deps, request, draft } = start;
  let records = recordsFor(start, replace);
  const result = await tryToChange(async () => {
    let supersedes: Supersedes | 'done' | undefined;
    try {
      supersedes = await request.lineage?.supersede?.(draft.response.runId);
    } catch (refusal) {
      return refused(start, refusal);
    }
    if (supersedes === 'done') return created(start);
    const commit = { ...draft.commit, records, supersedes };
    if ((await sendUntilKnown(deps, () => deps.store.start(commit))).kind === 'committed')
      return created(start);

    const stored = await readRecords(start);
    let decision: StartDecision;
    try {
      decision = judge(start, stored);
    } catch (refusal) {
      await withdrawInput(start);
      throw refusal;
    }
    if (decision.kind === 'again') {
      records = recordsFor(start, decision.replace);
      return OVERTAKEN;
    }
    // The conflict may come from another start that superseded the same run, so that run is read again.
    if (supersedes && request.key === undefined) return OVERTAKEN;
    if (decision.kind !== 'ours') await withdrawInput(start);
    return answered(start, decision);
  });
  if (result !== OVERTAKEN) return result;
  await withdrawInput(start);
  throw new CairnError('UNAVAILABLE', 'too many concurrent requests with this idempotency key');
}

/** Starts nothing. If the same request started a run before, that run is the response. */
async function refused(start: DraftedStart, refusal: unknown): Promise<StartResult> {
  await withdrawInput(start);
  const known = start.request.key === undefined ? undefined : await judged(start);
  if (!known || known.kind === 'again') throw refusal;
  return answered(start, known);
}

async function judged(start: DraftedStart): Promise<StartDecision> {
  return judge(start, await readRecords(start));
}

async function answered(
  start: DraftedStart,
  decision: Exclude<StartDecision, { kind: 'again' }>,
): Promise<StartResult> {
  const { deps, request } = start;
  if (decision.kind === 'ours') return created(start);
  if (decision.kind === 'in_flight') return decision;
  logHit(deps.log, { ...request, traceId: request.trace?.traceId, cachedRunId: decision.runId });
  if (decision.byContent) await pointPrimaryAt(start, decision.byContent);
  await enqueueIfLost(deps, decision.response);
  return { kind: 'replayed', runId: decision.runId, response: decision.response };
}

/**
 * Only for a run that certainly was not created and has a random id: a derived id may be that of the winning run, and the input
 * the winner's input. A leftover input only costs storage.
 */
async function withdrawInput({ deps, request, draft }: DraftedStart): Promise<void> {
  if (request.runId !== undefined) return;
  const { runId } = draft.response;
  for (const { ref } of draft.payloads) {
    try {
      await sendUntilKnown(deps, () => deps.store.deletePayload(runId, ref));
    } catch (error) {
      deps.log.warn('payload_left_behind', { runId, sha256: ref.sha256, error });
    }
  }
}

/** Without this, a redelivery would start a second run for one delivery once the record of its content has expired. */
async function pointPrimaryAt({ deps, request }: DraftedStart, hit: IdempotencyRecord): Promise<void> {
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
    expiresAt: now + RECORD_TTL_MS,
  };
  const { kind } = await sendUntilKnown(deps, () => records.create(record));
  if (kind === 'exists') log.debug('idempotency_record_kept', { key: request.key });
}

async function readRecords({ deps, request }: DraftedStart): Promise<StoredRecords> {
  const [primary, secondary] = await Promise.all(
    [request.key, request.secondaryKey].map((key) =>
      key === undefined ? undefined : sendUntilKnown(deps, () => deps.records.read(key)),
    ),
  );
  return { primary, secondary };
}

/** The start is durable, so a failure of the queue is not reported: the scan finds a run without a task. */
async function created({ deps, request, draft }: DraftedStart): Promise<StartResult> {
  const { response } = draft;
  const { runId, type } = response;
  const { tenantId, source, key } = request;
  const { state } = draft.commit;
  const { traceId } = state;
  const span = deps.tracer?.open(startedSpan(state, { parent: request.trace, startedAt: draft.now }));
  deps.log.info('run_created', { runId, type, tenantId, source, traceId, idempotencyKey: key });
  const { events, checkpoints } = draft.commit;
  measure(deps, { after: state, events, checkpoints, moves: [] });
  await enqueueSoon(deps, {
    runId,
    reason: 'start',
    ...poolAndTenant(deps, { type, tenantId }),
    trace: span?.context,
  });
  span?.end();
  return { kind: 'created', runId, response };
}

/** Traces a start that created no run. A created run has a trace of its own. */
function reportAnswered(
  { tracer }: StartDeps,
  { trace: parent, workflow }: StartRequest,
  { outcome, startedAt }: { readonly outcome: StartResult; readonly startedAt: number },
): void {
  if (!tracer || !parent || outcome.kind === 'created') return;
  const { kind } = outcome;
  const run = kind === 'replayed' ? { runId: outcome.runId } : {};
  tracer.open(answeredSpan({ type: workflow.type, outcome: kind, ...run }, { parent, startedAt })).end();
}
