/** A run as `views/run.ts` shows it, and what requests about one are answered with. */
import { z } from 'zod';
import { ERROR_CODES, type ErrorCode } from '../../../core/errors.ts';
import { DECISIONS, STOP_KINDS, SUCCESSOR_MODES } from '../../../core/run/events.ts';
import { RUN_STATUSES, TRANSITIONS } from '../../../core/run/status.ts';
import { PROJECTED_WORDS } from '../../../core/run/vocabulary.ts';
import { Count, pageOfRuns, Seq, Time, Value } from './common.ts';

export const Status = z
  .enum(RUN_STATUSES)
  .describe(`Final: ${RUN_STATUSES.filter((status) => TRANSITIONS[status].length === 0).join(', ')}.`);
/** Of a read, which can be asked for in other words. */
const ShownStatus = z
  .enum(PROJECTED_WORDS as [string, ...string[]])
  .describe('One of our own statuses, unless `vocabulary` asked for the words of another system.');
const StopKind = z.enum(STOP_KINDS);
export const StepKind = z.enum(['step', 'map', 'approval', 'event', 'sleep', 'child']);
const CODES = Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]];

/** A step's error may carry a code of its own, so this is no list. */
export const RecordedError = z.object({
  code: z.string(),
  message: z.string(),
  stepId: z.string().optional(),
  retryable: z.boolean(),
  trace: z.string().optional(),
});

const StepRef = z.object({ stepId: z.string(), itemKey: z.string().optional(), revision: z.int().min(1) });
const Child = z.object({ runId: z.string(), onParentEnd: z.enum(['cancel', 'abandon']) });

export const Wait = z
  .object({
    id: z.string(),
    kind: z.enum(['approval', 'event', 'timer', 'child']),
    execution: StepRef.extend({
      kind: StepKind,
      attempt: z.int().min(1),
      inputsHash: z.string(),
      startedAt: Time,
    }),
    openedAt: Time,
    dueAt: Time.optional(),
    purpose: z.enum(['doubt', 'effect']).optional(),
    effectId: z.string().optional().describe('Of the purpose `effect`: which one is asked about.'),
    name: z.string().optional(),
    key: z.string().optional(),
    child: Child.optional(),
    detail: Value.optional().describe('Of an approval: the question.'),
    announced: z.literal(true).optional(),
  })
  .describe('What a run waits for: an answer, an event, a time or a child.');

const Tie = z.object({
  kind: z.enum(['event', 'child']),
  waitId: z.string(),
  name: z.string().optional(),
  key: z.string().optional(),
  eventId: z.string().optional(),
  runId: z.string().optional(),
  onParentEnd: z.enum(['cancel', 'abandon']).optional(),
});

const StepCounts = z.object({
  begun: Count,
  running: Count,
  retrying: Count,
  waiting: Count,
  again: Count.optional(),
  succeeded: Count,
  degraded: Count,
  skipped: Count,
  reused: Count,
  failed: Count,
});

const identity = {
  id: z.string(),
  tenantId: z.string(),
  environment: z.string(),
  type: z.string(),
  planVersion: z.int().min(1),
  threadId: z.string(),
  repoId: z.string().optional(),
  prId: z.string().optional(),
  prUrl: z.string().optional(),
  trigger: z.object({
    source: z.enum(['ui', 'cli', 'webhook', 'scheduled', 'api']),
    userId: z.string().optional(),
    webhookEventId: z.string().optional(),
  }),
  idempotencyKey: z.string().optional(),
  a2aCorrelationId: z.string().optional(),
  traceId: z.string(),
  inputHash: z.string(),
  inputFrom: z
    .object({ runId: z.string(), checkpoint: Seq })
    .optional()
    .describe('Which earlier run has the large input; it is read here like any other.'),
  rootRunId: z.string(),
  resumedFrom: z.string().optional(),
  source: z
    .object({
      runId: z.string(),
      mode: z.enum(SUCCESSOR_MODES),
      checkpointId: z.string().optional(),
      stepId: z.string().optional(),
      forcedBy: z.string().optional(),
    })
    .optional()
    .describe('Of a successor: which run it was made of, and from where.'),
  effectScopes: z
    .array(z.object({ runId: z.string(), mode: z.enum(['replay', 'fork']) }))
    .optional()
    .describe('The replays and forks of its lineage, the newest first.'),
  parent: z.object({ runId: z.string(), stepId: z.string() }).optional(),
  versions: z
    .object({
      capabilities: z.string().optional(),
      bindings: z.string().optional(),
      registryRef: z.string().optional(),
    })
    .optional(),
};

const progress = {
  status: ShownStatus,
  stopKind: StopKind.optional(),
  currentStep: z.string().optional(),
  policySnapshotId: z.string().optional(),
  policyDue: z.boolean(),
  head: Seq.describe('The newest event.'),
  headHash: z.string(),
  checkpointHead: Count,
  schemaVersion: z.int(),
  lease: z
    .object({
      owner: z.string(),
      epoch: Count,
      expiresAt: Time.describe('As its drive has last extended it.'),
    })
    .optional(),
  lastHeartbeatAt: Time.optional().describe('The last sign of life of a drive.'),
  epoch: Count,
  dueAt: Time.optional(),
  deadlineAt: Time.optional(),
  wakeAt: Time.optional(),
  parked: z.string().optional(),
  inFlight: z.array(StepRef),
  steps: StepCounts.describe('How many steps stand where.'),
  waits: z.array(Wait),
  inbox: z.array(
    z.object({
      signalId: z.string(),
      name: z.string(),
      key: z.string().optional(),
      payload: Value,
      at: Time,
    }),
  ),
  received: z.array(z.string()),
  decisions: z.array(
    z.object({
      stepId: z.string(),
      waitId: z.string(),
      decision: z.enum([...DECISIONS, 'expired']),
      payloadHash: z.string(),
      actor: z.string().optional(),
      at: Time,
    }),
  ),
  feedback: z.array(z.object({ seq: Seq, steps: z.array(z.string()), text: z.string() })),
  ties: z.array(Tie),
  effects: z
    .array(
      z.object({
        effectId: z.string(),
        step: z.string(),
        revision: z.int().min(1),
        capabilityId: z.string(),
      }),
    )
    .describe('Outside actions that were attempted and whose end is not known yet.'),
  sentBack: z.array(z.object({ step: z.string(), revision: z.int(), seq: Seq })),
  compensationLog: z.array(
    z.object({
      stepId: z.string(),
      revision: z.int(),
      outcome: z.enum(['compensated', 'failed']),
      at: Time,
      error: RecordedError.optional(),
    }),
  ),
  compensating: z.boolean(),
};

const end = {
  error: RecordedError.optional(),
  lastHandoff: z.array(Wait).optional(),
  cancellation: z
    .object({
      stopKind: StopKind,
      reason: z.string().optional(),
      requestedAt: Time,
      actor: z.string().optional(),
    })
    .optional(),
  supersededBy: z.string().optional().describe('The successor that resumed it.'),
  replay: z.enum(['under_way', 'finished']).optional(),
  resumeCount: Count,
  interruptions: Count,
  createdAt: Time,
  startedAt: Time.optional(),
  updatedAt: Time,
  completedAt: Time.optional(),
  durationMs: Count.optional(),
  cost: z
    .object({ reads: Count, writes: Count, deletes: Count, tasks: Count, usd: z.number().min(0) })
    .describe(
      'Documents that were billed for it so far and tasks that drove it, and what that is at list prices: see docs/performance.md.',
    ),
};

export const RunSummary = z.object({ ...identity, ...progress, ...end });
export const RunPage = pageOfRuns(RunSummary);

const ValueRef = z
  .object({ checkpoint: Seq, sha256: z.string(), bytes: Count, chunks: Count })
  .describe('A large value: read it at /v1/runs/{id}/checkpoints/{checkpoint}/output.');

const Progress = z.object({ step: z.string(), details: Value, at: Time });

export const Run = RunSummary.extend({
  progress: z
    .array(Progress)
    .optional()
    .describe('Of a run that is driven: what its bodies last said of themselves, up to a heartbeat ago.'),
  input: Value.optional(),
  inputRef: ValueRef.optional(),
  result: Value.optional(),
  resultRef: ValueRef.optional(),
});

export const RunStarted = z.object({
  runId: z.string(),
  type: z.string(),
  planVersion: z.int().min(1),
  status: Status,
  threadId: z.string(),
  createdAt: Time,
});

export const Cancellation = z.object({
  runId: z.string(),
  status: z.enum(['cancelled', 'cancelling']),
  requestedAt: Time,
  reason: z.string().optional(),
});

export const Signalled = z.object({
  runId: z.string(),
  signalId: z.string(),
  outcome: z.enum(['taken_in', 'kept']),
});

export const ApprovalDecided = z.object({
  runId: z.string(),
  stepId: z.string(),
  waitId: z.string(),
  decision: z.enum(DECISIONS),
  decidedBy: z.string().optional(),
  decidedAt: Time,
});

export const EventDelivered = z.object({
  eventId: z.string(),
  delivered: z.array(z.string()).describe('Runs that have taken it in.'),
  kept: z.boolean(),
  keptUntil: Time.optional(),
  refused: z.array(z.object({ runId: z.string(), code: z.enum(CODES), reason: z.string() })),
  repeated: z.boolean(),
});
