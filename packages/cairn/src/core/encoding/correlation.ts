/** Correlation id of a conversation between the agents of several systems, as sent by a caller. */
import { invalidInput } from '../errors.ts';

const PATTERN = /^[\x21-\x7e]{1,200}$/;

/** @throws CairnError INVALID_INPUT unless it is an id of 1 to 200 printable ASCII characters without spaces */
export function correlationId(given: string | undefined, field: string): string | undefined {
  if (given === undefined || PATTERN.test(given)) return given;
  throw invalidInput(field, `${field} must be 1 to 200 printable ASCII characters without spaces`);
}
