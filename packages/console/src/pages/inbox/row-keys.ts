/**
 * `j` and `k`, or the arrows, go from question to question: to its button, which Enter presses. Where the one that had the
 * focus is answered, the next in its place takes it.
 */
import { useCallback, useEffect, useRef } from 'react';
import { isCommand, usePageKeys } from '../../shell/is-command.ts';

const STEPS: Readonly<Record<string, number>> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };

/** Class of a card that keeps its place without a question: the keys pass over it. */
export const ANSWERED = 'answered';

/** @param isAnswering a form is open over the list */
export function useRowKeys(isAnswering: boolean) {
  const list = useRef<HTMLOListElement>(null);
  const answered = useRef<number>(undefined);
  const focusRow = useCallback((at: number, step: number) => {
    const rows = [...(list.current?.children ?? [])];
    const open = rows.filter((row) => !row.classList.contains(ANSWERED));
    const row =
      step > 0
        ? (open.find((one) => rows.indexOf(one) >= at) ?? open.at(-1))
        : (open.findLast((one) => rows.indexOf(one) <= at) ?? open[0]);
    const target =
      row?.querySelector<HTMLElement>('button.answer:not(:disabled), a.button') ?? row?.querySelector('a');
    target?.focus();
    return target !== undefined && target !== null;
  }, []);
  useEffect(() => {
    if (isAnswering || answered.current === undefined) return;
    // The dialog gives the focus back to where it came from, unless that is gone.
    if (document.activeElement === document.body) focusRow(answered.current, 1);
    answered.current = undefined;
  }, [isAnswering, focusRow]);
  usePageKeys((event) => {
    const step = STEPS[event.key];
    if (step === undefined || !isCommand(event)) return;
    const rows = [...(list.current?.children ?? [])];
    const at = rows.findIndex((row) => row.contains(document.activeElement));
    if (focusRow(at + step, step)) event.preventDefault();
  });
  return {
    list,
    answering: (at: number) => {
      answered.current = at;
    },
  };
}
