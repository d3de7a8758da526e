/** Waits for a page to say what a test expects: what follows an action may be drawn a moment later. */
import { expect } from '@jest/globals';
import { eventually } from '../../system/support.ts';

/** Room for a busy machine, within the time of a test. */
const LIMIT_MS = 60_000;

/**
 * @param wanted a value, or an asymmetric matcher such as `expect.stringContaining(…)`
 * @throws with what was read last
 */
export async function becomes(read: () => Promise<unknown>, wanted: unknown): Promise<void> {
  let last: unknown;
  const isThere = async () => {
    last = await read();
    try {
      expect(last).toEqual(wanted);
      return true;
    } catch {
      return undefined;
    }
  };
  await eventually('what is wanted', isThere, LIMIT_MS).catch(() => expect(last).toEqual(wanted));
}
