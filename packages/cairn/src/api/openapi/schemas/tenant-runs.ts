/** Schemas of the routes about all runs of a tenant: inbox, counts, statistics, search, and the daily budget. */
import { z } from 'zod';
import { RESOLUTIONS } from '../../../core/effects/effect.ts';
import { RUN_STATUSES, type RunStatus } from '../../../core/run/status.ts';
import { NAMES_OF_RUNS } from '../../../core/search/found-by.ts';
import { MAX_CAUSES, PARTS } from '../../../core/statistics/summarize-runs.ts';
import { EXTERNAL_READ } from '../../../operations/effects/external.ts';
import { ANSWERS, QUESTION_KINDS } from '../../../operations/inbox/questions.ts';
import { MAX_RUNS_READ } from '../../../operations/search/read-statistics.ts';
import { MAX_COUNTED } from '../../../operations/search/run-counts.ts';
import { FINDINGS_READ } from '../../../ports/diagnosis/findings.ts';
import { Count, Finding, pageOfRuns, Time, Value } from './common.ts';
import { Amounts, Cost, RunSummary, Status } from './runs.ts';

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
        '`approval`: a step asks for a decision. `step_in_doubt`: a crash interrupted a step that must not run twice. `effect_in_doubt`: the outcome of an effect is unknown, or its repetition needs permission. `left_in_doubt`: an effect of an ended run has an unknown outcome. `budget_reached`: the run has spent its budget and asks for more.',
      ),
    step: z.string(),
    waitId: z
      .string()
      .optional()
      .describe('Send it with the decision, so that the decision cannot apply to a later question.'),
    question: z.string(),
    detail: Value.optional().describe('Further details of the question.'),
    to: z
      .array(z.string())
      .optional()
      .describe('People or groups who are asked, as the workflow names them.'),
    dataSchema: Value.optional().describe('JSON Schema of the data that `approve` takes.'),
    isCut: z.literal(true).optional().describe('The question is truncated. The run has the full text.'),
    openedAt: Time,
    dueAt: Time.optional(),
    effectId: z.string().optional(),
    capabilityId: z.string().optional(),
    request: Value.optional().describe(
      'For a question about an effect: request of the call without its secret fields. Absent if it is large.',
    ),
    error: z
      .string()
      .optional()
      .describe('Of an effect: how the last attempt of its call ended, as far as known.'),
    attemptedAt: Time.optional().describe('Time of the last call, whose outcome is unknown.'),
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
  isCut: z.boolean().describe(`\`true\` if a count reached ${MAX_COUNTED}, the most that are counted.`),
});

const figures = {
  runs: Count,
  completed: Count,
  failed: Count,
  cancelled: Count,
  live: Count.describe('Runs that have not ended.'),
  suspects: Count.describe(
    'Live runs whose worker died, and which are dispatched alone until they are cleared.',
  ),
  failureShare: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe('Failed runs among those that completed or failed. Absent if none did.'),
  p50Ms: Count.optional().describe(
    'Median duration of completed runs, from the first dispatch to the end, waits included. Absent if none completed.',
  ),
  p95Ms: Count.optional(),
  cost: Cost,
};

const { suspects: _, cost: __, ...partFigures } = figures;

export const RunStatistics = z.object({
  from: Time.describe('Start of the time that is covered; later than `since` if `isCut`.'),
  until: Time,
  isCut: z
    .boolean()
    .describe(
      `\`true\`: there are more than ${MAX_RUNS_READ} runs; only the newest were read. \`from\` is the creation of the oldest of them.`,
    ),
  unreadable: Count.describe('Number of runs with damaged documents, which are not counted.'),
  total: z.object(figures),
  versions: z
    .array(z.object({ type: z.string(), planVersion: z.int(), ...figures }))
    .describe('By workflow and version, the newest version first.'),
  parts: z
    .array(
      z.object({
        from: Time,
        ...figures,
        versions: z
          .array(z.object({ planVersion: z.int(), ...partFigures }))
          .optional()
          .describe('By version, the newest first, if the runs are those of one workflow (`type`).'),
      }),
    )
    .describe(`The time in ${PARTS} equal parts, oldest first. A run counts where it was created.`),
  causes: z
    .array(
      z.object({
        type: z.string(),
        code: z.string(),
        step: z.string().optional(),
        runs: Count,
        last: z
          .object({ runId: z.string(), at: Time, message: z.string() })
          .describe('The newest of them, with the message of its error.'),
      }),
    )
    .describe(
      `Failed runs by workflow, error code and step, the most frequent first; at most ${MAX_CAUSES}.`,
    ),
});

export const FoundRuns = z.object({
  items: z.array(
    z.object({ by: z.enum(NAMES_OF_RUNS).describe('The kind of identifier that matched.'), run: RunSummary }),
  ),
});

const ExternalQuestion = z
  .object({
    owner: z.string().describe('Takes the place of a run id in /v1/runs/{id}/effects and …/resolve.'),
    key: z.string().describe('Key given by the function.'),
    effectId: z.string(),
    capabilityId: z.string(),
    why: z.enum(['doubt', 'confirmation']),
    question: z.string(),
    request: Value.optional().describe('Request without its secret fields. Absent if it is large.'),
    calledAt: Time.describe('Time of the call, or of the question.'),
    openedAt: Time,
    answers: z.array(z.enum(RESOLUTIONS)),
  })
  .describe('A question about an effect without a run.');

export const InboxPage = pageOfRuns(InboxItem).extend({
  findings: z
    .array(Finding.extend({ runId: z.string(), type: z.string() }))
    .optional()
    .describe(
      `Only on the first page: runs that make no progress until an operator acts, at most ${FINDINGS_READ}.`,
    ),
  external: z
    .array(ExternalQuestion)
    .optional()
    .describe(
      `Only on the first page: effects without a run that ask a person, the longest-waiting first, at most ${EXTERNAL_READ}.`,
    ),
  unreadableEffects: z
    .array(z.string())
    .optional()
    .describe('Rows of such effects that cannot be read. Restore them from a backup.'),
});

export const DayBudget = z
  .object({
    tenantId: z.string(),
    day: z.string().describe('The current UTC day, such as `2026-11-23`.'),
    nextDayAt: Time,
    limits: Amounts.describe('With all raises. Empty: the tenant has no limit.'),
    spent: Amounts,
    held: Amounts.describe('Taken by dispatches under way, and not yet settled.'),
    raises: z.array(z.object({ by: z.string(), at: Time, amounts: Amounts })),
  })
  .describe(
    'What all runs of a tenant may spend on the current UTC day, and have spent. See docs/budgets.md.',
  );
