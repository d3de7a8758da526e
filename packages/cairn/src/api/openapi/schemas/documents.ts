/** Schemas of the documents of a run, as `views/documents.ts` returns them. */
import { z } from 'zod';
import { KEPT_LEVELS } from '../../../core/logs/line.ts';
import { STEP_KINDS } from '../../../core/run/data/step-kind.ts';
import { BOUNDARIES, STEP_STATUSES } from '../../../core/run/records.ts';
import { STEP_OUTCOMES } from '../../../core/run/state.ts';
import { INITIATORS } from '../../../core/run/status.ts';
import { Count, Location, OperationRequest, pageSchema, Seq, Time, Value } from './common.ts';

export const RunEvent = z.object({
  seq: Seq,
  id: z.string(),
  type: z.string().describe('New types may be added. Ignore unknown types.'),
  at: Time,
  initiator: z.enum(INITIATORS),
  actor: z.string().optional(),
  data: z.record(z.string(), Value),
  schemaVersion: z.int(),
  writer: z.object({ owner: z.string(), epoch: Count }).optional(),
  prevHash: z.string(),
  hash: z.string(),
});
export const EventPage = pageSchema(RunEvent);

export const Step = z.object({
  id: z.string().describe('Step id, or `id[itemKey]` for an item of a map step.'),
  kind: z.enum(STEP_KINDS),
  status: z.enum(STEP_STATUSES),
  planVersion: z.int().min(1),
  inputsHash: z.string().optional().describe('Absent during the first attempt.'),
  location: Location.optional(),
  outputsSummary: z.string().optional(),
  errorTrace: z.string().optional(),
  checkpoint: Seq.optional(),
  attempts: Count,
  startedAt: Time,
  updatedAt: Time,
  durationMs: Count.optional().describe(
    'Present once the step has ended. For a reused step, the duration of the original.',
  ),
  revision: z.int().min(1),
  compensated: z.boolean(),
});
export const StepPage = pageSchema(Step);

const At = { seq: Seq, revision: z.int().min(1) };
const StepState = z.discriminatedUnion('phase', [
  z.object({ phase: z.literal('running'), ...At, attempt: Count, startedAt: Time, polls: Count.optional() }),
  z.object({
    phase: z.literal('retrying'),
    ...At,
    attempt: Count,
    startedAt: Time,
    retryAt: Time,
    whenRoom: z.literal(true).optional(),
    polls: Count.optional().describe(
      'Attempts that did not fail: the polled condition did not hold, or the budget was reached.',
    ),
  }),
  z.object({ phase: z.enum(['waiting', 'again']), ...At }),
  z.object({
    phase: z.literal('done'),
    ...At,
    outcome: z.enum(STEP_OUTCOMES),
    durationMs: Count.optional().describe(
      'Present with `durations=true`. For a reused step, the duration of the original.',
    ),
  }),
]);
export const RunGraph = z.object({
  runId: z.string(),
  type: z.string(),
  planVersion: z.int().min(1),
  status: z.string(),
  head: Seq.describe('Sequence number of the newest event included.'),
  nodes: z
    .array(z.object({ id: z.string(), kind: z.string(), needs: z.array(z.string()) }))
    .optional()
    .describe('The steps of the plan in topological order. Present if that version is deployed.'),
  steps: z
    .array(z.intersection(z.object({ key: z.string().describe('Step id, or `id[itemKey]`.') }), StepState))
    .describe(
      'State of each step and item that has started. For a running body without an event yet, `seq` is `head`.',
    ),
});

export const Checkpoint = z.object({
  seq: Seq,
  boundary: z.enum(BOUNDARIES),
  planVersion: z.int().min(1),
  parent: Count,
  at: Time,
  stepId: z.string().optional(),
  itemKey: z.string().optional(),
  revision: z.int().optional(),
  attempt: Count.optional(),
  outcome: z.enum([...STEP_OUTCOMES, 'completed', 'cancelled']).optional(),
  inputsHash: z.string().optional(),
  request: OperationRequest.optional(),
  outputHash: z.string().optional(),
  output: Value.optional(),
  outputRef: z
    .object({ sha256: z.string(), bytes: Count, chunks: Count })
    .optional()
    .describe('Large output. Read it at /v1/runs/{id}/checkpoints/{seq}/output.'),
  outputFrom: z
    .object({ runId: z.string(), checkpoint: Seq })
    .optional()
    .describe('The output is stored with an earlier run. Read it here like any other.'),
  outputsSummary: z.string().optional(),
  errorTrace: z.string().optional(),
  agent: z.string().optional(),
  tokensUsed: z.object({ input: Count, output: Count }).optional(),
  microUsd: Count.optional().describe('Cost in millionths of a US dollar, as the step reported it.'),
  resumable: z.boolean().optional(),
  idempotent: z.boolean().optional(),
  startedAt: Time.optional(),
  durationMs: Count.optional(),
});
export const CheckpointPage = pageSchema(Checkpoint);

export const Memo = z.object({
  step: z.string().describe('Step id, or `id[itemKey]`.'),
  revision: z.int().min(1),
  undoes: z.literal(true).optional().describe('The compensation of the step recorded it.'),
  name: z.string(),
  value: Value,
  recordedAt: Time,
});
export const MemoPage = pageSchema(Memo);

export const LogLine = z.object({
  kind: z
    .enum(['log', 'dropped'])
    .describe(
      '`dropped` replaces the first line of an attempt that was not kept. New kinds may be added. Ignore unknown kinds.',
    ),
  at: Time,
  level: z.enum(KEPT_LEVELS),
  step: z.string().describe('Step id, or `id[itemKey]`.'),
  revision: z.int().min(1),
  attempt: Count,
  undoes: z.literal(true).optional().describe('A compensation of the step logged it.'),
  message: z.string(),
  fields: z.record(z.string(), Value).optional(),
  cut: z.literal(true).optional().describe('The message or fields were truncated.'),
});
export const LogPage = pageSchema(LogLine).extend({
  after: z
    .string()
    .optional()
    .describe('`cursor` for lines that are added later. Absent: the run has no lines.'),
  ended: z.boolean().describe('The run has ended: no more lines are added.'),
});

export const Output = Value.describe('Output of the step.');
