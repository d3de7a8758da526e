/**
 * Schemas of request bodies, by their names in the document. An instance loads them when it starts, because they parse requests;
 * it loads the schemas of responses only with the document. Exports nothing else.
 */
import { z } from 'zod';
import { RESOLUTIONS } from '../../../core/effects/effect.ts';
import type { Json } from '../../../core/encoding/json.ts';
import { THREAD_ID } from '../../../core/encoding/thread-id.ts';
import { DECISIONS, SUCCESSOR_MODES } from '../../../core/run/events.ts';
import { CATCH_UPS } from '../../../core/schedule/schedule.ts';
import { BULK_ACTS, MAX_TARGETS } from '../../../operations/bulk/target.ts';
import { ROLES } from '../../auth.ts';

const ThreadId = z.string().regex(THREAD_ID);
/** A sentence or two; stored in the snapshot and shown in every list. */
const MAX_REASON_CHARS = 1_000;
const Text = z.string().min(1).max(MAX_REASON_CHARS);
const Reason = z.string().trim().min(1).max(MAX_REASON_CHARS);
/** Enough for a case number and a sentence. Pauses are stored in a document that every dispatch reads. */
const ShortReason = z.string().min(1).max(500);
const Name = z.string().min(1).max(100);
/** Steps named in one request. A screen shows no more, and steps that follow a named step need not be named. */
const MAX_NAMED_STEPS = 200;
/** Longer than any step key or wait id. */
const MAX_KEY_CHARS = 500;
const Key = z.string().min(1).max(MAX_KEY_CHARS);
/** Longer than any step id. */
const MAX_STEP_ID_CHARS = 100;

/** The route reads the body itself, so that its errors list the deployed types. */
export const StartBody = z.strictObject({
  type: z.string(),
  input: z.unknown(),
  threadId: ThreadId.optional(),
});

export const CancelBody = z.strictObject({
  reason: Text.optional(),
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

/** The operation checks it and names the invalid member. */
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

/** The operation checks which members go together, because it also has callers other than HTTP. */
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

/** Short enough for an idempotency key together with a run id and a question (`core/encoding/idempotency-keys.ts`). */
const MAX_BATCH_CHARS = 200;
/** The limits of the query parameters. */
const FilterValue = z.string().min(1).max(2_000).optional();

const RunId = z.string().min(1).max(100);
const Target = z.union([
  RunId,
  z.strictObject({ runId: RunId, stepId: Key.optional(), waitId: Key.optional() }),
]);

const Filter = z
  .strictObject({
    status: FilterValue,
    waitsFor: FilterValue,
    type: FilterValue,
    repoId: FilterValue,
    threadId: FilterValue,
    tag: FilterValue,
    match: FilterValue,
    since: FilterValue,
    until: FilterValue,
    step: Key.optional().describe('With `approve`: only questions of this step.'),
  })
  .describe(
    'Selects runs like the query of `GET /v1/runs`. Needs at least one member. Without `status` it selects those that the act concerns.',
  );

export const BulkBody = z.strictObject({
  act: z.enum(BULK_ACTS),
  runs: z
    .array(Target)
    .min(1)
    .max(MAX_TARGETS)
    .optional()
    .describe('Runs, or with `approve` questions of them. Either this or `filter`.'),
  filter: Filter.optional(),
  limit: z.int().min(1).max(MAX_TARGETS).optional().describe('With `filter`: runs per request, default 20.'),
  cursor: z
    .string()
    .min(1)
    .max(2_000)
    .optional()
    .describe('With `filter`: `next` of the previous response, which may have selected no run.'),
  dryRun: z.boolean().optional().describe('Only report what each change would do.'),
  batch: z
    .string()
    .regex(/^[\x21-\x7e]+$/)
    .max(MAX_BATCH_CHARS)
    .optional()
    .describe(
      'Name of the whole change across requests: for a day, a run is changed once per name. Default: each request is a separate change.',
    ),
  reason: Text.optional().describe('With `cancel`: stored in each journal.'),
  note: Text.optional().describe('With `approve`: stored with each decision.'),
});

const MAX_ID_CHARS = 200;
const Id = z.string().min(1).max(MAX_ID_CHARS);

export const HoldBody = z.strictObject({ reason: z.string().trim().min(1).max(500) });
export const ReleaseHoldBody = z.strictObject({});
/** An erasure cannot be undone, so the body repeats the id. */
export const EraseRunBody = z.strictObject({ confirm: Id });
export const EraseTenantBody = z.strictObject({ tenantId: Id, confirm: Id });

/** Any value, because the body was parsed from JSON. */
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
  reason: ShortReason.optional(),
});
export const ResumeScheduleBody = z.strictObject({});
export const DeleteScheduleBody = z.strictObject({});
export const TriggerScheduleBody = z.strictObject({});
export const BackfillBody = z.strictObject({ from: Time, to: Time, dryRun: z.boolean().default(false) });

/** Deploying every user of a key takes hours, not weeks. */
const MAX_GRACE_S = 7 * 24 * 3_600;
const DEFAULT_GRACE_S = 24 * 3_600;

export const CreateClientBody = z.strictObject({
  name: Name,
  role: z.enum(ROLES),
});
export const RotateClientBody = z.strictObject({
  graceSeconds: z.int().min(0).max(MAX_GRACE_S).default(DEFAULT_GRACE_S),
});
export const RevokeClientBody = z.strictObject({});
export const RuntimeBody = z.strictObject({ killSwitch: z.boolean() });
export const PauseWorkflowBody = z.strictObject({
  reason: ShortReason.optional(),
});
export const RestoreBody = z.strictObject({});
