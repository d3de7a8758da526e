/** What resumes and previews of successors are answered with. */
import { z } from 'zod';
import { SUCCESSOR_MODES } from '../../../core/run/events.ts';
import { RunStarted } from './changes.ts';
import { Count, Problem, Seq, Time } from './common.ts';
import { Status, StepKind } from './runs.ts';

export const Resumed = z.union([
  RunStarted,
  z.object({
    runId: z.string(),
    status: Status,
    outcome: z.enum(['resumed', 'moving']).describe('`moving`: nothing held the run up.'),
  }),
]);

const WHY = [
  'from_start',
  'chosen',
  'follows_chosen',
  'not_reached',
  'failed',
  'not_completed',
  'undone',
  'undo_failed',
  'effect_in_doubt',
  'not_resumable',
  'needs_run',
  'changed',
] as const;

const ForetoldStep = z.object({
  id: z.string(),
  kind: StepKind,
  revision: z.int().min(1),
  action: z.enum(['reused', 'runs']),
  from: z.object({ runId: z.string(), checkpoint: Seq }).optional().describe('Whose output is taken over.'),
  why: z.enum(WHY).optional().describe('Why it runs.'),
  items: Count.optional().describe('Of a set that runs: how many items are taken over.'),
});

const ForetoldEffect = z.object({
  effectId: z.string(),
  runId: z.string(),
  stepId: z.string(),
  itemKey: z.string().optional(),
  revision: z.int().min(1),
  capabilityId: z.string(),
  action: z
    .enum(['reused', 're-executed', 'asked', 'looked_up'])
    .describe('If the step asks for the same again. `asked`: a person says first.'),
  why: z.enum(['recorded', 'policy', 'not_applied', 'in_doubt']),
});

export const SuccessorPreview = z.object({
  runId: z.string(),
  mode: z.enum(SUCCESSOR_MODES),
  would: z
    .enum(['start_successor', 'unpark', 'nothing'])
    .describe('`unpark`: the run has not ended, and is only set going again.'),
  planVersion: z.int().min(1),
  steps: z.array(ForetoldStep),
  effects: z.array(ForetoldEffect),
  effectsCut: z.boolean().describe('More outside actions are recorded than are shown.'),
  unread: z
    .array(z.object({ signalId: z.string(), name: z.string(), key: z.string().optional(), at: Time }))
    .describe(
      'Signals that no step of the run has read, at most 100. With `"signals": "carry"` the successor takes them over.',
    ),
  blockers: z.array(Problem).describe('What stands in the way: what the request would be refused with.'),
});
