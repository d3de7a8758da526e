/** What lies under a run, as `views/documents.ts` shows it. */
import { z } from 'zod';
import { Count, pageOf, Seq, Time, Value } from './common.ts';

export const RunEvent = z.object({
  seq: Seq,
  id: z.string(),
  type: z.string().describe('Types are added: pass over those you do not know.'),
  at: Time,
  initiator: z.enum(['user', 'system', 'timeout', 'policy', 'webhook', 'approval']),
  actor: z.string().optional(),
  data: z.record(z.string(), Value),
  schemaVersion: z.int(),
  writer: z.object({ owner: z.string(), epoch: Count }).optional(),
  prevHash: z.string(),
  hash: z.string(),
});
export const EventPage = pageOf(RunEvent);

export const Step = z.object({
  id: z.string().describe('Of the step, or `id[itemKey]` of an item of a map.'),
  kind: z.enum(['step', 'map', 'approval', 'event', 'sleep', 'child']),
  status: z.enum(['pending', 'running', 'waiting', 'succeeded', 'degraded', 'skipped', 'failed']),
  planVersion: z.int().min(1),
  inputsHash: z.string().optional().describe('Absent while a first attempt is under way.'),
  outputsSummary: z.string().optional(),
  errorTrace: z.string().optional(),
  checkpoint: Seq.optional(),
  attempts: Count,
  startedAt: Time,
  updatedAt: Time,
  durationMs: Count.optional().describe('Once it has ended; of a reused step, how long the original took.'),
  revision: z.int().min(1),
  compensated: z.boolean(),
});
export const StepPage = pageOf(Step);

const At = { seq: Seq, revision: z.int().min(1) };
const StepState = z.discriminatedUnion('phase', [
  z.object({
    phase: z.literal('running'),
    ...At,
    attempt: Count,
    startedAt: Time,
    polls: Count.optional(),
  }),
  z.object({
    phase: z.literal('retrying'),
    ...At,
    attempt: Count,
    startedAt: Time,
    retryAt: Time,
    whenRoom: z.literal(true).optional(),
    polls: Count.optional().describe('Attempts that found the condition which the step polls not to hold.'),
  }),
  z.object({ phase: z.enum(['waiting', 'again']), ...At }),
  z.object({
    phase: z.literal('done'),
    ...At,
    outcome: z.enum(['succeeded', 'degraded', 'skipped', 'reused', 'failed']),
    durationMs: Count.optional().describe(
      'With `durations=true`; of a reused step, how long the original took.',
    ),
  }),
]);
export const RunGraph = z.object({
  runId: z.string(),
  type: z.string(),
  planVersion: z.int().min(1),
  status: z.string(),
  head: Seq.describe('The newest event that is in it.'),
  nodes: z
    .array(z.object({ id: z.string(), kind: z.string(), needs: z.array(z.string()) }))
    .optional()
    .describe('The plan, in an order in which it could run; if that version is deployed.'),
  steps: z
    .array(
      z.intersection(
        z.object({ key: z.string().describe('The id of the step, or `id[itemKey]`.') }),
        StepState,
      ),
    )
    .describe(
      'Where each step and item stands that has begun. Of a body under way that has left no event yet, `seq` is `head`.',
    ),
});

export const Checkpoint = z.object({
  seq: Seq,
  boundary: z.enum(['run_created', 'run_started', 'step_completed', 'suspended', 'run_finished']),
  planVersion: z.int().min(1),
  parent: Count,
  at: Time,
  stepId: z.string().optional(),
  itemKey: z.string().optional(),
  revision: z.int().optional(),
  attempt: Count.optional(),
  outcome: z
    .enum(['succeeded', 'degraded', 'skipped', 'reused', 'failed', 'completed', 'cancelled'])
    .optional(),
  inputsHash: z.string().optional(),
  outputHash: z.string().optional(),
  output: Value.optional(),
  outputRef: z
    .object({ sha256: z.string(), bytes: Count, chunks: Count })
    .optional()
    .describe('A large output: read it at /v1/runs/{id}/checkpoints/{seq}/output.'),
  outputFrom: z
    .object({ runId: z.string(), checkpoint: Seq })
    .optional()
    .describe('It was taken over from an earlier run, which has the output; it is read here like any other.'),
  outputsSummary: z.string().optional(),
  errorTrace: z.string().optional(),
  agent: z.string().optional(),
  tokensUsed: z.object({ input: Count, output: Count }).optional(),
  resumable: z.boolean().optional(),
  idempotent: z.boolean().optional(),
  startedAt: Time.optional(),
  durationMs: Count.optional(),
});
export const CheckpointPage = pageOf(Checkpoint);

export const Output = Value.describe('What the step returned.');
