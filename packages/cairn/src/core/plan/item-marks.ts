/**
 * Mark of a map step's list: its number of items at the start, and a hash of them. Used to detect a different list when
 * it is computed again, after a crash or for a compensation.
 */
import { sha256Hex } from '../encoding/hash.ts';
import { toJsonText } from '../encoding/json.ts';
import type { RunState } from '../run/state.ts';

/** Short, because nobody has a reason to craft a colliding list. */
const HASH_CHARS = 16;
/** Sets of a run whose marks are kept; further ones are not compared. About 150 bytes each in the snapshot. */
const MAX_MARKS = 300;

/** Undefined if an item is not JSON, so that the list cannot be compared. */
export function markOf(items: readonly unknown[]): string | undefined {
  let hash = '';
  try {
    // Hashed item by item, because the text of the whole list may exceed the limit of a value.
    for (const item of items) hash = sha256Hex(hash + toJsonText(item, 'item'));
  } catch {
    return undefined;
  }
  return `${items.length}:${hash.slice(0, HASH_CHARS)}`;
}

/** The marks after a set began; the same object if they do not change. */
export function withMark(
  marks: RunState['itemMarks'],
  { stepId, revision, items }: { readonly stepId: string; readonly revision: number; readonly items: string },
): NonNullable<RunState['itemMarks']> {
  const known = marks ?? {};
  if (!Object.hasOwn(known, stepId) && Object.keys(known).length >= MAX_MARKS) return known;
  return { ...known, [stepId]: { revision, items } };
}

/** The difference between the list of a step and the one with which it began, as a sentence; undefined: no known difference. */
export function listChange(
  { itemMarks }: Pick<RunState, 'itemMarks'>,
  {
    stepId,
    revision,
    items,
  }: { readonly stepId: string; readonly revision: number; readonly items: string | undefined },
): string | undefined {
  const known = itemMarks && Object.hasOwn(itemMarks, stepId) ? itemMarks[stepId] : undefined;
  if (!known || items === undefined || known.revision !== revision || known.items === items) return undefined;
  const [before, now] = [sizeIn(known.items), sizeIn(items)];
  const what =
    before === now ? `${before} items, and has ${now} others now` : `${before} items, and has ${now} now`;
  return `the list of step '${stepId}' had ${what}: 'over' must return the same for the same input and outputs`;
}

function sizeIn(mark: string): number {
  return Number(mark.slice(0, mark.indexOf(':')));
}
