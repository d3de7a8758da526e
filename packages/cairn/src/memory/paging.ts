/** Pages over a list in memory. */

import { decodeCursor, encodeCursor, type ListName, type Position } from '../core/search/cursor.ts';
import { PageRoom } from '../core/search/page.ts';
import type { Page, PageRequest } from '../ports/run-store.ts';

interface PagingOrder<T> {
  readonly list: ListName;
  readonly positionOf: (item: T) => Position;
  readonly compare: (left: Position, right: Position) => number;
}

/** Sorts the list and returns the page after the cursor. */
export function sortedPage<T>(
  items: readonly T[],
  { limit, cursor }: PageRequest,
  order: PagingOrder<T>,
): Page<T> {
  const { list, positionOf, compare } = order;
  const after = cursor === undefined ? undefined : decodeCursor(list, cursor);
  const rest = items
    .filter((item) => after === undefined || compare(positionOf(item), after) > 0)
    .sort((left, right) => compare(positionOf(left), positionOf(right)));
  const room = new PageRoom(limit);
  const end = rest.findIndex((item) => !room.take(item));
  const page = end < 0 ? rest : rest.slice(0, end);
  const last = page.at(-1);
  const more = rest.length > page.length && last !== undefined;
  return more ? { items: page, next: encodeCursor(list, positionOf(last)) } : { items: page };
}

export function ascending([leftAt, leftId]: Position, [rightAt, rightId]: Position): number {
  return leftAt - rightAt || (leftId < rightId ? -1 : leftId > rightId ? 1 : 0);
}

export function descending(left: Position, right: Position): number {
  return ascending(right, left);
}
