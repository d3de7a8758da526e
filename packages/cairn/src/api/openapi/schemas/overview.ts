/** Schemas of the inbox, counts and search. */
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
        '`approval`: a step asks for a decision. `step_in_doubt`: a crash interrupted a step that must not run twice. `effect_in_doubt`: the outcome of an effect is unknown, or its repetition needs permission. `left_in_doubt`: an effect of an ended run has an unknown outcome.',
      ),
    step: z.string(),
    waitId: z
      .string()
      .optional()
      .describe('Send it with the decision, so that the decision cannot apply to a later question.'),
    question: z.string(),
    detail: Value.optional().describe('Further details of the question.'),
    isCut: z.literal(true).optional().describe('The question is truncated. The run has the full text.'),
    openedAt: Time,
    dueAt: Time.optional(),
    effectId: z.string().optional(),
    capabilityId: z.string().optional(),
    attemptedAt: Time.optional().describe('For `left_in_doubt`: time of the call.'),
    answers: z
      .array(z.enum(ANSWERS))
      .describe(
        'Accepted answers: decisions of …/approvals/{step}, resolutions of …/effects/{effectId}/resolve, or `resume`.',
      ),
    more: Count.optional().describe('Number of further questions of the run. Only on its last item.'),
  })
  .describe('An open question.');

const statuses = Object.fromEntries(RUN_STATUSES.map((status) => [status, Count])) as Record<
  RunStatus,
  typeof Count
>;

export const RunCounts = z.object({
  counts: z.object(statuses).describe('Count by status, including statuses with no runs.'),
  isCut: z.boolean().describe(`\`true\` if a count reached ${MOST_COUNTED}, the most that are counted.`),
});

export const FoundRuns = z.object({
  items: z.array(
    z.object({ by: z.enum(NAMES_OF_RUNS).describe('The kind of identifier that matched.'), run: RunSummary }),
  ),
});

export const InboxPage = pageOfRuns(InboxItem).extend({
  findings: z
    .array(Finding.extend({ runId: z.string(), type: z.string() }))
    .optional()
    .describe(
      `Only on the first page: runs that make no progress until an operator acts, at most ${FINDINGS_READ}.`,
    ),
});
