/** Any state, event, checkpoint, step, record and client that the types allow, for properties of the codecs. */
import fc from 'fast-check';
import { Map as PersistentMap } from 'immutable';
import type { IdempotencyRecord } from '../../functions/src/core/decisions/idempotency.ts';
import type { Json } from '../../functions/src/core/encoding/json.ts';
import type { RecordedError, RunEvent, StoredValue, Wait } from '../../functions/src/core/run/events.ts';
import type { Checkpoint, StepRecord } from '../../functions/src/core/run/records.ts';
import type { RunState, SoftState, StepState } from '../../functions/src/core/run/state.ts';
import { RUN_STATUSES } from '../../functions/src/core/run/status.ts';
import type { ApiClient } from '../../functions/src/ports/client-store.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 12 });
const count = fc.nat({ max: 10_000 });
/** A day before the end of what a Timestamp can hold: `wakeAt` lies after the times it is made of. */
const LATEST = 253_402_300_799_999 - 2 * 86_400_000;
const time = fc.oneof(fc.nat({ max: LATEST }), fc.constantFrom(0, 999, 1_000, LATEST));
const attempt = fc.integer({ min: 1, max: 9 });

/** Every member there or absent, whatever combination. */
function withOptional<T extends object, O extends object>(
  required: { [K in keyof T]: fc.Arbitrary<T[K]> },
  optional: { [K in keyof O]: fc.Arbitrary<O[K]> },
): fc.Arbitrary<T & Partial<O>> {
  const all = { ...required, ...optional };
  return fc.record(all, {
    requiredKeys: Object.keys(required) as never[],
    noNullPrototype: true,
  }) as unknown as fc.Arbitrary<T & Partial<O>>;
}

/** Objects as literals make them. */
function plain<T>(members: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> {
  return fc.record(members, { noNullPrototype: true }) as fc.Arbitrary<T>;
}

const recordedError: fc.Arbitrary<RecordedError> = withOptional(
  { code: text, message: text, retryable: fc.boolean() },
  { stepId: text, trace: text },
);
const storedValue: fc.Arbitrary<StoredValue> = fc.oneof(
  plain({ text: fc.json() }),
  plain({ checkpoint: fc.integer({ min: 1, max: 9_999 }) }),
);
const stepRef = withOptional({ stepId: text, revision: attempt }, { itemKey: text });
const wait: fc.Arbitrary<Wait> = withOptional(
  {
    id: text,
    kind: fc.constantFrom('approval' as const, 'event' as const, 'timer' as const, 'child' as const),
    stepId: text,
    revision: attempt,
    openedAt: time,
  },
  { dueAt: time, name: text, key: text, detailText: fc.json() },
);

const stepState: fc.Arbitrary<StepState> = fc.oneof(
  plain({
    phase: fc.constant('running' as const),
    seq: count,
    attempt,
    revision: attempt,
    startedAt: time,
  }),
  plain({
    phase: fc.constant('retrying' as const),
    seq: count,
    attempt,
    revision: attempt,
    startedAt: time,
    retryAt: time,
  }),
  plain({ phase: fc.constant('waiting' as const), seq: count, revision: attempt }),
  plain({
    phase: fc.constant('done' as const),
    seq: count,
    revision: attempt,
    outcome: fc.constantFrom(
      'succeeded' as const,
      'degraded' as const,
      'skipped' as const,
      'reused' as const,
      'failed' as const,
    ),
  }),
);

/** Keys with everything that separates something in the text, and whatever else an item key can hold. */
const stepKey = fc
  .tuple(
    fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,9}$/),
    fc.option(fc.oneof(text, fc.constantFrom('', ' ', ':', '%5B', '[]', ']:1', 'a:1 b:2', '\n', '@1,2'))),
  )
  .map(([id, item]) => (item === null ? id : `${id}[${item}]`));

export const steps = fc
  .array(fc.tuple(stepKey, stepState), { maxLength: 40 })
  .map((entries) => PersistentMap<string, StepState>(entries));

export const runState: fc.Arbitrary<RunState> = withOptional(
  {
    id: text,
    shard: fc.nat({ max: 15 }),
    createdAt: time,
    tenantId: text,
    environment: text,
    type: text,
    planVersion: count,
    threadId: text,
    trigger: withOptional(
      { source: fc.constantFrom('ui' as const, 'webhook' as const) },
      { userId: text, webhookEventId: text },
    ),
    traceId: text,
    inputHash: text,
    input: storedValue,
    rootRunId: text,
    schemaVersion: fc.constant(1),
    status: fc.constantFrom(...RUN_STATUSES),
    head: count,
    headHash: text,
    checkpointHead: count,
    epoch: count,
    inFlight: fc.array(stepRef, { maxLength: 3 }),
    steps,
    waits: fc.array(wait, { maxLength: 3 }),
    inbox: fc.array(plain({ signalId: text, name: text, payloadText: fc.json(), at: time }), {
      maxLength: 3,
    }),
    compensationLog: fc.array(
      withOptional(
        { stepId: text, outcome: fc.constantFrom('compensated' as const, 'failed' as const), at: time },
        { error: recordedError },
      ),
      { maxLength: 2 },
    ),
    resumeCount: count,
    interruptions: count,
    updatedAt: time,
  },
  {
    repoId: text,
    prId: text,
    prUrl: text,
    idempotencyKey: text,
    a2aCorrelationId: text,
    resumedFrom: text,
    source: withOptional(
      { runId: text, mode: fc.constantFrom('resume' as const, 'fork' as const) },
      { checkpointId: text },
    ),
    parent: plain({ runId: text, stepId: text }),
    versions: withOptional({}, { capabilities: text, bindings: text, registryRef: text }),
    stopKind: fc.constantFrom('user' as const, 'halt' as const),
    currentStep: text,
    policySnapshotId: text,
    lease: plain({ owner: text, epoch: count, expiresAt: time }),
    dueAt: time,
    result: storedValue,
    error: recordedError,
    lastHandoff: fc.array(wait, { maxLength: 2 }),
    cancellation: withOptional(
      { stopKind: fc.constantFrom('user' as const, 'policy' as const), requestedAt: time },
      { reason: text, actor: text },
    ),
    supersededBy: text,
    startedAt: time,
    completedAt: time,
    durationMs: count,
  },
);

export const softState: fc.Arbitrary<SoftState> = withOptional(
  {},
  { lastHeartbeatAt: time, leaseExtendedTo: time },
);

/** JSON without -0, which JSON text does not keep apart from 0. */
const json = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)) as Json);

export const event = withOptional(
  {
    seq: fc.integer({ min: 1, max: 9_999_999_999 }),
    id: text,
    type: fc.constantFrom('signal_received' as const, 'run_claimed' as const),
    at: time,
    initiator: fc.constantFrom('user' as const, 'system' as const),
    data: fc.dictionary(text, json, { maxKeys: 4, noNullPrototype: true }),
    schemaVersion: fc.constant(1),
    prevHash: text,
    hash: text,
  },
  { actor: text, writer: plain({ owner: text, epoch: count }) },
) as unknown as fc.Arbitrary<RunEvent>;

export const checkpoint: fc.Arbitrary<Checkpoint> = withOptional(
  {
    seq: count,
    boundary: fc.constantFrom('run_started' as const, 'step_completed' as const),
    planVersion: count,
    parent: count,
    at: time,
  },
  {
    stepId: text,
    itemKey: text,
    revision: attempt,
    attempt,
    outcome: fc.constantFrom('succeeded' as const, 'cancelled' as const),
    inputsHash: text,
    outputHash: text,
    outputText: fc.json(),
    outputsSummary: text,
    errorTrace: text,
    agent: text,
    tokensUsed: plain({ input: count, output: count }),
    resumable: fc.boolean(),
    idempotent: fc.boolean(),
    startedAt: time,
    durationMs: count,
  },
);

export const stepRecord: fc.Arbitrary<StepRecord> = withOptional(
  {
    id: text,
    kind: fc.constantFrom('step' as const, 'map' as const),
    status: fc.constantFrom('running' as const, 'failed' as const),
    planVersion: count,
    inputsHash: text,
    attempts: attempt,
    startedAtMs: time,
    updatedAtMs: time,
    revision: attempt,
    compensated: fc.boolean(),
  },
  { outputsSummary: text, errorTrace: text, checkpoint: count },
);

export const idempotencyRecord: fc.Arbitrary<IdempotencyRecord> = withOptional(
  {
    key: text,
    source: fc.constantFrom('api' as const, 'slack' as const),
    tenantId: text,
    status: fc.constantFrom('processing' as const, 'completed' as const),
    requestHash: text,
    createdAt: time,
    updatedAt: time,
    expiresAt: time,
    attempts: attempt,
  },
  { runId: text, response: json, error: text, lockExpiresAt: time, attemptId: text },
);

export const apiClient: fc.Arbitrary<ApiClient> = plain({
  id: text,
  tenantId: text,
  roles: fc.subarray(['viewer', 'submitter', 'operator', 'admin'] as const),
  secretHash: text,
  disabled: fc.boolean(),
  createdAt: time,
});
