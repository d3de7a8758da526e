/**
 * Performs the work of a request once per idempotency key, if that work cannot share the commit of the record (a start can,
 * see start/). Create first: the process that creates the record does the work; others are answered from the record.
 * A worker that dies leaves a lock. After the lock expires, the next repetition takes over.
 *
 * Must not: guarantee that work starts only once. A worker that outlives its lock, or whose last write was never
 * acknowledged, may be followed by another, so work must be idempotent.
 */
import {
  decideExisting,
  type IdempotencyRecord,
  PROCESSING_LOCK_MS,
  RECORD_TTL_MS,
  type RequestSource,
} from '../core/decisions/idempotency.ts';
import type { Json } from '../core/encoding/json.ts';
import { CairnError, toProblem } from '../core/errors.ts';
import { NewerSchemaError } from '../core/run/events.ts';
import { isPlanMissing } from '../engine/definition-of-run.ts';
import { changeVersioned, OVERTAKEN } from '../journal/change-versioned.ts';
import { type SendDeps, sendUntilKnown } from '../journal/send-until-known.ts';
import type { IdempotencyStore } from '../ports/idempotency-store.ts';
import type { Log } from '../ports/log.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { Version } from '../ports/run-store.ts';
import { OutcomeUnknown, StoreRefused } from '../ports/store-errors.ts';
import { logHit, refusedKey } from './repeated-request.ts';

export interface OnceDeps extends SendDeps {
  readonly records: IdempotencyStore;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Time for which an unfinished worker may be alive, ms; absent: {@link PROCESSING_LOCK_MS}. */
  readonly processingLockMs?: number;
}

export interface KeyedRequest {
  /** See core/encoding/idempotency-keys.ts. */
  readonly key: string;
  readonly source: RequestSource;
  readonly tenantId: string;
  readonly requestHash: string;
  /** Only logged; undefined if the request has none. */
  readonly traceId?: string | undefined;
}

/** Response to the caller and to every repetition. The canonical text of `body` is the same bytes each time. */
export type KeptResponse = { readonly status: number; readonly body: Json };

export type OnceResult =
  | { readonly kind: 'done' | 'replayed'; readonly response: KeptResponse }
  /** Another attempt of the same request is in progress. */
  | { readonly kind: 'in_flight' };

/**
 * Thrown by work that leaves a part for the next repetition, which gets `progress`, because the records of completed parts
 * may have expired by then.
 */
export class Unfinished<P extends object = object> extends CairnError {
  readonly progress: P;

  constructor(message: string, progress: P) {
    super('UNAVAILABLE', message);
    this.progress = progress;
  }
}

export interface Progress {
  /** Newest progress of earlier attempts, kept or {@link Unfinished}; undefined if there is none. */
  readonly before: Json | undefined;
  /**
   * Records progress before the work continues. If this attempt dies, later attempts get it as long as the record of the request exists.
   *
   * @throws CairnError UNAVAILABLE if another attempt has taken over
   */
  keep(progress: Json): Promise<void>;
}

type Work = (begunAt: number, progress: Progress) => Promise<KeptResponse>;

/**
 * A refusal by `work` (a CairnError of the 4xx range, except 429 and a plan that is not deployed) is a response like any other. Other errors are
 * rethrown, and the request can be retried: at most three times, not counting errors that ask the sender to retry, which are
 * not failures of the request. `work` receives the time of the first attempt (epoch ms): together with the key, it identifies
 * the request in every attempt.
 *
 * @throws CairnError IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_CONFLICT (every attempt failed), UNAVAILABLE (send the same
 * again)
 */
export async function oncePerKey(deps: OnceDeps, request: KeyedRequest, work: Work): Promise<OnceResult> {
  const outcome = await answer(deps, request, work);
  const { tenantId, source } = request;
  if (outcome.kind !== 'in_flight')
    deps.metrics.answered({ tenantId, source, result: outcome.kind === 'replayed' ? 'hit' : 'miss' });
  return outcome;
}

async function answer(deps: OnceDeps, request: KeyedRequest, work: Work): Promise<OnceResult> {
  const entry = await enter(deps, request);
  if (entry.kind !== 'ours') return entry;
  let attempt: Attempt = entry;
  let response: KeptResponse;
  const keep = async (progress: Json) => {
    attempt = await withProgress(deps, attempt, progress);
  };
  try {
    response = await answerOf(() => work(entry.record.createdAt, { before: entry.record.response, keep }));
  } catch (error) {
    await noteFailure(deps, attempt, error);
    throw error;
  }
  return conclude(deps, request, { ...attempt, response });
}

/** @throws CairnError UNAVAILABLE if another attempt has taken over */
async function withProgress(deps: OnceDeps, { record, version }: Attempt, progress: Json): Promise<Attempt> {
  const now = deps.clock.now();
  const kept = { ...record, response: progress, updatedAt: now, expiresAt: now + RECORD_TTL_MS };
  const written = await sendUntilKnown(deps, () => write(deps.records, kept, version));
  if (written !== undefined) return { record: kept, version: written };
  const stored = await sendUntilKnown(deps, () => deps.records.read(record.key));
  // An earlier write of this attempt was applied, and its response lost.
  if (stored && stored.record.attemptId === record.attemptId)
    return { record: kept, version: stored.version };
  throw new CairnError('UNAVAILABLE', 'another attempt at the same request is in progress');
}

/** Stored record of this attempt. */
interface Attempt {
  readonly record: IdempotencyRecord;
  readonly version: Version;
}

type OnceEntry = ({ readonly kind: 'ours' } & Attempt) | Exclude<OnceResult, { kind: 'done' }>;

/** Creates the record, takes over an expired one, or returns the answer of the existing one. */
async function enter(deps: OnceDeps, request: KeyedRequest): Promise<OnceEntry> {
  const { records, clock, random, processingLockMs: lockMs = PROCESSING_LOCK_MS } = deps;
  const attemptId = random.token();
  let ownRecord = begun(request, { attemptId, attempts: 1, now: clock.now(), lockMs });
  let seen: Version | undefined;
  return changeVersioned<OnceEntry>('requests with this idempotency key', async () => {
    const written = await sendUntilKnown(deps, () => write(records, ownRecord, seen));
    if (written !== undefined) return { kind: 'ours', record: ownRecord, version: written };
    const stored = await sendUntilKnown(deps, () => records.read(request.key));
    seen = stored?.version;
    if (!stored) return OVERTAKEN;
    // An earlier write of this attempt was applied, and its response lost.
    if (stored.record.attemptId === attemptId) return { kind: 'ours', ...stored };
    const now = clock.now();
    const decision = decideExisting(stored.record, { ...request, now });
    if (decision.kind === 'in_flight') return decision;
    if (decision.kind === 'replay') return replayOf(deps, request, stored.record);
    if (decision.kind !== 'expired' && decision.kind !== 'take_over') throw refusedKey(decision.kind);
    ownRecord = begun(request, { attemptId, attempts: 1, now, lockMs });
    if (decision.kind === 'take_over') {
      // If the record is not completed, its response is the progress of the request.
      const { createdAt, response } = stored.record;
      ownRecord = { ...ownRecord, attempts: decision.attempts, createdAt, response };
    }
    return OVERTAKEN;
  });
}

/** Version of the written record; undefined if another record exists. */
async function write(
  records: IdempotencyStore,
  record: IdempotencyRecord,
  replaces: Version | undefined,
): Promise<Version | undefined> {
  const result = await (replaces === undefined ? records.create(record) : records.replace(record, replaces));
  return 'version' in result ? result.version : undefined;
}

/** A refusal is a response, except a temporary one: a rate limit, or a plan that the next deployment may restore. */
async function answerOf(work: () => Promise<KeptResponse>): Promise<KeptResponse> {
  try {
    return await work();
  } catch (error) {
    const isAnswer = error instanceof CairnError && error.httpStatus < 500 && !asksBack(error);
    if (!isAnswer) throw error;
    return { status: error.httpStatus, body: { ...toProblem(error) } };
  }
}

/** Stores the response. If another process has taken over, its response counts instead. */
async function conclude(
  deps: OnceDeps,
  request: KeyedRequest,
  { record, version, response }: Attempt & { readonly response: KeptResponse },
): Promise<OnceResult> {
  const now = deps.clock.now();
  const { lockExpiresAt: _, ...rest } = record;
  const completed: IdempotencyRecord = {
    ...rest,
    status: 'completed',
    response,
    updatedAt: now,
    expiresAt: now + RECORD_TTL_MS,
  };
  if (await sendUntilKnown(deps, () => write(deps.records, completed, version)))
    return { kind: 'done', response };
  const stored = await sendUntilKnown(deps, () => deps.records.read(request.key));
  if (!stored || stored.record.attemptId === record.attemptId) return { kind: 'done', response };
  deps.log.warn('idempotency_lock_outlived', { key: request.key, attempts: record.attempts });
  return stored.record.status === 'completed'
    ? replayOf(deps, request, stored.record)
    : { kind: 'in_flight' };
}

/** Releases the lock, so that the next repetition need not wait for its expiry. A failure to do so is only logged. */
async function noteFailure(deps: OnceDeps, { record, version }: Attempt, cause: unknown): Promise<void> {
  const now = deps.clock.now();
  const { lockExpiresAt: _, ...rest } = record;
  const failed: IdempotencyRecord = {
    ...rest,
    status: 'failed',
    attempts: record.attempts - (asksBack(cause) ? 1 : 0),
    response: cause instanceof Unfinished ? ({ ...cause.progress } as unknown as Json) : record.response,
    // Callers can read the record, so it has no text of unexpected errors.
    error: toProblem(cause).detail,
    updatedAt: now,
    expiresAt: now + RECORD_TTL_MS,
  };
  try {
    await sendUntilKnown(deps, () => write(deps.records, failed, version));
  } catch (error) {
    // The progress is too large for a document. The next attempt continues from the records of the parts.
    if (cause instanceof Unfinished && error instanceof StoreRefused)
      return noteFailure(deps, { record, version }, new CairnError('UNAVAILABLE', cause.message));
    deps.log.warn('idempotency_failure_not_noted', { key: record.key, error });
  }
}

/** True if the error asks the sender to retry: the repetition must not count as a failure. */
function asksBack(cause: unknown): boolean {
  if (cause instanceof OutcomeUnknown || cause instanceof NewerSchemaError) return true;
  if (!(cause instanceof CairnError)) return false;
  return cause.httpStatus === 503 || cause.httpStatus === 429 || isPlanMissing(cause);
}

function begun(
  { key, source, tenantId, requestHash }: KeyedRequest,
  {
    attemptId,
    attempts,
    now,
    lockMs,
  }: { readonly attemptId: string; readonly attempts: number; readonly now: number; readonly lockMs: number },
): IdempotencyRecord {
  return {
    key,
    source,
    tenantId,
    requestHash,
    status: 'processing',
    createdAt: now,
    updatedAt: now,
    expiresAt: now + RECORD_TTL_MS,
    lockExpiresAt: now + lockMs,
    attempts,
    attemptId,
  };
}

function replayOf(
  { log }: OnceDeps,
  request: KeyedRequest,
  record: IdempotencyRecord,
): OnceEntry & OnceResult {
  const response = record.response as KeptResponse;
  logHit(log, { ...request, cachedRunId: runIdIn(response.body) });
  return { kind: 'replayed', response };
}

function runIdIn(body: Json): string | undefined {
  const runId = typeof body === 'object' && body !== null && 'runId' in body ? body.runId : undefined;
  return typeof runId === 'string' ? runId : undefined;
}
