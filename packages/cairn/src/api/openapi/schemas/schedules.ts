/** A schedule as `views/schedule.ts` shows it. */
import { z } from 'zod';
import { CATCH_UPS } from '../../../core/schedule/schedule.ts';
import { Count, pageSchema, Time, Value } from './common.ts';

const SlotResult = z.object({
  slot: Time,
  at: Time,
  runId: z.string().optional(),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
});

const CatchUpReport = z.object({
  at: Time,
  policy: z.enum(CATCH_UPS),
  from: Time,
  until: Time,
  missed: Count,
  more: z.boolean(),
  made: Count,
});

export const ScheduleSummary = z.object({
  id: z.string(),
  name: z.string().optional(),
  origin: z.enum(['declared', 'stored']),
  state: z.enum(['active', 'paused', 'withdrawn']),
  type: z.string(),
  cron: z.string(),
  timezone: z.string(),
  input: Value,
  catchUp: z.enum(CATCH_UPS),
  nextAt: Time.optional(),
  pause: z.object({ since: Time, by: z.string(), reason: z.string().optional() }).optional(),
  last: SlotResult.optional(),
  lastCatchUp: CatchUpReport.optional(),
  slots: z.object({ fired: Count, skipped: Count, refused: Count }),
  createdBy: z.string().optional(),
  createdAt: Time,
  updatedAt: Time,
});
export const SchedulePage = pageSchema(ScheduleSummary).extend({
  unreadable: z
    .array(z.string())
    .optional()
    .describe('Schedules of this page whose documents cannot be read. They start no runs.'),
});
export const Schedule = ScheduleSummary.extend({ upcoming: z.array(Time) });

export const ScheduleDeleted = z.object({ id: z.string(), deleted: z.literal(true) });
export const ScheduleTriggered = z.object({ scheduleId: z.string(), runId: z.string() });
export const Backfilled = z.object({
  scheduleId: z.string(),
  dryRun: z.boolean(),
  slots: Count,
  started: Count,
  existing: Count,
});
