/** Bodies of requests that hold or erase runs. */
import { z } from 'zod';

/** Room for a case number and a sentence: a hold needs a reason. */
const MAX_REASON_CHARS = 500;
const MAX_ID_CHARS = 200;
const Id = z.string().min(1).max(MAX_ID_CHARS);

export const HoldBody = z.strictObject({ reason: z.string().trim().min(1).max(MAX_REASON_CHARS) });
export const ReleaseHoldBody = z.strictObject({});
/** An erasure cannot be undone, so the body repeats the id. */
export const EraseRunBody = z.strictObject({ confirm: Id });
export const EraseTenantBody = z.strictObject({ tenantId: Id, confirm: Id });
