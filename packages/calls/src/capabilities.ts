/** The call as a capability, in two forms: whether the receiver may be called again is a property of the capability. */
import { defineCapability } from 'cairn';
import { z } from 'zod';

export const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE'] as const;

const MAX_PATH_CHARS = 2_000;

/** Below the address of the receiver. */
export const HttpCall = z.strictObject({
  method: z.enum(METHODS).default('POST'),
  path: z
    .string()
    .max(MAX_PATH_CHARS)
    .regex(/^\/[\x21-\x7e]*$/, 'must start with / and contain only printable ASCII')
    .default('/'),
  body: z.json().optional(),
});

export type HttpCall = z.output<typeof HttpCall>;

const CallAnswer = z.object({
  status: z.number().int(),
  /** JSON if the receiver says that it is and a run can keep it, otherwise text. */
  body: z.json(),
  /** The body exceeded the limit, or was cut off. */
  truncated: z.boolean(),
});

export type CallAnswer = z.output<typeof CallAnswer>;

/** For receivers that act once per `Idempotency-Key`. */
export const repeatableCall = defineCapability({
  id: 'http.repeatable-call',
  sideEffects: 'external_action',
  idempotency: 'required',
  request: HttpCall,
  response: CallAnswer,
});

/** For all others: an operator resolves a call in doubt. */
export const singleCall = defineCapability({
  id: 'http.single-call',
  sideEffects: 'external_action',
  idempotency: 'not_supported',
  request: HttpCall,
  response: CallAnswer,
});
