/**
 * `j` and `k`, or the arrow keys, move the focus between the buttons of the questions. When the focused question is answered,
 * the one that takes its place gets the focus.
 */
import { useCallback, useEffect, useRef } from 'react';
import { isCommand, usePageKeys } from '../../shell/is-command.ts';

const STEPS: Readonly<Record<string, number>> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };

/** Class of a card that keeps its place without a question. The keys skip it. */
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
    // The dialog has returned the focus, unless the button that opened it is gone.
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
