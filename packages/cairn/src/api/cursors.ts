/**
 * Cursors as callers see them: a position in a list, bound to that list. With other parameters a position would silently skip
 * every match before it.
 *
 * Must not: know the form of a position (core/search/cursor.ts).
 */
import { sha256Hex } from '../core/encoding/hash.ts';
import { canonicalJson, type Json } from '../core/encoding/json.ts';
import { invalidInput } from '../core/errors.ts';

/** Separates position and list. No position contains it. */
const SEPARATOR = '.';
/** Enough to find mistakes. A forged cursor needs no defence: it shows nothing that the list does not show. */
const LIST_CHARS = 12;

/**
 * Parameters that may differ from page to page. Clients often compute times from the current time in each request. The console
 * requests only its first page with child runs. A vocabulary selects nothing.
 */
const IGNORED: ReadonlySet<string> = new Set(['since', 'until', 'topLevel', 'vocabulary']);

/** A list: the operation, and every parameter that selects or orders its items, but not the page size. */
export interface CursorList {
  readonly tenantId: string | undefined;
  readonly operation: string;
  readonly parameters: object;
}

export function boundCursor(place: string, list: CursorList): string {
  return `${place}${SEPARATOR}${nameOf(list)}`;
}

/**
 * The position in a cursor. Earlier versions issued cursors without a list: these are positions.
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

/** A response whose cursors continue this list. */
export function boundPage(page: object, list: CursorList): object {
  const { next, after } = page as { readonly next?: unknown; readonly after?: unknown };
  return {
    ...page,
    ...(typeof next === 'string' && { next: boundCursor(next, list) }),
    ...(typeof after === 'string' && { after: boundCursor(after, list) }),
  };
}

/** The position in a cursor of any list. */
export function anyPlaceOf(cursor: string): string {
  return cursor.split(SEPARATOR, 1)[0] ?? '';
}

function nameOf({ tenantId, operation, parameters }: CursorList): string {
  const bound = Object.fromEntries(
    Object.entries(parameters).filter(([parameter]) => !IGNORED.has(parameter)),
  );
  const list = { tenantId, operation, parameters: bound } as unknown as Json;
  return sha256Hex(canonicalJson(list)).slice(0, LIST_CHARS);
}
