/** How an installation fares, as `views/diagnosis.ts` shows it. */
import { z } from 'zod';
import { BEATING } from '../../../ports/diagnosis/heartbeats.ts';
import { Count, Time, Value } from './common.ts';

const Finding = z.object({
  code: z.string().describe('Stable: branch on this. Codes are only ever added.'),
  state: z.enum(['well', 'note', 'wrong']),
  what: z.string(),
  help: z.string().optional().describe('What can be done.'),
  evidence: z.record(z.string(), Value).optional().describe('Numbers and names, by code.'),
});

const Billed = z.object({ reads: Count, writes: Count, deletes: Count });
const Ms = Count.describe('Milliseconds.');

export const Diagnosis = z
  .object({
    at: Time.describe('When it was looked. Who asks within some seconds is told of the same look.'),
    version: z.string(),
    project: z.string(),
    environment: z.string(),
    clockSkewMs: z.int().optional().describe("How far the instance's clock is ahead of the store's."),
    findings: z
      .array(Finding)
      .describe('What is wrong first, then what is worth knowing, then what is well.'),
    functions: z
      .array(
        z.object({
          name: z.enum(BEATING),
          lastAt: Time,
          tookMs: Ms,
          outcome: z
            .enum(['done', 'off', 'failed'])
            .describe('off: the kill switch was on, and it did nothing.'),
          error: z.string().optional(),
        }),
      )
      .describe('The scheduled functions that have run, each with its last run.'),
    scan: z
      .object({
        lastAt: Time.optional(),
        lagMs: Ms.optional().describe('How far the run that is due longest lies behind.'),
        due: Count.optional(),
        isCut: z.boolean().optional().describe('There are more runs than were looked at.'),
      })
      .describe('The minutely look for runs that nobody touched in time, and what it has before it.'),
    queue: z
      .object({
        state: z.enum(['running', 'paused', 'disabled', 'unknown', 'missing', 'denied']).optional(),
        depth: Count.optional().describe('Tasks in it, those for later included.'),
        isCut: z.boolean().optional(),
        oldestMs: Ms.optional().describe('For how long a task has been due.'),
      })
      .describe('The queue that drives runs.'),
    leases: z
      .object({ held: Count.optional(), stale: Count.optional() })
      .describe('Runs that a worker has, and such whose worker died without anybody taking them over.'),
    problems: z
      .array(z.object({ code: z.string(), count: Count }))
      .describe('What the hourly look at some runs last found.'),
    sample: z.object({ at: Time, checked: Count }).optional().describe('That look.'),
    schedules: z.object({ late: Count.optional(), isCut: z.boolean().optional() }),
    published: z
      .object({
        isOn: z.boolean(),
        behind: Count.optional().describe('Runs that nobody drives and whose events are not all published.'),
      })
      .describe('The events of runs on their topic.'),
    operations: z
      .object({ of: z.literal('this instance'), since: Time, total: Billed, lastMinute: Billed })
      .describe(
        'Documents that the store bills to the instance that answers. Others, as those that drive, count their own.',
      ),
  })
  .describe('Members that could not be seen are absent, and a finding with the code UNSEEN says so.');
