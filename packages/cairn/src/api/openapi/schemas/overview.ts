/** What many runs together are shown as: the inbox, counts, what a search finds. */
import { z } from 'zod';
import { RUN_STATUSES, type RunStatus } from '../../../core/run/status.ts';
import { NAMES_OF_RUNS } from '../../../core/search/found-by.ts';
import { ANSWERS, QUESTION_KINDS } from '../../../operations/inbox/questions.ts';
import { MOST_COUNTED } from '../../../operations/search/run-counts.ts';
import { FINDINGS_READ } from '../../../ports/diagnosis/findings.ts';
import { Count, Finding, pageOfRuns, Time, Value } from './common.ts';
import { RunSummary, Status } from './runs.ts';

export const InboxItem = z
  .object({
    runId: z.string(),
    type: z.string(),
    status: Status,
    threadId: z.string(),
    repoId: z.string().optional(),
    prUrl: z.string().optional(),
    kind: z
      .enum(QUESTION_KINDS)
      .describe(
        '`approval`: a step asks. `step_in_doubt`: a crash cut off a step that must not run twice. `effect_in_doubt`: what became of an outside action, or may it be repeated? `left_in_doubt`: the same of a run that has ended.',
      ),
    step: z.string(),
    waitId: z
      .string()
      .optional()
      .describe('Name it with the decision, so that no later question is answered.'),
    question: z.string(),
    detail: Value.optional().describe('All that is asked, where there is more to it than the question.'),
    isCut: z.literal(true).optional().describe('The run shows more of the question.'),
    openedAt: Time,
    dueAt: Time.optional(),
    effectId: z.string().optional(),
    capabilityId: z.string().optional(),
    attemptedAt: Time.optional().describe('Of `left_in_doubt`: when it was called.'),
    answers: z
      .array(z.enum(ANSWERS))
      .describe(
        'What would be taken: decisions of …/approvals/{step}, resolutions of …/effects/{effectId}/resolve, or `resume`.',
      ),
    more: Count.optional().describe('How many more questions the run has; at its last item.'),
  })
  .describe('One open question to a person.');

const statuses = Object.fromEntries(RUN_STATUSES.map((status) => [status, Count])) as Record<
  RunStatus,
  typeof Count
>;

export const RunCounts = z.object({
  counts: z.object(statuses).describe('By status, also those of no run.'),
  isCut: z.boolean().describe(`One of them is ${MOST_COUNTED} or more; none is counted beyond that.`),
});

export const FoundRuns = z.object({
  items: z.array(
    z.object({ by: z.enum(NAMES_OF_RUNS).describe('What was found to be the name.'), run: RunSummary }),
  ),
});

export const InboxPage = pageOfRuns(InboxItem).extend({
  findings: z
    .array(Finding.extend({ runId: z.string(), type: z.string() }))
    .optional()
    .describe(
      `With the first page: runs that get nowhere until somebody mends something, ${FINDINGS_READ} at most.`,
    ),
});
