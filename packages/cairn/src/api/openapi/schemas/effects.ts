/** The side-effect ledger, as `views/documents.ts` shows it. */
import { z } from 'zod';
import { REPLAY_POLICIES, RESOLUTIONS, SIDE_EFFECTS } from '../../../core/effects/effect.ts';
import { Count, pageOf, Time, Value } from './common.ts';

export const Effect = z.object({
  effectId: z.string().describe('`{idempotencyKey}.{n}`'),
  idempotencyKey: z.string().describe('What the receiver was given; the same over all attempts.'),
  n: z.int().min(1),
  tenantId: z.string(),
  rootRunId: z.string(),
  runId: z.string(),
  stepId: z.string(),
  itemKey: z.string().optional(),
  revision: z.int().min(1),
  attempt: z.int().min(1),
  epoch: Count,
  capabilityId: z.string(),
  bindingId: z.string(),
  call: z
    .union([z.string(), z.int().min(1)])
    .optional()
    .describe("The author's own key, or which call of this capability by the body it is."),
  bindingCallId: z.string(),
  effectClass: z.enum(SIDE_EFFECTS),
  replayPolicy: z.enum(REPLAY_POLICIES),
  status: z
    .enum(['attempted', 'recorded', 'reused', 'blocked', 'failed'])
    .describe('`attempted` without a later word is in doubt.'),
  blockedBy: z.enum(['doubt', 'policy', 'mismatch', 'confirmation']).optional(),
  requestHash: z.string(),
  request: Value.optional().describe('Without its secret fields; absent if it is long.'),
  responseHash: z.string().optional(),
  result: Value.optional(),
  recordedResultRef: z
    .object({ runId: z.string(), sha256: z.string(), bytes: Count, chunks: Count })
    .optional()
    .describe('A large result lies under the payloads of that run.'),
  askedBy: z
    .string()
    .optional()
    .describe('Which run asked a person about it last, where not the run that made it.'),
  originEffectId: z.string().optional().describe('Which effect answered in place of this one.'),
  error: z.string().optional(),
  resolution: z
    .object({
      outcome: z.enum(RESOLUTIONS),
      by: z.string(),
      at: Time,
      note: z.string().optional(),
    })
    .optional(),
  lateAnswer: z
    .object({ at: Time, responseHash: z.string().optional(), error: z.string().optional() })
    .optional()
    .describe('An answer that came after the effect had been resolved; kept as evidence.'),
  presumedAt: Time.optional().describe(
    'Nothing was called: the run may have acted before the restore of this time.',
  ),
  createdAt: Time,
  updatedAt: Time,
});
export const EffectPage = pageOf(Effect);

export const EffectResolved = z.object({
  runId: z.string(),
  effectId: z.string(),
  outcome: z.enum(RESOLUTIONS),
  resolvedBy: z.string(),
  resolvedAt: Time,
});
