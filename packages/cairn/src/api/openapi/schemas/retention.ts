/** Schemas of retention, as `views/retention.ts` returns it. */
import { z } from 'zod';
import { ERASURE_SCOPES } from '../../../core/retention/erasure.ts';
import { END_STATUSES } from '../../../core/retention/policy.ts';
import { Count, pageSchema, Time } from './common.ts';

const Hold = z
  .object({ by: z.string(), at: Time, reason: z.string() })
  .describe('Who placed the legal hold on the lineage.');

const Because = z.object({
  why: z
    .enum(['live', 'owes', 'held', 'not_due', 'parent', 'child', 'too_many'])
    .describe(
      'Why the lineage is kept: a run has not ended, its end is not announced yet, it has a legal hold, or its retention period has not passed; a parent still exists, or a child is live; or the lineage has more runs than are checked.',
    ),
  runId: z.string().describe('The run that keeps the lineage.'),
  until: Time.optional().describe('For `not_due`: end of the retention period. Absent if it is unlimited.'),
  relatedRunId: z.string().optional().describe('For `parent` and `child`: that run.'),
});

const retentionState = {
  runId: z.string(),
  rootRunId: z.string().describe('Id of the lineage. A lineage is deleted as a whole or not at all.'),
  runs: Count.describe('Run of the lineage.'),
  would: z.enum(['delete', 'keep']),
  because: Because.optional().describe('Why it is kept.'),
};

export const Erasure = z.object({
  id: z.string(),
  scope: z.enum(ERASURE_SCOPES),
  state: z
    .enum(['open', 'done'])
    .describe('`done`: the store was queried and has no more documents of it from before the request.'),
  lineagesLeft: Count.describe('For `lineage`: runs that remain.'),
  keptBy: z
    .object({ why: Because.shape.why, runId: z.string() })
    .optional()
    .describe('Why the lineage was kept at the last attempt.'),
  gone: z
    .object({
      runs: Count,
      documents: Count.describe('Journal, checkpoints, steps, memos, large values.'),
      effects: Count.describe('Ledger rows.'),
      records: Count.describe('Idempotency records.'),
      waits: Count,
      schedules: Count,
      published: Count.describe('Events published earlier. Their subscribers keep their copies.'),
    })
    .describe('Deleted documents by kind.'),
  requestedAt: Time,
  requestedBy: z
    .string()
    .optional()
    .describe(
      'API client that asked. Absent if a user asked: the log line `erasure_requested` names the user.',
    ),
  finishedAt: Time.optional(),
});
export const ErasurePage = pageSchema(Erasure).extend({
  unreadable: z
    .array(z.string())
    .optional()
    .describe('Erasures of this page whose documents cannot be read. They are not continued.'),
});

export const RunHeld = z.object({ runId: z.string(), legalHold: Hold });
export const RunReleased = z.object({ runId: z.string() });
export const RunRetention = z.object({
  ...retentionState,
  expiresAt: Time.optional().describe(
    'Time from which retention may delete it. Absent if it is kept indefinitely or has not ended.',
  ),
  legalHold: Hold.optional(),
});
export const ExpiredRunPage = pageSchema(
  z.object({ ...retentionState, type: z.string(), status: z.enum(END_STATUSES), completedAt: Time }),
);
