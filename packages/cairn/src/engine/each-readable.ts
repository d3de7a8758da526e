/** Work on several runs of which some may be unreadable (such as those of a newer version after a roll-back) or unwritable. */
import { isOfOtherRun } from './other-run.ts';

/**
 * Works on each item in turn. An item whose documents are damaged, were written by a newer version, or are refused by the store
 * does not stop the others. Its error is thrown at the end, so that the caller is called again.
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
