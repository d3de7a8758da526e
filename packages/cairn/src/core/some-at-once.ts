/**
 * Work on many things, some at a time: enough that the waits overlap, not so many that a store or a person's quota is
 * taken from others. Pure: what is done is the caller's.
 */

/**
 * The next start when all earlier ones have ended. @returns results in order
 *
 * @throws the first failure; items after the running ones are not started
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
