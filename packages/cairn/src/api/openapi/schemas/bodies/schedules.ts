/** Bodies of requests about schedules. */
import { z } from 'zod';
import type { Json } from '../../../../core/encoding/json.ts';
import { CATCH_UPS } from '../../../../core/schedule/schedule.ts';

const MAX_NAME_CHARS = 100;
const MAX_REASON_CHARS = 500;

const Name = z.string().min(1).max(MAX_NAME_CHARS);
/** Any value: the body was parsed from JSON. */
const Input = z.unknown().transform((value) => value as Json);
const Time = z.iso.datetime({ offset: true });

export const NewScheduleBody = z.strictObject({
  type: z.string(),
  cron: z.string(),
  timezone: z.string().default('Etc/UTC'),
  input: Input.optional(),
  catchUp: z.enum(CATCH_UPS).default('latest'),
  name: Name.optional(),
});

export const PatchScheduleBody = z.strictObject({
  cron: z.string().optional(),
  timezone: z.string().optional(),
  input: Input.optional(),
  catchUp: z.enum(CATCH_UPS).optional(),
  name: Name.nullable().optional(),
});

export const PauseScheduleBody = z.strictObject({
  reason: z.string().min(1).max(MAX_REASON_CHARS).optional(),
});
export const ResumeScheduleBody = z.strictObject({});
export const DeleteScheduleBody = z.strictObject({});
export const TriggerScheduleBody = z.strictObject({});
export const BackfillBody = z.strictObject({ from: Time, to: Time, dryRun: z.boolean().default(false) });
