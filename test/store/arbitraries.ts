/** Arbitraries of all states, checkpoints, steps, records and clients that the types allow, for properties of the codecs. */
import fc from 'fast-check';
import { Map as PersistentMap } from 'immutable';
import type { IdempotencyRecord } from '../../packages/cairn/src/core/decisions/idempotency.ts';
import { DECISIONS } from '../../packages/cairn/src/core/run/events.ts';
import type { Checkpoint, StepRecord } from '../../packages/cairn/src/core/run/records.ts';
import type {
  ExternalRegistration,
  RunState,
  StepState,
  VolatileMetadata,
} from '../../packages/cairn/src/core/run/state.ts';
import { RUN_STATUSES } from '../../packages/cairn/src/core/run/status.ts';
import type { ApiClient } from '../../packages/cairn/src/ports/access/client-store.ts';
import {
  attempt,
  budgetLimits,
  count,
  executionMembers,
  flag,
  identityMembers,
  identityOptions,
  json,
  onParentEnd,
  payloadRef,
  plain,
  recordedError,
  stepRef,
  stopKind,
  storedValue,
  text,
  time,
  tokensUsed,
  wait,
  withOptional,
  word,
} from './arbitrary-values.ts';

const stepState: fc.Arbitrary<StepState> = fc.oneof(
  plain({
    phase: word('running'),
    seq: count,
    attempt,
    revision: attempt,
    startedAt: time,
  }),
  withOptional(
    {
      phase: word('retrying'),
      seq: count,
      attempt,
      revision: attempt,
      startedAt: time,
      retryAt: time,
    },
    { whenRoom: fc.constant(true as const), polls: count },
  ),
  plain({ phase: word('waiting'), seq: count, revision: attempt }),
  plain({ phase: word('again'), seq: count, revision: attempt }),
  plain({
    phase: word('done'),
    seq: count,
    revision: attempt,
    outcome: word('succeeded', 'degraded', 'skipped', 'reused', 'failed'),
  }),
);

/** Keys with all separators of the text format and any other characters of item keys. */
const stepKey = fc
  .tuple(
    fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,9}$/),
    fc.option(fc.oneof(text, fc.constantFrom('', ' ', ':', '%5B', '[]', ']:1', 'a:1 b:2', '\n', '@1,2'))),
  )
  .map(([id, item]) => (item === null ? id : `${id}[${item}]`));

export const steps = fc
  .array(fc.tuple(stepKey, stepState), { maxLength: 40 })
  .map((entries) => PersistentMap<string, StepState>(entries));

const registration: fc.Arbitrary<ExternalRegistration> = fc.oneof(
  withOptional({ kind: word('event'), waitId: text, name: text, key: text }, { eventId: text }),
  plain({ kind: word('child'), waitId: text, runId: text, onParentEnd }),
);

export const runState: fc.Arbitrary<RunState> = withOptional(
  {
    id: text,
    shard: fc.nat({ max: 15 }),
    createdAt: time,
    ...identityMembers,
    schemaVersion: fc.constant(1),
    status: fc.constantFrom(...RUN_STATUSES),
    head: count,
    headHash: text,
    checkpointHead: count,
    epoch: count,
    inFlight: fc.array(stepRef, { maxLength: 3 }),
    steps,
    waits: fc.array(wait, { maxLength: 3 }),
    unread: fc.array(
      withOptional({ signalId: text, name: text, payloadText: fc.json(), at: time }, { key: text }),
      { maxLength: 3 },
    ),
    received: fc.array(text, { maxLength: 4 }),
    decisions: fc.array(
      withOptional(
        {
          stepId: text,
          waitId: text,
          decision: word(...DECISIONS, 'expired'),
          payloadHash: text,
          at: time,
        },
        { actor: text },
      ),
      { maxLength: 2 },
    ),
    feedback: fc.array(plain({ seq: count, steps: fc.array(text, { maxLength: 3 }), text: fc.json() }), {
      maxLength: 2,
    }),
    ties: fc.array(registration, { maxLength: 2 }),
    effects: fc.array(plain({ effectId: text, step: text, revision: count, capabilityId: text }), {
      maxLength: 2,
    }),
    policyDue: flag,
    compensating: flag,
    sentBack: fc.array(plain({ step: text, revision: count, seq: count }), { maxLength: 2 }),
    compensationLog: fc.array(
      withOptional(
        { stepId: text, revision: count, outcome: word('compensated', 'failed'), at: time },
        { error: recordedError },
      ),
      { maxLength: 2 },
    ),
    resumeCount: count,
    interruptions: count,
    updatedAt: time,
  },
  {
    ...identityOptions,
    stopKind,
    currentStep: text,
    policySnapshotId: text,
    lease: withOptional(
      { owner: text, epoch: count, expiresAt: time },
      { task: plain({ name: text, retryCount: count }), aloneSince: count },
    ),
    suspect: withOptional(
      {
        times: count,
        alone: flag,
        steps: fc.array(text, { maxLength: 3 }),
        deaths: fc.array(plain({ step: text, times: count }), { maxLength: 3 }),
      },
      {
        inARow: plain({ times: count, step: text, endedSince: count }),
        shutDown: fc.array(text, { maxLength: 3 }),
        sinceLoss: count,
        quietDue: count,
        cutOff: plain({ step: text, times: count }),
        left: plain({ epoch: count, task: plain({ name: text, retryCount: count }) }),
      },
    ),
    failures: plain({ times: count, error: recordedError }),
    dueAt: time,
    deadlineAt: time,
    budget: plain({
      limits: budgetLimits,
      declared: budgetLimits,
      spent: plain({ microUsd: count, tokens: count, effects: count, operations: count }),
      reserved: fc.array(
        withOptional({ step: text, revision: count, attempt: count }, { microUsd: count, tokens: count }),
        { maxLength: 3 },
      ),
      askedMs: count,
    }),
    parked: text,
    result: storedValue,
    error: recordedError,
    lastHandoff: fc.array(wait, { maxLength: 2 }),
    cancellation: withOptional({ stopKind, requestedAt: time }, { reason: text, actor: text }),
    suspension: withOptional({ reason: text, requestedAt: time }, { actor: text }),
    supersededBy: text,
    planFingerprint: text,
    itemMarks: fc
      .dictionary(fc.stringMatching(/^[a-z]{1,8}$/), plain({ revision: count, items: text }), { maxKeys: 2 })
      .map((marks) => ({ ...marks })),
    replay: word('under_way', 'finished'),
    startedAt: time,
    completedAt: time,
    durationMs: count,
  },
);

export const metadataState: fc.Arbitrary<VolatileMetadata> = withOptional(
  {},
  {
    lastHeartbeatAt: time,
    leaseExtendedTo: time,
    dutiesMet: flag,
    inFlight: fc.array(plain({ step: text, detailsText: fc.json(), at: time }), { maxLength: 2 }),
    running: fc.array(plain({ step: text, revision: attempt, attempt, since: time }), { maxLength: 2 }),
  },
);

export const checkpoint: fc.Arbitrary<Checkpoint> = withOptional(
  {
    seq: count,
    boundary: word('run_created', 'run_started', 'step_completed', 'suspended', 'run_finished'),
    planVersion: count,
    parent: count,
    at: time,
  },
  {
    stepId: text,
    itemKey: text,
    revision: attempt,
    attempt,
    outcome: word('succeeded', 'degraded', 'skipped', 'reused', 'failed', 'completed', 'cancelled'),
    inputsHash: text,
    outputHash: text,
    outputText: fc.json(),
    outputRef: payloadRef,
    outputFrom: plain({ runId: text, checkpoint: count }),
    outputsSummary: text,
    errorTrace: text,
    agent: text,
    tokensUsed,
    microUsd: count,
    resumable: flag,
    idempotent: flag,
    startedAt: time,
    durationMs: count,
  },
);

export const stepRecord: fc.Arbitrary<StepRecord> = withOptional(
  {
    id: text,
    kind: executionMembers.kind,
    status: word('pending', 'running', 'waiting', 'succeeded', 'degraded', 'skipped', 'failed'),
    planVersion: count,
    inputsHash: text,
    attempts: attempt,
    startedAtMs: time,
    updatedAtMs: time,
    revision: attempt,
  },
  { location: text, outputsSummary: text, errorTrace: text, checkpoint: count, durationMs: count },
);

export const idempotencyRecord: fc.Arbitrary<IdempotencyRecord> = withOptional(
  {
    key: text,
    source: word('api', 'slack'),
    tenantId: text,
    status: word('processing', 'completed'),
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
  disabled: flag,
  createdAt: time,
});
