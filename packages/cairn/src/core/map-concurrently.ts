/** Limited concurrency: waits overlap without exhausting a store or a quota. Pure: the caller does the work. */

/**
 * Processes items in groups; a group starts when the previous one has ended. @returns results in order
 *
 * @throws the first failure; items after the running ones are not started
 */
export async function mapConcurrently<T, R>(
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

/**
 * Starts an item as soon as an earlier one has ended, so that a slow item does not delay others.
 *
 * @param next the next item; undefined if no item is left or no more may start
 *
 * @throws the first failure, of `next` or of the work. It ends one of the `atOnce` rows of items; the others continue before
 */
export async function workThrough<T>(
  next: () => T | undefined | Promise<T | undefined>,
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const workers = Array.from({ length: atOnce }, async () => {
    for (let item = await next(); item !== undefined; item = await next()) await work(item);
  });
  const ends = await Promise.allSettled(workers);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/** {@link workThrough} for a known list. */
export function workThroughAll<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = [...items];
  return workThrough(() => left.shift(), atOnce, work);
}
