/** Schemas of resumes and previews of successors. */
import { z } from 'zod';
import { RERUN_REASONS } from '../../../core/decisions/successor.ts';
import { SUCCESSOR_MODES } from '../../../core/run/events.ts';
import { RunStarted } from './changes.ts';
import { Count, Problem, Seq, Time } from './common.ts';
import { Status, StepKind } from './runs.ts';

export const Resumed = z.union([
  RunStarted,
  z.object({
    runId: z.string(),
    status: Status,
    outcome: z.enum(['resumed', 'moving']).describe('`moving`: the run was not blocked.'),
  }),
]);

const ForetoldStep = z.object({
  id: z.string(),
  kind: StepKind,
  revision: z.int().min(1),
  action: z.enum(['reused', 'runs']),
  from: z.object({ runId: z.string(), checkpoint: Seq }).optional().describe('Run whose output is reused.'),
  why: z.enum(RERUN_REASONS).optional().describe('Why the step runs.'),
  items: Count.optional().describe('For a map step that runs: number of items reused.'),
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
    .describe('What happens if the step makes the same call again. `asked`: an operator decides first.'),
  why: z.enum(['recorded', 'policy', 'not_applied', 'in_doubt']),
});

export const SuccessorPreview = z.object({
  runId: z.string(),
  mode: z.enum(SUCCESSOR_MODES),
  would: z
    .enum(['start_successor', 'unpark', 'nothing'])
    .describe('`unpark`: the run has not ended and is dispatched again.'),
  planVersion: z.int().min(1),
  steps: z.array(ForetoldStep),
  effects: z.array(ForetoldEffect),
  effectsCut: z.boolean().describe('More effects are recorded than are shown.'),
  unread: z
    .array(z.object({ signalId: z.string(), name: z.string(), key: z.string().optional(), at: Time }))
    .describe(
      'Unread signals of the run, at most 100. With `"signals": "carry"` the successor takes them over.',
    ),
  blockers: z.array(Problem).describe('Error that the request would return, if any.'),
});
