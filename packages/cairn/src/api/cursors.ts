/**
 * Cursors as callers see them: the place in a list, bound to the list. A place means nothing among other matches: what stands before it there
 * would be missing, without a word.
 *
 * Must not: know what a place is (core/search/cursor.ts).
 */
import { sha256Hex } from '../core/encoding/hash.ts';
import { canonicalJson, type Json } from '../core/encoding/json.ts';
import { invalidInput } from '../core/errors.ts';

/** Separates place and list: no place has it. */
const SEPARATOR = '.';
/** Finds mistakes, not attacks: a forged cursor shows nothing that the list does not show. */
const LIST_CHARS = 12;

/**
 * Parameters that may differ from page to page. Times are often reckoned from now, with each request; the console reads its first page with
 * child runs and the others without; a vocabulary selects nothing.
 */
const MAY_DIFFER: ReadonlySet<string> = new Set(['since', 'until', 'topLevel', 'vocabulary']);

/** A list: the operation, and whatever selects or orders its items, but not the size of pages. */
export interface CursorList {
  readonly tenantId: string | undefined;
  readonly operation: string;
  readonly parameters: object;
}

export function boundCursor(place: string, list: CursorList): string {
  return `${place}${SEPARATOR}${nameOf(list)}`;
}

/**
 * The place of a cursor. One that names no list is a place: earlier versions handed these out.
 *
 * @throws CairnError INVALID_INPUT for the cursor of another list
 */
export function placeOf(cursor: string, list: CursorList): string {
  const [place = '', name, ...rest] = cursor.split(SEPARATOR);
  if (name === undefined || (name === nameOf(list) && rest.length === 0)) return place;
  throw invalidInput('cursor', 'the cursor does not belong to this list', {
    help: 'Send it with the parameters of the request that returned it, of which only limit, since, until, topLevel and vocabulary may differ, or begin without a cursor.',
  });
}

/** An answer whose cursors continue this list. */
export function boundPage(page: object, list: CursorList): object {
  const { next, after } = page as { readonly next?: unknown; readonly after?: unknown };
  return {
    ...page,
    ...(typeof next === 'string' && { next: boundCursor(next, list) }),
    ...(typeof after === 'string' && { after: boundCursor(after, list) }),
  };
}

/** The place of a cursor of any list. */
export function anyPlaceOf(cursor: string): string {
  return cursor.split(SEPARATOR, 1)[0] ?? '';
}

function nameOf({ tenantId, operation, parameters }: CursorList): string {
  const bound = Object.fromEntries(
    Object.entries(parameters).filter(([parameter]) => !MAY_DIFFER.has(parameter)),
  );
  const list = { tenantId, operation, parameters: bound } as unknown as Json;
  return sha256Hex(canonicalJson(list)).slice(0, LIST_CHARS);
}
