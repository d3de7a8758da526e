/** A run as `views/run.ts` shows it. */
import { z } from 'zod';
import { BLOCKED_CODES } from '../../../core/decisions/blocked.ts';
import { DECISIONS, ON_PARENT_END, STOP_KINDS, SUCCESSOR_MODES } from '../../../core/run/events.ts';
import { RUN_STATUSES, TRANSITIONS } from '../../../core/run/status.ts';
import { PROJECTED_WORDS } from '../../../core/run/vocabulary.ts';
import { Count, Finding, pageOfRuns, Seq, Time, Value } from './common.ts';

export const Status = z
  .enum(RUN_STATUSES)
  .describe(`Final: ${RUN_STATUSES.filter((status) => TRANSITIONS[status].length === 0).join(', ')}.`);
/** Of a read, which can be asked for in other words. */
const ShownStatus = z
  .enum(PROJECTED_WORDS as [string, ...string[]])
  .describe('One of our own statuses, unless `vocabulary` asked for the words of another system.');
const StopKind = z.enum(STOP_KINDS);
export const StepKind = z.enum(['step', 'map', 'approval', 'event', 'sleep', 'child']);

/** A step's error may carry a code of its own, so this is no list. */
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
      startedAt: Time,
    }),
    openedAt: Time,
    expectedAt: Time.optional().describe(
      'When the answer is expected, if the step says so. Nothing happens then.',
    ),
    dueAt: Time.optional(),
    heartbeat: z
      .object({
        withinMs: z.int().min(1),
        lastAt: Time.optional().describe('When the last recorded beat came. Absent: none has.'),
        timeoutAt: Time.optional().describe('When the wait fails however many beats come.'),
      })
      .optional()
      .describe('Signs of life that the sender owes: each recorded one moves `dueAt`.'),
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
  trigger: z.object({
    source: z.enum(['ui', 'cli', 'webhook', 'scheduled', 'api']),
    userId: z.string().optional(),
    webhookEventId: z.string().optional(),
    slotAt: Time.optional().describe('Of a schedule.'),
  }),
  idempotencyKey: z.string().optional(),
  a2aCorrelationId: z.string().optional(),
  traceId: z.string(),
  planFingerprint: z.string().optional(),
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
      checkpointHead: z
        .string()
        .optional()
        .describe('The newest checkpoint of that run when this one was made of it.'),
      stepId: z.string().optional(),
      forcedBy: z.string().optional(),
      signals: z.literal('carry').optional().describe('It took over the signals that nobody had read.'),
    })
    .optional()
    .describe('Of a successor: which run it was made of, and from where.'),
  effectScopes: z
    .array(z.object({ runId: z.string(), mode: z.enum(['replay', 'fork']) }))
    .optional()
    .describe('The replays and forks of its lineage, the newest first.'),
  parent: z
    .object({ runId: z.string(), stepId: z.string(), topRunId: z.string().optional() })
    .optional()
    .describe('Of a child: the run and the step that started it, and the run above all its parents.'),
  versions: z
    .object({
      capabilities: z.string().optional(),
      bindings: z.string().optional(),
      registryRef: z.string().optional(),
    })
    .optional(),
};

const RunningStep = z.object({
  step: z.string().describe('The id of the step, or `id[itemKey]`.'),
  revision: z.int().min(1),
  attempt: z.int().min(1),
  since: Time.describe('When this attempt began.'),
  undoes: z.literal(true).optional().describe('It is the compensation of the step.'),
});

const progress = {
  status: ShownStatus,
  stopKind: StopKind.optional(),
  waitsFor: z
    .string()
    .optional()
    .describe(
      'The status it would have if only its open waits were left: it is found by that status as well as by its own. Absent: it waits for nothing, or is about to end.',
    ),
  currentStep: z
    .string()
    .optional()
    .describe(
      'The step it is at: of several under way the one that began first, else the one it waits for or tries again. Absent between two short steps.',
    ),
  running: z
    .array(RunningStep)
    .describe(
      'The bodies under way, those that began first at the front; a list shows three. One that takes longer than 2 s is named within 3 s.',
    ),
  runningCount: Count.describe('How many bodies are under way.'),
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
  steps: StepCounts.optional().describe(
    'How many steps stand where; a list has none of a run that was last written by an earlier version.',
  ),
  waits: z
    .array(Wait)
    .describe(
      'What it waits for; a list shows the first three, with at most 1,000 characters of each question.',
    ),
  waitCount: Count.describe('How many waits are open.'),
  compensating: z.boolean(),
};

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
    .describe('An operator had it stand: no step of it is started until it is continued.'),
  supersededBy: z.string().optional().describe('The successor that resumed it.'),
  replay: z.enum(['under_way', 'finished']).optional(),
  resumeCount: Count,
  interruptions: Count,
  suspect: z
    .object({
      times: Count,
      alone: z.boolean().describe('It is dispatched alone, one body at a time.'),
      steps: z.array(z.string()),
      deaths: z.array(z.object({ step: z.string(), times: Count })),
      shutDown: z.array(z.string()).optional(),
    })
    .optional()
    .describe('A dispatch of it died: the steps that have to end alone, and deaths while alone by step.'),
  failures: z
    .object({ times: Count, error: RecordedError })
    .optional()
    .describe('Dispatches in a row that threw and let go of it, and what the last one said.'),
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
    .describe(
      'Signals that no step has read. Those of a run that has ended stay here, and a successor can take them over.',
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
  itemMarks: z
    .record(z.string(), z.object({ revision: z.int(), items: z.string() }))
    .optional()
    .describe('Of each set that began: how many items its list had, and a hash of them.'),
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
    'Why it does not go on although it waits for nobody, as far as its first three waits tell; the run itself has what to do.',
  ),
});
export const RunPage = pageOfRuns(RunSummary);

const ValueRef = z
  .object({ checkpoint: Seq, sha256: z.string(), bytes: Count, chunks: Count })
  .describe('A large value: read it at /v1/runs/{id}/checkpoints/{checkpoint}/output.');

const Progress = z.object({ step: z.string(), details: Value, at: Time });

export const Run = RunSummary.extend({
  ...unlisted,
  steps: StepCounts.describe('How many steps stand where.'),
  progress: z
    .array(Progress)
    .optional()
    .describe('Of a run that is driven: what its bodies last said of themselves, up to a heartbeat ago.'),
  leaseWait: z
    .object({ until: Time, steps: z.array(z.string()), why: z.string() })
    .optional()
    .describe(
      'Of a run that is driven: should its worker have died, another takes it over at this time and not at once, and why.',
    ),
  finding: Finding.optional(),
  blocked: Blocked.extend({ message: z.string(), help: z.string() })
    .optional()
    .describe(
      'Why it does not go on although it waits for nobody: its plan is not deployed, or it is (`DISPATCH_DUE`) and the next look sets it going. `resume` has it go on at once.',
    ),
  input: Value.optional(),
  inputRef: ValueRef.optional(),
  result: Value.optional(),
  resultRef: ValueRef.optional(),
});
