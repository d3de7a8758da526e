/**
 * Work on many things, some at a time: enough that the waits overlap, not so many that a store or a person's quota is
 * taken from others. Pure: what is done is the caller's.
 */

/**
 * The next begin when those before have all ended. @returns what came of each, in order
 *
 * @throws whatever the first failure was; what comes after those that were under way is not begun
 */
export async function someAtOnce<T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const done: R[] = [];
  for (let from = 0; from < items.length; from += atOnce) {
    done.push(...(await Promise.all(items.slice(from, from + atOnce).map((item) => work(item)))));
  }
  return done;
}
