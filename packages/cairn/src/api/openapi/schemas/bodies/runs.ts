/** Bodies of requests about a run. Each is the schema by which the request is read. */
import { z } from 'zod';
import { RESOLUTIONS } from '../../../../core/effects/effect.ts';
import { DECISIONS, SUCCESSOR_MODES } from '../../../../core/run/events.ts';

/** Visible ASCII: used in queries, logs and other systems. */
const ThreadId = z.string().regex(/^[\x21-\x7e]{1,255}$/);
/** A sentence or two; stored in the snapshot and shown in every list. */
const MAX_REASON_CHARS = 1_000;
const Reason = z.string().trim().min(1).max(MAX_REASON_CHARS);
/** Steps named in one request. More fit no screen; what follows a step need not be named. */
const MAX_NAMED_STEPS = 200;
/** Above the longest step key and wait id there can be. */
const MAX_KEY_CHARS = 500;
const Key = z.string().min(1).max(MAX_KEY_CHARS);
/** Above the longest id a step can have. */
const MAX_STEP_ID_CHARS = 100;

/** A start reads its body itself, to name the types there are. */
export const StartBody = z.strictObject({
  type: z.string(),
  input: z.unknown(),
  threadId: ThreadId.optional(),
});

export const CancelBody = z.strictObject({
  reason: z.string().min(1).max(MAX_REASON_CHARS).optional(),
  withoutUndo: z
    .boolean()
    .optional()
    .describe(
      'End the run without running the compensations of its steps, for example because its version will not be deployed again. The last event names the steps.',
    ),
});

/** The reason is required, because it is shown to everyone who finds the run suspended. */
export const SuspendBody = z.strictObject({ reason: Reason });
export const ContinueBody = z.strictObject({ reason: Reason.optional() });

/** Checked by the operation, which names the member at fault. */
const Raise = z
  .strictObject({
    usd: z.number().optional(),
    tokens: z.number().optional(),
    effects: z.number().optional(),
    operations: z.number().optional(),
    wallClock: z.union([z.string(), z.number()]).optional().describe("A duration such as '2h', or ms."),
  })
  .describe(
    'With `approve` of a budget question: the amounts by which limits are raised. Absent: the limits that were reached, by the amounts that the workflow declares.',
  );

/** The operation checks which members go together: it has callers that are not HTTP. */
export const DecisionBody = z.strictObject({
  decision: z.enum(DECISIONS),
  waitId: Key.optional(),
  note: z.string().optional(),
  feedback: z.string().optional(),
  steps: z.array(Key).max(MAX_NAMED_STEPS).optional(),
  raise: Raise.optional(),
  data: z
    .unknown()
    .optional()
    .describe('For `approve` and `approve_with_waiver` of a wait with `dataSchema`: data that fits it.'),
});

export const ResolveBody = z.strictObject({
  outcome: z.enum(RESOLUTIONS),
  result: z.unknown().optional(),
  note: z.string().optional(),
});

export const FailWaitBody = z.strictObject({ reason: Reason });
export const HeartbeatWaitBody = z.strictObject({});

export const SignalBody = z.strictObject({
  name: z.string(),
  key: z.string().optional(),
  data: z.unknown().optional(),
});
export const EventBody = z.strictObject({ event: z.string(), key: z.string(), data: z.unknown().optional() });

const from = z
  .union([
    z.strictObject({ step: z.string().min(1).max(MAX_STEP_ID_CHARS) }),
    z.strictObject({ checkpoint: z.int().min(1).max(9_999_999_999) }),
  ])
  .optional();
const force = z.boolean().optional();
const signals = z.literal('carry').optional();
const planVersion = z.int().min(1).max(Number.MAX_SAFE_INTEGER).optional();

export const ResumeBody = z.strictObject({ from, force, signals });
export const ReplayBody = z.strictObject({ from, force, signals });
export const ForkBody = z.strictObject({
  from,
  force,
  signals,
  input: z.unknown().optional(),
  planVersion,
  threadId: ThreadId.optional(),
});
export const PreviewBody = z.strictObject({
  mode: z.enum(SUCCESSOR_MODES),
  from,
  signals,
  input: z.unknown().optional(),
  planVersion,
});

export const RepairBody = z.strictObject({});
