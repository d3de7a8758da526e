/** The side-effect ledger, as `views/documents.ts` shows it. */
import { z } from 'zod';
import {
  BLOCKED_BY,
  EFFECT_STATUSES,
  REPLAY_POLICIES,
  RESOLUTIONS,
  SIDE_EFFECTS,
} from '../../../core/effects/effect.ts';
import { Count, pageSchema, Time, Value } from './common.ts';

export const Effect = z.object({
  effectId: z.string().describe('`{idempotencyKey}.{n}`'),
  idempotencyKey: z.string().describe('Idempotency key sent to the receiver. The same for all attempts.'),
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
    .describe(
      "Key given by the workflow author, or the sequence number of this call among the step's calls of the capability.",
    ),
  bindingCallId: z.string(),
  effectClass: z.enum(SIDE_EFFECTS),
  replayPolicy: z.enum(REPLAY_POLICIES),
  status: z.enum(EFFECT_STATUSES).describe('`attempted` without a later status is in doubt.'),
  blockedBy: z.enum(BLOCKED_BY).optional(),
  requestHash: z.string(),
  request: Value.optional().describe('Request without its secret fields. Absent if it is large.'),
  responseHash: z.string().optional(),
  result: Value.optional(),
  recordedResultRef: z
    .object({ runId: z.string(), sha256: z.string(), bytes: Count, chunks: Count })
    .optional()
    .describe('Run that stores the large result.'),
  askedBy: z
    .string()
    .optional()
    .describe('Run that last asked about the effect, if it is not the run that made it.'),
  originEffectId: z.string().optional().describe('Effect whose result was used in place of this one.'),
  policyReason: z.string().optional().describe('Reason of the policy that required a confirmation.'),
  error: z.string().optional(),
  resolution: z
    .object({ outcome: z.enum(RESOLUTIONS), by: z.string(), at: Time, note: z.string().optional() })
    .optional(),
  lateAnswer: z
    .object({ at: Time, responseHash: z.string().optional(), error: z.string().optional() })
    .optional()
    .describe('Response that arrived after the effect was resolved. Kept as evidence.'),
  presumedAt: Time.optional().describe(
    'Time of the restore before which the run may have made the call. Nothing was called since.',
  ),
  calledAt: Time.optional().describe('Time of the last call, if the call was repeated.'),
  createdAt: Time,
  updatedAt: Time,
});
export const EffectPage = pageSchema(Effect);

export const EffectResolved = z.object({
  runId: z.string(),
  effectId: z.string(),
  outcome: z.enum(RESOLUTIONS),
  resolvedBy: z.string(),
  resolvedAt: Time,
});
