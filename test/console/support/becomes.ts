/** Waits until a page shows what a test expects, because the page may draw it a moment later. */
import { expect } from '@jest/globals';
import { eventually } from '../../system/support.ts';

/** Long enough for a busy machine, and shorter than the limit of a test. */
const LIMIT_MS = 60_000;

/**
 * @param wanted a value, or an asymmetric matcher such as `expect.stringContaining(…)`
 * @throws with the last value
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
