/** Body of a change of many runs. */
import { z } from 'zod';
import { BULK_ACTS, MAX_TARGETS } from '../../../../operations/bulk/target.ts';

/** The limits of the single changes. */
const MAX_TEXT_CHARS = 1_000;
/** Above the longest step key and wait id there can be. */
const MAX_KEY_CHARS = 500;
/** With a run id and a question it is an idempotency key (`core/encoding/idempotency-keys.ts`). */
const MAX_BATCH_CHARS = 200;
/** The limits of the query parameters. */
const Value = z.string().min(1).max(2_000).optional();

const RunId = z.string().min(1).max(100);
const Key = z.string().min(1).max(MAX_KEY_CHARS).optional();

const Target = z.union([RunId, z.strictObject({ runId: RunId, stepId: Key, waitId: Key })]);

const Filter = z
  .strictObject({
    status: Value,
    waitsFor: Value,
    type: Value,
    repoId: Value,
    threadId: Value,
    tag: Value,
    match: Value,
    since: Value,
    until: Value,
    step: Key.describe('With `approve`: only questions of this step.'),
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
  reason: z.string().min(1).max(MAX_TEXT_CHARS).optional().describe('With `cancel`: stored in each journal.'),
  note: z
    .string()
    .min(1)
    .max(MAX_TEXT_CHARS)
    .optional()
    .describe('With `approve`: stored with each decision.'),
});
