/** What becomes of runs that have ended, as `views/retention.ts` shows it. */
import { z } from 'zod';
import { END_STATUSES } from '../../../core/retention/policy.ts';
import { Count, pageOf, Time } from './common.ts';

const Hold = z
  .object({ by: z.string(), at: Time, reason: z.string() })
  .describe('Who said that neither the run nor anything of its lineage is to be deleted.');

const Because = z.object({
  why: z
    .enum(['live', 'owes', 'held', 'not_due', 'parent', 'child', 'too_many'])
    .describe(
      'What keeps the lineage: a run that has not ended, whose end others have yet to hear of, that is held, or that is to be kept longer; the parent of one that is still there, or a live child of one; or that it has more runs than are looked at.',
    ),
  runId: z.string().describe('The run of the lineage that keeps it.'),
  until: Time.optional().describe('Of `not_due`; absent: for ever.'),
  relatedRunId: z.string().optional().describe('Of `parent` and `child`: that run.'),
});

const fate = {
  runId: z.string(),
  rootRunId: z.string().describe('Names the lineage: it goes as a whole, or not at all.'),
  runs: Count.describe('Of the lineage.'),
  would: z.enum(['delete', 'keep']),
  because: Because.optional().describe('What keeps it.'),
};

export const Erasure = z.object({
  id: z.string(),
  scope: z.enum(['lineage', 'tenant']),
  state: z.enum(['open', 'done']).describe('`done`: nothing of it is left, as the store was asked.'),
  lineagesLeft: Count.describe('Of `lineage`: those that are not gone.'),
  keptBy: z
    .object({ why: Because.shape.why, runId: z.string() })
    .optional()
    .describe('What kept a lineage at the last look.'),
  gone: z
    .object({
      runs: Count,
      documents: Count.describe('Journal, checkpoints, steps, remembered results, large values.'),
      effects: Count.describe('Rows of the ledger.'),
      records: Count.describe('Idempotency records.'),
      waits: Count,
      schedules: Count,
      published: Count.describe('Events that were published before: they are with their subscribers.'),
    })
    .describe('Documents that were deleted, by what they were.'),
  requestedAt: Time,
  finishedAt: Time.optional(),
});

export const RunHeld = z.object({ runId: z.string(), legalHold: Hold });
export const RunReleased = z.object({ runId: z.string() });
export const RunRetention = z.object({
  ...fate,
  expiresAt: Time.optional().describe(
    'From when on it may go by itself; absent: it is kept for ever, or has not ended.',
  ),
  legalHold: Hold.optional(),
});
export const ExpiredRunPage = pageOf(
  z.object({ ...fate, type: z.string(), status: z.enum(END_STATUSES), completedAt: Time }),
);
