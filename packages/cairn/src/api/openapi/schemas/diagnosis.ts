/** Schemas of the diagnosis, as `views/diagnosis.ts` returns it. */
import { z } from 'zod';
import { SCHEDULED_FUNCTIONS } from '../../../ports/diagnosis/heartbeats.ts';
import { Count, Time, Value } from './common.ts';

const Finding = z.object({
  code: z.string().describe('Stable code. Codes are added, never removed or changed.'),
  state: z.enum(['well', 'note', 'wrong']),
  what: z.string(),
  help: z.string().optional().describe('How to fix it.'),
  evidence: z.record(z.string(), Value).optional().describe('Figures and names, depending on the code.'),
});

const Billed = z.object({ reads: Count, writes: Count, deletes: Count });
const Ms = Count.describe('Milliseconds.');

export const Diagnosis = z
  .object({
    at: Time.describe('Time of the diagnosis. The result is cached for a few seconds.'),
    version: z.string(),
    project: z.string(),
    environment: z.string(),
    clockSkewMs: z.int().optional().describe('Clock of the instance minus the clock of the store.'),
    findings: z.array(Finding).describe('Errors first, then warnings, then passed checks.'),
    functions: z
      .array(
        z.object({
          name: z.enum(SCHEDULED_FUNCTIONS),
          lastAt: Time,
          tookMs: Ms,
          outcome: z
            .enum(['done', 'off', 'failed'])
            .describe('`off`: skipped because the kill switch was on.'),
          error: z.string().optional(),
        }),
      )
      .describe('Scheduled functions that have run, each with its last run.'),
    scan: z
      .object({
        lastAt: Time.optional(),
        lagMs: Ms.optional().describe('Time by which the longest overdue run is late.'),
        due: Count.optional(),
        isCut: z.boolean().optional().describe('There are more runs than were counted.'),
      })
      .describe('The scan, which recovers overdue runs each minute, and its backlog.'),
    queue: z
      .object({
        state: z.enum(['running', 'paused', 'disabled', 'unknown', 'missing', 'denied']).optional(),
        depth: Count.optional().describe('Tasks in the queue, including those scheduled for later.'),
        isCut: z.boolean().optional(),
        oldestMs: Ms.optional().describe('Time for which the oldest due task has been due.'),
      })
      .describe('The queue that dispatches runs.'),
    leases: z
      .object({ held: Count.optional(), stale: Count.optional() })
      .describe('Runs leased by a worker, and runs whose lease expired and was not taken over.'),
    problems: z
      .array(z.object({ code: z.string(), count: Count }))
      .describe('Result of the last hourly check of a sample of runs.'),
    sample: z.object({ at: Time, checked: Count }).optional().describe('That look.'),
    schedules: z.object({ late: Count.optional(), isCut: z.boolean().optional() }),
    published: z
      .object({
        isOn: z.boolean(),
        behind: Count.optional().describe('Runs without a worker whose events are not all published.'),
      })
      .describe('Publication of run events to their topic.'),
    operations: z
      .object({ of: z.literal('this instance'), since: Time, total: Billed, lastMinute: Billed })
      .describe('Documents billed to the responding instance. Each instance counts its own.'),
  })
  .describe('Members that could not be determined are absent, with a finding UNSEEN.');
