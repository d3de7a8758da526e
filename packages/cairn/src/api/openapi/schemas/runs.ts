/** A run as `views/run.ts` shows it. */
import { z } from 'zod';
import { BLOCKED_CODES } from '../../../core/decisions/blocked.ts';
import { STEP_KINDS } from '../../../core/run/data/step-kind.ts';
import { DECISIONS, ON_PARENT_END, STOP_KINDS, SUCCESSOR_MODES } from '../../../core/run/events.ts';
import { RUN_STATUSES, TRANSITIONS } from '../../../core/run/status.ts';
import { PROJECTED_WORDS } from '../../../core/run/vocabulary.ts';
import {
  Count,
  Finding,
  Location,
  OperationRequest,
  pageOfRuns,
  Seq,
  Stopped,
  Time,
  UndoAttempts,
  Value,
} from './common.ts';

export const Status = z
  .enum(RUN_STATUSES)
  .describe(`Final: ${RUN_STATUSES.filter((status) => TRANSITIONS[status].length === 0).join(', ')}.`);
/** Status in responses to reads, in the requested vocabulary. */
const ShownStatus = z
  .enum(PROJECTED_WORDS as [string, ...string[]])
  .describe('A status of Cairn, or of the vocabulary that was requested.');
const StopKind = z.enum(STOP_KINDS);
export const StepKind = z.enum(STEP_KINDS);

/** Not an enumeration, because a step's error may have a code of its own. */
export const RecordedError = z.object({
  code: z.string(),
  message: z.string(),
  stepId: z.string().optional(),
  retryable: z.boolean(),
  trace: z.string().optional(),
});

const StepRef = z.object({ stepId: z.string(), itemKey: z.string().optional(), revision: z.int().min(1) });
const Child = z.object({ runId: z.string(), onParentEnd: z.enum(ON_PARENT_END) });

export const Wait = z
  .object({
    id: z.string(),
    kind: z.enum(['approval', 'event', 'timer', 'child']),
    execution: StepRef.extend({
      kind: StepKind,
      attempt: z.int().min(1),
      inputsHash: z.string(),
      request: OperationRequest.optional(),
      location: Location.optional(),
      startedAt: Time,
    }),
    openedAt: Time,
    expectedAt: Time.optional().describe(
      'Time by which the answer is expected, if the step declares one. Nothing happens at that time.',
    ),
    dueAt: Time.optional(),
    heartbeat: z
      .object({
        withinMs: z.int().min(1),
        lastAt: Time.optional().describe('Time of the last recorded heartbeat, if any.'),
        timeoutAt: Time.optional().describe('Time at which the wait fails regardless of heartbeats.'),
      })
      .optional()
      .describe('Heartbeats required from the sender. Each recorded heartbeat moves `dueAt`.'),
    purpose: z.enum(['doubt', 'effect', 'budget']).optional(),
    day: z
      .string()
      .optional()
      .describe(
        'For the purpose `budget`: the UTC day whose budget the tenant has reached. The run resumes by itself at `dueAt`. Absent: the run has reached its own.',
      ),
    effectId: z.string().optional().describe('For the purpose `effect`: the effect in question.'),
    name: z.string().optional(),
    key: z.string().optional(),
    child: Child.optional(),
    detail: Value.optional().describe('For an approval: the question.'),
    dataSchema: Value.optional().describe(
      'JSON Schema of the data that an approval or event takes. `{}` if there is a schema that cannot be shown. The run has it, lists do not.',
    ),
    announced: z.literal(true).optional(),
  })
  .describe('An open wait: for an answer, an event, a time or a child run.');

const ExternalRegistration = z.object({
  kind: z.enum(['event', 'child']),
  waitId: z.string(),
  name: z.string().optional(),
  key: z.string().optional(),
  eventId: z.string().optional(),
  runId: z.string().optional(),
  onParentEnd: z.enum(ON_PARENT_END).optional(),
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
  tags: z.array(z.string()).optional().describe('Tags that the workflow gave it, as `name:value`.'),
  trigger: z.object({
    source: z.enum(['ui', 'cli', 'webhook', 'scheduled', 'api']),
    userId: z.string().optional(),
    webhookEventId: z.string().optional(),
    slotAt: Time.optional().describe('For a schedule.'),
  }),
  idempotencyKey: z.string().optional(),
  a2aCorrelationId: z.string().optional(),
  traceId: z.string(),
  planFingerprint: z.string().optional(),
  inputHash: z.string(),
  inputFrom: z
    .object({ runId: z.string(), checkpoint: Seq })
    .optional()
    .describe('Earlier run that stores the large input. Read it here like any other.'),
  rootRunId: z.string(),
  resumedFrom: z.string().optional(),
  source: z
    .object({
      runId: z.string(),
      mode: z.enum(SUCCESSOR_MODES),
      checkpointId: z.string().optional(),
      checkpointHead: z
        .string()
        .optional()
        .describe('Newest checkpoint of the source run when this run was created.'),
      stepId: z.string().optional(),
      forcedBy: z.string().optional(),
      signals: z
        .literal('carry')
        .optional()
        .describe('The run took over the unread signals of the source run.'),
    })
    .optional()
    .describe('For a successor: the source run and the starting point.'),
  effectScopes: z
    .array(z.object({ runId: z.string(), mode: z.enum(['replay', 'fork']) }))
    .optional()
    .describe('Replays and forks in the lineage, newest first.'),
  parent: z
    .object({ runId: z.string(), stepId: z.string(), topRunId: z.string().optional() })
    .optional()
    .describe('For a child: the parent run, the parent step, and the topmost run.'),
  versions: z
    .object({
      capabilities: z.string().optional(),
      bindings: z.string().optional(),
      registryRef: z.string().optional(),
    })
    .optional(),
};

const RunningStep = z.object({
  step: z.string().describe('Step id, or `id[itemKey]`.'),
  revision: z.int().min(1),
  attempt: z.int().min(1),
  since: Time.describe('Start of this attempt.'),
  location: Location.optional(),
  undoes: z.literal(true).optional().describe('`true` for the compensation of the step.'),
});

const progress = {
  status: ShownStatus,
  stopKind: StopKind.optional(),
  waitsFor: z
    .string()
    .optional()
    .describe(
      'Status that the open waits alone would give the run. The run is listed under this status as well as its own. Absent if it waits for nothing or is ending.',
    ),
  currentStep: z
    .string()
    .optional()
    .describe(
      'Current step: the running step that started first, else the step that waits or will be retried. Absent between short steps.',
    ),
  running: z
    .array(RunningStep)
    .describe(
      'Running bodies, oldest first. Lists show three. A body that runs longer than 2 s appears within 3 s.',
    ),
  runningCount: Count.describe('Number of running bodies.'),
  policySnapshotId: z.string().optional(),
  policyDue: z.boolean(),
  head: Seq.describe('Sequence number of the newest event.'),
  headHash: z.string(),
  checkpointHead: Count,
  schemaVersion: z.int(),
  lease: z
    .object({ owner: z.string(), epoch: Count, expiresAt: Time.describe('As last extended by its worker.') })
    .optional(),
  lastHeartbeatAt: Time.optional().describe('Last heartbeat of a worker.'),
  epoch: Count,
  dueAt: Time.optional(),
  deadlineAt: Time.optional(),
  wakeAt: Time.optional(),
  parked: z.string().optional(),
  inFlight: z.array(StepRef),
  steps: StepCounts.optional().describe(
    'Number of steps by state. Absent in lists for a run last written by an earlier version.',
  ),
  waits: z
    .array(Wait)
    .describe('Open waits. Lists show the first three, with at most 1,000 characters of each question.'),
  waitCount: Count.describe('Number of open waits.'),
  compensating: z.boolean(),
};

/** Amounts, and their cost in US dollars at list prices. */
export const Cost = z.object({
  reads: Count,
  writes: Count,
  deletes: Count,
  tasks: Count,
  usd: z.number().min(0),
});

export const Amounts = z.object({
  usd: z.number().min(0).optional(),
  tokens: Count.optional(),
  effects: Count.optional(),
  operations: Count.optional(),
  wallClockMs: Count.optional(),
});

const end = {
  error: RecordedError.optional(),
  cancellation: z
    .object({
      stopKind: StopKind,
      reason: z.string().optional(),
      requestedAt: Time,
      actor: z.string().optional(),
      withoutUndo: z.literal(true).optional(),
    })
    .optional(),
  suspension: z
    .object({ reason: z.string(), requestedAt: Time, actor: z.string().optional() })
    .optional()
    .describe('Present while an operator has suspended the run: no step is started until it is continued.'),
  supersededBy: z.string().optional().describe('The successor that resumed this run.'),
  replay: z.enum(['under_way', 'finished']).optional(),
  resumeCount: Count,
  interruptions: Count,
  suspect: z
    .object({
      times: Count,
      alone: z.boolean().describe('The run is dispatched alone, one body at a time.'),
      steps: z.array(z.string()),
      deaths: z.array(z.object({ step: z.string(), times: Count })),
      shutDown: z.array(z.string()).optional(),
    })
    .optional()
    .describe('A worker of the run died: steps that must end alone, and deaths by step while alone.'),
  failures: z
    .object({ times: Count, error: RecordedError.extend({ undo: UndoAttempts.optional() }) })
    .optional()
    .describe('Consecutive failed dispatches, and the error of the last one.'),
  createdAt: Time,
  startedAt: Time.optional(),
  updatedAt: Time,
  completedAt: Time.optional(),
  durationMs: Count.optional(),
  budget: z
    .object({
      limits: Amounts.describe('With all raises.'),
      spent: Amounts,
      reserved: Amounts.describe('By attempts that have not ended.'),
      askedMs: Count.describe('Time for which the run asked for more. It does not count as `wallClockMs`.'),
    })
    .optional()
    .describe('What the run may spend and has spent. Present if its workflow declares a budget.'),
  cost: Cost.describe(
    'Documents billed and tasks dispatched for the run so far, and their cost at list prices. See docs/prices.md.',
  ),
};

/** Members that only the run itself shows. Lists leave them out because they grow with each signal and step. */
const unlisted = {
  inbox: z
    .array(
      z.object({
        signalId: z.string(),
        name: z.string(),
        key: z.string().optional(),
        payload: Value,
        at: Time,
      }),
    )
    .describe('Unread signals. After the run has ended, a successor can take them over.'),
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
  ties: z.array(ExternalRegistration),
  effects: z
    .array(
      z.object({
        effectId: z.string(),
        step: z.string(),
        revision: z.int().min(1),
        capabilityId: z.string(),
      }),
    )
    .describe('Effects that were attempted and whose outcome is not known yet.'),
  itemMarks: z
    .record(z.string(), z.object({ revision: z.int(), items: z.string() }))
    .optional()
    .describe('For each map step that started: the number of items, and a hash of them.'),
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
  lastHandoff: z.array(Wait).optional(),
};

const Blocked = z.object({ code: z.enum(BLOCKED_CODES), since: Time });

export const RunSummary = z.object({
  ...identity,
  ...progress,
  ...end,
  blocked: Blocked.optional().describe(
    'Why the run makes no progress although it waits for nothing, judged by its first three waits. The run itself says what to do.',
  ),
});
export const RunPage = pageOfRuns(RunSummary);

const ValueRef = z
  .object({ checkpoint: Seq, sha256: z.string(), bytes: Count, chunks: Count })
  .describe('Large value. Read it at /v1/runs/{id}/checkpoints/{checkpoint}/output.');

const Progress = z.object({ step: z.string(), details: Value, at: Time });

export const Run = RunSummary.extend({
  ...unlisted,
  steps: StepCounts.describe('Number of steps by state.'),
  logs: z
    .object({ lines: Count, dropped: Count })
    .optional()
    .describe(
      'Lines that steps logged: how many are kept, and how many were not. Present if there are any. Read them at /v1/runs/{id}/logs.',
    ),
  progress: z
    .array(Progress)
    .optional()
    .describe('Last reported progress of bodies, at most one heartbeat old. Absent without a worker.'),
  leaseWait: z
    .object({ until: Time, steps: z.array(z.string()), why: z.string() })
    .optional()
    .describe(
      'For a run with a worker: time at which another worker takes over if this one has died, and why not earlier.',
    ),
  silentSince: Time.optional().describe('Time of the last heartbeat of a worker that missed one.'),
  finding: Finding.optional(),
  stopped: Stopped.optional(),
  blocked: Blocked.extend({ message: z.string(), help: z.string() })
    .optional()
    .describe(
      'Why the run makes no progress although it waits for nothing: its plan is not deployed, or it is deployed (`DISPATCH_DUE`) and the next scan dispatches the run. `resume` dispatches it immediately.',
    ),
  input: Value.optional(),
  inputRef: ValueRef.optional(),
  result: Value.optional(),
  resultRef: ValueRef.optional(),
});
