/** The pages of a listing one after another. */

interface Page<T> {
  readonly items: readonly T[];
  readonly next?: string | undefined;
}

/**
 * Reads pages up to the one that has an item for which `isLast` holds, and at most `most` pages.
 *
 * @returns `isCut` if there are more pages and no such item was found
 */
export async function readPages<T>(
  most: number,
  read: (cursor: string | undefined) => Promise<Page<T>>,
  isLast: (item: T) => boolean = () => false,
): Promise<{ readonly items: readonly T[]; readonly isCut: boolean }> {
  const items: T[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < most; pages += 1) {
    const page = await read(cursor);
    items.push(...page.items);
    cursor = page.next;
    if (cursor === undefined || page.items.some(isLast)) return { items, isCut: false };
  }
  return { items, isCut: true };
}
