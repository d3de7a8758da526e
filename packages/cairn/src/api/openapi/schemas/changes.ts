/** Responses to changes of a run, from its start to its end. */
import { z } from 'zod';
import { MAX_NAMED_RUNS } from '../../../core/mailbox/limits.ts';
import { DECISIONS } from '../../../core/run/events.ts';
import { CODES, Time } from './common.ts';
import { Status } from './runs.ts';

export const RunStarted = z.object({
  runId: z.string(),
  type: z.string(),
  planVersion: z.int().min(1),
  status: Status,
  threadId: z.string(),
  createdAt: Time,
});

export const Cancellation = z.object({
  runId: z.string(),
  status: z.enum(['cancelled', 'cancelling']),
  requestedAt: Time,
  reason: z.string().optional(),
});

export const Suspension = z.object({
  runId: z.string(),
  status: z
    .enum(['suspended', 'suspending'])
    .describe('`suspending`: a worker still holds the run and starts no more steps.'),
  requestedAt: Time,
  reason: z.string(),
  actor: z.string().optional(),
});
export const Continued = z.object({ runId: z.string(), status: Status });

export const WaitFailed = z.object({ runId: z.string(), stepId: z.string() });
export const WaitBeaten = z.object({
  runId: z.string(),
  stepId: z.string(),
  dueAt: Time.describe('Time at which the wait fails unless the event or another heartbeat arrives.'),
  recorded: z.boolean().describe('`false`: the recorded time is recent enough, and nothing was written.'),
});

export const Signalled = z.object({
  runId: z.string(),
  signalId: z.string(),
  outcome: z.enum(['taken_in', 'kept']),
});

export const ApprovalDecided = z.object({
  runId: z.string(),
  stepId: z.string(),
  waitId: z.string(),
  decision: z.enum(DECISIONS),
  decidedBy: z.string().optional(),
  decidedAt: Time,
});

export const EventDelivered = z.object({
  eventId: z.string(),
  delivered: z.array(z.string()).describe(`Runs that received it, at most ${MAX_NAMED_RUNS} of them.`),
  kept: z.boolean(),
  keptUntil: Time.optional(),
  refused: z.array(z.object({ runId: z.string(), code: z.enum(CODES), reason: z.string() })),
  repeated: z.boolean(),
});
