/** Report of a change of many runs. */
import { z } from 'zod';
import { BULK_FORECASTS } from '../../../operations/bulk/preview-change.ts';
import { BULK_ACTS } from '../../../operations/bulk/target.ts';
import { ApprovalDecided, Cancellation } from './changes.ts';
import { Count, Problem } from './common.ts';
import { Resumed } from './successors.ts';

const BulkResult = z.object({
  runId: z.string(),
  stepId: z.string().optional(),
  waitId: z.string().optional(),
  outcome: z
    .enum(['done', 'possible', 'failed', 'retry'])
    .describe(
      '`possible`: only with `dryRun`. `failed`: `problem` says why. `retry`: there is no outcome yet; send the same request again.',
    ),
  answer: z
    .union([Cancellation, ApprovalDecided, Resumed])
    .optional()
    .describe('With `done`: what the route of the single change responds.'),
  would: z
    .object({
      would: z
        .enum(BULK_FORECASTS)
        .describe(
          '`ask_to_end`: its worker ends the run, after undoing completed steps where necessary. `nothing`: nothing to do.',
        ),
      stepsReused: Count.optional(),
      stepsRun: Count.optional(),
      effectsRepeated: Count.optional(),
      effectsAsked: Count.optional().describe(
        'Effects that a person is asked about before they are repeated.',
      ),
    })
    .optional()
    .describe('With `possible`.'),
  problem: Problem.optional().describe('With `failed` and `retry`.'),
});

export const BulkReport = z.object({
  act: z.enum(BULK_ACTS),
  dryRun: z.boolean(),
  counts: z.object({ done: Count, possible: Count, failed: Count, retry: Count }),
  results: z.array(BulkResult),
  next: z.string().optional().describe('With `filter`: `cursor` of the request for the runs that follow.'),
});
