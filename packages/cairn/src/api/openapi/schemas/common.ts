/** Shapes that many answers share. Answers are open: a client must bear members it does not know. */
import { z } from 'zod';
import { ERROR_CODES, type ErrorCode } from '../../../core/errors.ts';
import { FINDING_REASONS } from '../../../core/findings.ts';

export const Time = z.iso.datetime();
export const Count = z.int().min(0);
/** The number of an event in its journal. */
export const Seq = z.int().min(1);
/** A value of a workflow or a caller: any JSON. */
export const Value = z.unknown();

export const CODES = Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]];

export const Problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int().min(400).max(599),
    detail: z.string(),
    code: z.enum(CODES).describe('Stable: branch on this. Codes are only ever added.'),
    field: z.string().optional().describe('The member, parameter or header at fault.'),
    stepId: z.string().optional(),
    help: z.string().describe('What can be done next.'),
    details: z.record(z.string(), Value).optional(),
  })
  .describe('Problem details of RFC 9457.');

export const InFlight = z
  .object({ status: z.literal('in_flight') })
  .describe('The same request is under way elsewhere. Send it again after Retry-After.');

/** @param item of which a page holds some; `next` is the `cursor` of the page that follows */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    items: z.array(item),
    next: z.string().optional().describe('`cursor` of the following page, if there is more.'),
  });
}

/** A finding about a run that has not ended. */
export const Finding = z
  .object({
    code: z.enum(['RUN_UNWRITABLE', 'RUN_STUCK']),
    title: z.string(),
    reason: z
      .enum(FINDING_REASONS)
      .describe(
        '`request`: the store refuses what is written to this run. `installation`: it refuses the functions. `dispatches`: ten or more in a row threw.',
      ),
    message: z.string().describe('The words of the store, or of what was thrown.'),
    stepId: z.string().optional().describe('The step it had come to.'),
    since: Time,
    lastAt: Time,
    help: z.string(),
  })
  .describe('Why a run gets nowhere until somebody mends something, and what to do.');

/** @param item made of a run: one whose document is damaged makes none, and is named */
export function pageOfRuns<Item extends z.ZodType>(item: Item) {
  return pageOf(item).extend({
    unreadable: z
      .array(z.string())
      .optional()
      .describe('Runs of this page whose documents cannot be read: check and repair them.'),
  });
}
