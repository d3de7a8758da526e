/** Validation of the name and data of an event or signal, and of the run that gets it. */
import { toJsonText } from '../../core/encoding/json.ts';
import { CairnError, invalidInput } from '../../core/errors.ts';
import { MAX_DELIVERED_BYTES } from '../../core/mailbox/limits.ts';
import { isOver, type RunState } from '../../core/run/state.ts';

/** @throws CairnError INVALID_INPUT with the name of the field */
export function assertText(field: string, text: string, maxChars: number): void {
  if (text !== '' && text.length <= maxChars && text.isWellFormed()) return;
  throw invalidInput(field, `'${field}' must be a string of 1 to ${maxChars} characters`);
}

/**
 * Canonical JSON of the data; absent data is null.
 *
 * @throws CairnError INVALID_INPUT for values that JSON would change; PAYLOAD_TOO_LARGE
 */
export function dataTextOf(data: unknown): string {
  const text = toJsonText(data, 'data');
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_DELIVERED_BYTES) return text;
  const what = `'data' has ${bytes} bytes; the maximum is ${MAX_DELIVERED_BYTES}`;
  throw new CairnError('PAYLOAD_TOO_LARGE', what, { field: 'data' });
}

/**
 * @param consequence completes the error message `the run is ending and …`
 * @throws CairnError RUN_TERMINAL_STATE for a run that has ended or is ending
 */
export function assertNotEnding(state: RunState, consequence: string): void {
  const { status, cancellation, compensating } = state;
  if (!isOver(state) && !cancellation && !compensating) return;
  const what = isOver(state) ? `is ${status}` : 'is ending';
  throw new CairnError('RUN_TERMINAL_STATE', `the run ${what} and ${consequence}`, { details: { status } });
}
