/** Schemas that many responses share. Clients must ignore members that they do not know. */
import { z } from 'zod';
import { ERROR_CODES, type ErrorCode } from '../../../core/errors.ts';
import { FINDING_REASONS } from '../../../core/findings.ts';

export const Time = z.iso.datetime();
export const Count = z.int().min(0);
/** Sequence number of an event in its journal. */
export const Seq = z.int().min(1);
export const Value = z.unknown();

export const CODES = Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]];

export const Problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int().min(400).max(599),
    detail: z.string(),
    code: z.enum(CODES).describe('Stable error code. Codes are added, never removed or changed.'),
    field: z.string().optional().describe('The invalid member, parameter or header.'),
    stepId: z.string().optional(),
    help: z.string().describe('How to fix it.'),
    details: z.record(z.string(), Value).optional(),
  })
  .describe('Problem details of RFC 9457.');

export const InFlight = z
  .object({ status: z.literal('in_flight') })
  .describe('The same request is in progress. Send it again after Retry-After.');

/** @param item of the page; `next` is the `cursor` of the next page */
export function pageSchema<Item extends z.ZodType>(item: Item) {
  return z.object({
    items: z.array(item),
    next: z.string().optional().describe('`cursor` of the next page, if there is one.'),
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
        '`request`: the store refuses a write to this run. `installation`: the store refuses all writes of the functions. `dispatches`: ten or more dispatches in a row failed.',
      ),
    message: z.string().describe('Error message of the store or of the failed dispatch.'),
    stepId: z.string().optional().describe('The step that was reached.'),
    since: Time,
    lastAt: Time,
    help: z.string(),
  })
  .describe('Why a run makes no progress until an operator acts, and what to do.');

/** @param item made from a run; runs with damaged documents are listed by id instead */
export function pageOfRuns<Item extends z.ZodType>(item: Item) {
  return pageSchema(item).extend({
    unreadable: z
      .array(z.string())
      .optional()
      .describe(
        'Runs of this page whose documents cannot be read. Check and repair them, or deploy the newer version that wrote them.',
      ),
  });
}

export const Location = z
  .string()
  .describe(
    "Place in the project's source where the code of a flow asked for the operation, such as `src/orders.ts:12`. Absent for other steps and where unknown.",
  );

export const OperationRequest = z
  .string()
  .describe('Kind and hash of what the code of a flow asked for. Absent for other steps.');

/** A switch of the operators that prevents the dispatch of a run, as the run shows it. */
export const Stopped = z
  .discriminatedUnion('by', [
    z.object({ by: z.enum(['kill_switch', 'restored']) }),
    z.object({
      by: z.literal('paused'),
      type: z.string(),
      since: Time,
      reason: z.string().optional().describe('Only for the role `installation`.'),
    }),
  ])
  .describe(
    'What operators stopped, so that the run is not dispatched: all runs, those of a restored database, or those of its workflow. Known within 3 seconds.',
  );

export const UndoAttempts = z
  .object({ step: z.string(), revision: z.int().min(1), attempts: z.int() })
  .describe('Failed attempts of the compensation under way.');
