/**
 * Pages over a list in memory. A cursor holds the position of the last item of its page, so that items which come
 * and go between two pages are neither repeated nor lost.
 */
import { CairnError } from '../core/errors.ts';
import type { Page, PageRequest } from '../ports/run-store.ts';

/**
 * The page after the cursor.
 *
 * @param positionOf where an item stands in the order of the list; the list must be sorted by it
 * @param before whether the first position comes before the second
 */
export function pageOf<T>(
  sorted: readonly T[],
  { limit, cursor }: PageRequest,
  order: { positionOf: (item: T) => readonly [number, string]; compare: Compare },
): Page<T> {
  const after = cursor === undefined ? undefined : decodeCursor(cursor);
  const rest = after ? sorted.filter((item) => order.compare(order.positionOf(item), after) > 0) : sorted;
  const items = rest.slice(0, limit);
  const last = items.at(-1);
  return rest.length > items.length && last !== undefined
    ? { items, next: encodeCursor(order.positionOf(last)) }
    : { items };
}

/** Time or number first, id where those are equal. */
export type Position = readonly [number, string];
export type Compare = (left: Position, right: Position) => number;

export function ascending([leftAt, leftId]: Position, [rightAt, rightId]: Position): number {
  return leftAt - rightAt || (leftId < rightId ? -1 : leftId > rightId ? 1 : 0);
}

export function descending(left: Position, right: Position): number {
  return ascending(right, left);
}

function encodeCursor(position: Position): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url');
}

function decodeCursor(cursor: string): Position {
  try {
    const [at, id, ...rest] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    if (typeof at === 'number' && typeof id === 'string' && rest.length === 0) return [at, id];
  } catch {
    // Not JSON: not a cursor either, which is said below.
  }
  throw new CairnError('INVALID_INPUT', 'the cursor is not one that a page ended with', { field: 'cursor' });
}
