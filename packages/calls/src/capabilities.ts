/** The call as two capabilities: one may be repeated after a crash, the other may not. */
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
  /** JSON if the receiver declares it and the journal can store it, otherwise text. */
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

/** For other receivers: an operator resolves a call in doubt. */
export const singleCall = defineCapability({
  id: 'http.single-call',
  sideEffects: 'external_action',
  idempotency: 'not_supported',
  request: HttpCall,
  response: CallAnswer,
});
