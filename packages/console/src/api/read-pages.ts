/** The pages of a listing one after another. */

interface Page<T> {
  readonly items: readonly T[];
  readonly next?: string | undefined;
}

/**
 * Items of at most `most` pages. No page is read after the one with the item that `isLast` looks for; `isCut`: there are more
 * pages, and that item was not found.
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
