/** Work on several runs, of which one may be unwritable, or unreadable: after a roll-back, those that a newer version wrote. */
import { isOfOtherRun } from './other-run.ts';

/**
 * Works on each item in turn. One whose documents are damaged, were written by a newer version, or are refused by the store
 * delays no other: it is reported at the end, so that the caller is called again.
 *
 * @throws the first of these errors, at the end; any other error at once
 */
export async function eachReadable<T>(items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  let unreadable: Error | undefined;
  for (const item of items) {
    try {
      await work(item);
    } catch (error) {
      if (!isOfOtherRun(error)) throw error;
      unreadable ??= error;
    }
  }
  if (unreadable) throw unreadable;
}
