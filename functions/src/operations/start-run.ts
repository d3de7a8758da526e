/**
 * Starts a run, exactly once per idempotency key. Create first: one atomic commit makes the record, the run and its
 * first event, each under must-not-exist. One caller wins; the others read what the winner wrote and answer the same.
 */
import { emptyChain, seal } from '../core/chain.ts';
import { CairnError } from '../core/errors.ts';
import type { RunEvent, Trigger } from '../core/events.ts';
import { sha256Hex } from '../core/hash.ts';
import {
  COMPLETED_TTL_MS,
  decideExisting,
  type EventSource,
  GITHUB_SECONDARY_WINDOW_MS,
  type IdempotencyRecord,
} from '../core/idempotency.ts';
import { toJsonText } from '../core/json.ts';
import { checkpointOf } from '../core/records.ts';
import { initialState } from '../core/reduce/index.ts';
import { assertFits, storedValue } from '../core/values.ts';
import type { Workflow } from '../engine/define/types.ts';
import { type Clock, pause } from '../ports/clock.ts';
import type { IdempotencyStore, StoredRecord } from '../ports/idempotency-store.ts';
import type { Log } from '../ports/log.ts';
import type { Randomness } from '../ports/randomness.ts';
import type { RunStore, StartCommit, StartRecord } from '../ports/run-store.ts';
import { OutcomeUnknown } from '../ports/store-errors.ts';
import type { TaskQueue } from '../ports/task-queue.ts';

export interface StartDeps {
  readonly store: RunStore;
  readonly records: IdempotencyStore;
  readonly queue: TaskQueue;
  readonly clock: Clock;
  readonly random: Randomness;
  readonly log: Log;
}

export interface StartRequest {
  readonly tenantId: string;
  readonly environment: string;
  readonly workflow: Workflow;
  /** Checked against the workflow's schema, which also drops what the workflow does not use. */
  readonly input: unknown;
  readonly trigger: Trigger;
  readonly source: EventSource;
  /** See core/keys.ts. Undefined: every request is new work (API calls without a key). */
  readonly key: string | undefined;
  readonly requestHash: string;
  /** GitHub only: a second key under which the same content within five seconds counts as the same (DESIGN 2.16). */
  readonly secondaryKey?: string | undefined;
  readonly threadId?: string | undefined;
  readonly repoId?: string | undefined;
  readonly prId?: string | undefined;
  readonly prUrl?: string | undefined;
  readonly a2aCorrelationId?: string | undefined;
  /** 32 hex digits (W3C trace context); drawn if absent. */
  readonly traceId?: string | undefined;
}

/** What a start is answered with; kept in the record, so that a repetition gets the same bytes. */
export type StartResponse = {
  readonly runId: string;
  readonly type: string;
  readonly planVersion: number;
  readonly status: 'pending';
  readonly threadId: string;
  readonly createdAt: string;
};

export type StartOutcome =
  | { readonly kind: 'created' | 'replayed'; readonly runId: string; readonly response: StartResponse }
  | { readonly kind: 'in_flight' };

/** How often a start looks again when records change under its eyes before it asks the caller to come back. */
const MAX_LOOKS = 8;
/** How often the same bytes are sent again while their outcome is unknown. */
const MAX_SENDS = 8;
const RESEND_FIRST_MS = 25;
const RESEND_CAP_MS = 1_000;

/**
 * @throws CairnError INVALID_INPUT, PAYLOAD_TOO_LARGE (nothing is written), IDEMPOTENCY_KEY_REUSED,
 *   UNAVAILABLE when the same request should be sent again
 */
export async function startRun(deps: StartDeps, request: StartRequest): Promise<StartOutcome> {
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

interface Draft {
  readonly commit: Omit<StartCommit, 'records'>;
  readonly response: StartResponse;
  readonly now: number;
}

function draftRun({ clock, random }: StartDeps, request: StartRequest): Draft {
  const { workflow, trigger, tenantId, environment } = request;
  const text = toJsonText(validated(workflow, request.input), 'input');
  assertFits(text, 'input');
  const runId = random.runId();
  const now = clock.now();
  const threadId = request.threadId ?? runId;
  const input = storedValue(text, 1);
  const { type, planVersion } = workflow;
  const data = {
    tenantId,
    environment,
    type,
    planVersion,
    threadId,
    trigger,
    traceId: request.traceId ?? random.token(),
    inputHash: sha256Hex(text),
    input,
    rootRunId: runId,
    ...optional('repoId', request.repoId),
    ...optional('prId', request.prId),
    ...optional('prUrl', request.prUrl),
    ...optional('idempotencyKey', request.key),
    ...optional('a2aCorrelationId', request.a2aCorrelationId),
  };
  const initiator = trigger.source === 'webhook' ? 'webhook' : trigger.userId ? 'user' : 'system';
  const event = seal(
    { type: 'run_created', initiator, data, ...optional('actor', trigger.userId) },
    { chain: emptyChain(runId), id: random.token(), now },
  ) as RunEvent<'run_created'>;
  const checkpoint = checkpointOf(event, undefined, 'text' in input ? undefined : text);
  const state = initialState(runId, event);
  const response: StartResponse = {
    runId,
    type,
    planVersion,
    status: 'pending',
    threadId,
    createdAt: new Date(event.at).toISOString(),
  };
  return { commit: { state, events: [event], checkpoints: checkpoint ? [checkpoint] : [] }, response, now };
}

function validated(workflow: Workflow, input: unknown): unknown {
  const parsed = workflow.input.safeParse(input);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = ['input', ...(issue?.path ?? [])].map(String).join('.');
  throw new CairnError('INVALID_INPUT', `${field}: ${issue?.message ?? 'not what the workflow takes'}`, {
    field,
  });
}

/** Both records of a start, or one, or none; `replace` holds versions of expired ones they take the place of. */
function recordsFor(request: StartRequest, draft: Draft, replace: Replace): StartRecord[] {
  const records: StartRecord[] = [];
  if (request.key !== undefined) {
    records.push({ record: recordOf(request, request.key, draft), ...optional('replaces', replace.primary) });
  }
  if (request.secondaryKey !== undefined) {
    const record = recordOf(request, request.secondaryKey, draft);
    records.push({ record, ...optional('replaces', replace.secondary) });
  }
  return records;
}

interface Replace {
  readonly primary?: string;
  readonly secondary?: string;
}

/** Born completed (DESIGN 2.10): the commit that makes the record also makes the run it answers with. */
function recordOf(request: StartRequest, key: string, { response, now }: Draft): IdempotencyRecord {
  return {
    key,
    source: request.source,
    tenantId: request.tenantId,
    runId: response.runId,
    status: 'completed',
    requestHash: request.requestHash,
    response,
    createdAt: now,
    updatedAt: now,
    expiresAt: now + COMPLETED_TTL_MS,
    attempts: 1,
  };
}

interface StoredRecords {
  readonly primary?: StoredRecord | undefined;
  readonly secondary?: StoredRecord | undefined;
}

type Verdict =
  | { readonly kind: 'ours' }
  | { readonly kind: 'in_flight' }
  | {
      readonly kind: 'replayed';
      readonly runId: string;
      readonly response: StartResponse;
      /** The hit was on the second key: this delivery's own key must answer the same from now on. */
      readonly pointHere: boolean;
      readonly record: IdempotencyRecord;
    }
  | { readonly kind: 'again'; readonly replace: Replace };

/** What the records that were in the way mean for this request. */
function judge({ clock }: StartDeps, request: StartRequest, draft: Draft, stored: StoredRecords): Verdict {
  const { runId } = draft.response;
  const { primary, secondary } = stored;
  if (primary?.record.runId === runId || secondary?.record.runId === runId) return { kind: 'ours' };
  // Without a key nothing but an earlier sending of our own can have been in the way: run ids do not repeat.
  if (request.key === undefined && request.secondaryKey === undefined) return { kind: 'ours' };
  const now = clock.now();
  if (primary) {
    const decision = decideExisting(primary.record, { ...request, now });
    if (decision.kind === 'in_flight') return decision;
    if (decision.kind === 'replay') return replayOf(primary.record, false);
    if (decision.kind !== 'expired' && decision.kind !== 'take_over') throw refusal(decision.kind);
  }
  if (secondary && isSameContent(secondary.record, request, now)) return replayOf(secondary.record, true);
  return {
    kind: 'again',
    replace: { ...optional('primary', primary?.version), ...optional('secondary', secondary?.version) },
  };
}

function isSameContent(record: IdempotencyRecord, { tenantId }: StartRequest, now: number): boolean {
  return record.tenantId === tenantId && now - record.createdAt < GITHUB_SECONDARY_WINDOW_MS;
}

function replayOf(record: IdempotencyRecord, pointHere: boolean): Verdict {
  if (record.runId === undefined || record.response === undefined) return { kind: 'in_flight' };
  return {
    kind: 'replayed',
    runId: record.runId,
    response: record.response as StartResponse,
    pointHere,
    record,
  };
}

function refusal(kind: 'conflict' | 'exhausted' | 'foreign_tenant'): CairnError {
  if (kind === 'exhausted')
    return new CairnError('IDEMPOTENCY_CONFLICT', 'every attempt with this idempotency key failed');
  // The same words for another tenant's record: nobody learns that it exists.
  return new CairnError('IDEMPOTENCY_KEY_REUSED', 'this idempotency key was used with a different request', {
    field: 'Idempotency-Key',
  });
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

async function readRecords({ records }: StartDeps, request: StartRequest): Promise<StoredRecords> {
  const [primary, secondary] = await Promise.all(
    [request.key, request.secondaryKey].map((key) => (key === undefined ? undefined : records.read(key))),
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

/** The same bytes again until it is known whether they were applied (J8); safe, for all they do is create. */
async function sendUntilKnown<T>({ clock, random }: StartDeps, create: () => Promise<T>): Promise<T> {
  for (let send = 1; ; send += 1) {
    try {
      return await create();
    } catch (error) {
      if (!(error instanceof OutcomeUnknown)) throw error;
      if (send === MAX_SENDS) {
        throw new CairnError('UNAVAILABLE', 'the store did not answer', { cause: error });
      }
      await pause(clock, Math.min(RESEND_CAP_MS, RESEND_FIRST_MS * 2 ** send) * (0.5 + random.unit() / 2));
    }
  }
}

function optional<K extends string, V>(name: K, value: V | undefined): { readonly [P in K]?: V } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [P in K]?: V });
}
