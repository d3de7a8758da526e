/** Id of the thread that a run belongs to, as given by who starts it. Used in queries, logs and other systems. */
import { invalidInput } from '../errors.ts';

export const THREAD_ID = /^[\x21-\x7e]{1,255}$/;

/** @throws CairnError INVALID_INPUT unless it has 1 to 255 visible ASCII characters */
export function threadIdOf(given: unknown): string | undefined {
  if (given === undefined || (typeof given === 'string' && THREAD_ID.test(given))) return given;
  throw invalidInput('threadId', 'threadId must be 1 to 255 visible ASCII characters');
}
