/**
 * Input of the run of a slot: the schedule's input plus `slot`, the time of the slot (ISO 8601, UTC), if the schema
 * allows it.
 */
import type { ZodType } from 'zod';
import { canonicalJson, type Json } from '../../core/encoding/json.ts';
import { invalidInput } from '../../core/errors.ts';
import { firstIssue } from '../../core/first-issue.ts';
import { parsedData } from '../../core/parsed-data.ts';
import { maskPaths } from '../../core/secrets/mask.ts';

/** Slot for validating an input: whether it is valid does not depend on the slot. */
const ANY_SLOT = Date.UTC(2024, 0, 1);

/**
 * Adds `slot` to an object without that member, unless the workflow then refuses the input. A schema that does not know `slot`
 * drops it (`z.object`) or refuses it (`z.strictObject`); both workflows may be scheduled.
 *
 * @param slot epoch ms
 */
export function inputForSlot(schema: ZodType<unknown>, input: Json, slot: number): Json {
  if (typeof input !== 'object' || input === null || Array.isArray(input) || 'slot' in input) return input;
  const withSlot = { ...input, slot: new Date(slot).toISOString() };
  return 'data' in parsedData(schema, withSlot) ? withSlot : input;
}

interface Taker {
  readonly input: ZodType<unknown>;
  readonly secretInput: readonly string[];
}

/** Called when a schedule is made, because otherwise each run fails. @throws CairnError INVALID_INPUT naming the member */
export function assertTakesInput({ input: schema, secretInput }: Taker, input: Json): void {
  const text = canonicalJson(input);
  const secret = secretInput.find((path) => maskPaths(text, [path]) !== text);
  if (secret !== undefined) {
    const why = 'is secret, but everyone who can read a schedule can read its input';
    throw invalidInput(`input.${secret}`, `input.${secret}: ${why}`);
  }
  const parsed = parsedData(schema, inputForSlot(schema, input, ANY_SLOT));
  if ('data' in parsed) return;
  const { field, why } = firstIssue(parsed.issues, 'input');
  throw invalidInput(field, `${field}: ${why}`);
}
