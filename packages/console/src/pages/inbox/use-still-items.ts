/**
 * The questions of the inbox, without movement under the mouse: a question approved here keeps its place until the mouse leaves
 * the list. Otherwise a click on the next card could hit the one after it.
 */
import { useEffect, useRef, useState } from 'react';
import type { ApprovalProgress } from './approval-queue.ts';
import { type InboxItem, itemKeyOf } from './item.ts';

/** @param states of the approvals that were given here */
export function useStillItems(
  items: readonly InboxItem[],
  states: ReadonlyMap<string, ApprovalProgress>,
): {
  readonly items: readonly InboxItem[];
  /** Keys of questions that are answered and keep their place. */
  readonly gone: ReadonlySet<string>;
  setOver(isOver: boolean): void;
} {
  const [isOver, setOver] = useState(false);
  const before = useRef(items);
  const approved = useRef(new Set<string>());
  for (const [key, { at }] of states) {
    if (at === 'failed') approved.current.delete(key);
    else approved.current.add(key);
  }
  const open = new Set(items.map(itemKeyOf));
  // The approval was undone, so a later answer is not this page's.
  for (const key of approved.current) if (!states.has(key) && open.has(key)) approved.current.delete(key);
  const shown = isOver ? stillItems(before.current, items, approved.current) : items;
  useEffect(() => {
    before.current = shown;
    if (!isOver) approved.current.clear();
  });
  const gone = new Set(shown.map(itemKeyOf).filter((key) => !open.has(key)));
  return { items: shown, gone, setOver };
}

function stillItems(
  before: readonly InboxItem[],
  items: readonly InboxItem[],
  approved: ReadonlySet<string>,
): readonly InboxItem[] {
  const open = new Map(items.map((item) => [itemKeyOf(item), item]));
  const known = new Set(before.map(itemKeyOf));
  return [
    ...before.flatMap((item) => open.get(itemKeyOf(item)) ?? (approved.has(itemKeyOf(item)) ? [item] : [])),
    ...items.filter((item) => !known.has(itemKeyOf(item))),
  ];
}
