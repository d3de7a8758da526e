/** Bodies of requests about the installation: its clients, its switches, its workflows. */
import { z } from 'zod';
import { ROLES } from '../../../auth.ts';

const MAX_NAME_CHARS = 100;
/** A deployment of everything that uses a key takes hours, not weeks. */
const MAX_GRACE_S = 7 * 24 * 3_600;
const DEFAULT_GRACE_S = 24 * 3_600;
/** A sentence or two; stored in a document that every dispatch reads. */
const MAX_REASON_CHARS = 500;

export const CreateClientBody = z.strictObject({
  name: z.string().min(1).max(MAX_NAME_CHARS),
  role: z.enum(ROLES),
});
export const RotateClientBody = z.strictObject({
  graceSeconds: z.int().min(0).max(MAX_GRACE_S).default(DEFAULT_GRACE_S),
});
export const RevokeClientBody = z.strictObject({});
export const RuntimeBody = z.strictObject({ killSwitch: z.boolean() });
export const PauseWorkflowBody = z.strictObject({
  reason: z.string().min(1).max(MAX_REASON_CHARS).optional(),
});
export const RestoreBody = z.strictObject({});
