/**
 * Encodes a position in a list as the opaque text that continues it, and decodes it. A cursor holds the position of the
 * last item of its page, so that items that are added or removed between two pages are neither repeated nor lost.
 */
import { type CairnError, invalidInput } from '../errors.ts';
import { MAX_TIME } from '../time.ts';
import { type OrderPlace, RUN_ORDERS, type RunOrder } from './order.ts';

/** Time or number, then the id as a tie-breaker; the id is empty if the first is unique. */
export type Position = readonly [at: number, id: string];

/** The lists that have cursors. A cursor of another list is refused. */
export type ListName =
  | 'runs'
  | 'events'
  | 'steps'
  | 'checkpoints'
  | 'logs'
  | 'memos'
  | 'schedules'
  | 'effects'
  | 'erasures'
  | 'inbox'
  | 'longest'
  | 'updated';

/** Possible document ids only: the text is external input and becomes part of a query. */
const ID = /^(?!\.{1,2}$|__.*__$)[^/]+$/;
const MAX_ID_BYTES = 1_500;

export function encodeCursor(list: ListName, [at, id]: Position): string {
  return cursorText([list, at, id]);
}

/** @throws CairnError INVALID_INPUT for a text that no page of this list ended with */
export function decodeCursor(list: ListName, cursor: string): Position {
  const [name, at, id, ...rest] = cursorParts(cursor);
  if (name === list && isTime(at) && isId(id) && rest.length === 0) return [at, id];
  throw foreignCursor();
}

/** The end of a page of a sorted list. */
export interface SortedPosition {
  /** Epoch ms of the first page, by which the duration of live runs is judged on all. */
  readonly asOf: number;
  readonly after: OrderPlace;
}

const SORTED = 'sorted';

export function encodeSortedCursor(order: RunOrder, { asOf, after: [at, id] }: SortedPosition): string {
  return cursorText([SORTED, order, asOf, at, id]);
}

/** @throws CairnError INVALID_INPUT for a text that no page of a list in this order ended with */
export function decodeSortedCursor(order: RunOrder, cursor: string): SortedPosition {
  const [name, by, asOf, at, id, ...rest] = cursorParts(cursor);
  const known = RUN_ORDERS.find((one) => one === by);
  if (name === SORTED && known === order && isTime(asOf) && rest.length === 0 && isId(id))
    if ((isTime(at) || (typeof at === 'number' && isTime(-at))) && isTime(momentAfter(order, asOf, at)))
      // A run created by a clock that is ahead has a negative duration.
      return { asOf, after: [at, id] };
  throw foreignCursor();
}

/** The millisecond after the creation of a live run at this place: runs are looked for up to it. A duration may be longer than `asOf`. */
function momentAfter(order: RunOrder, asOf: number, at: number): number {
  return Math.max(0, order === 'longest' ? asOf - at : at) + 1;
}

/** Error for a text that is not a cursor of the list. */
export function foreignCursor(): CairnError {
  return invalidInput('cursor', 'the cursor does not belong to this list');
}

export function cursorText(parts: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** Empty for a text that is no cursor of any list. */
export function cursorParts(cursor: string): readonly unknown[] {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    // Not JSON, so not a cursor; the caller reports it.
    return [];
  }
}

/** True for epoch ms. */
export function isTime(at: unknown): at is number {
  return typeof at === 'number' && Number.isSafeInteger(at) && at >= 0 && at <= MAX_TIME;
}

function isId(id: unknown): id is string {
  return typeof id === 'string' && ID.test(id) && id.isWellFormed() && Buffer.byteLength(id) <= MAX_ID_BYTES;
}
