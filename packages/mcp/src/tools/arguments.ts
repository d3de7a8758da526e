/** Arguments that several tools take. */
import { z } from 'zod';

export const MAX_LISTED = 50;
export const DEFAULT_LISTED = 20;

/** A tenant and a key of 200 characters each, escaped. */
const MAX_OWNER_CHARS = 2_500;

export const RUN_ID = z
  .string()
  .min(1)
  .max(MAX_OWNER_CHARS)
  .describe(
    'Id of the run: run_ and 26 characters. For resolve_effect also the owner of an effect without a run.',
  );
export const STEP = z
  .string()
  .min(1)
  .max(500)
  .describe('Step key: the step id, or id[key] for an item or operation.');
export const LIMIT = z
  .int()
  .min(1)
  .max(MAX_LISTED)
  .optional()
  .describe(`How many: 1 to ${MAX_LISTED}, default ${DEFAULT_LISTED}.`);
export const CURSOR = z.string().max(2_000).optional().describe('`next` of the page before.');
export const NOTE = z.string().min(1).max(1_000).optional().describe('Why; recorded in the journal.');
