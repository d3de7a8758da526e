/** `j` and `k`, or the arrows, go from question to question: to its button, which Enter presses. */
import { useEffect, useRef } from 'react';
import { isCommand } from '../../shell/keys.ts';

const STEPS: Readonly<Record<string, number>> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };

/** @param length of the list; the keys go no further */
export function useRowKeys(length: number) {
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const step = STEPS[event.key];
      if (step === undefined || !isCommand(event)) return;
      const rows = [...(list.current?.children ?? [])];
      const at = rows.findIndex((row) => row.contains(document.activeElement));
      const row = rows[Math.min(Math.max(at + step, 0), length - 1)];
      const target =
        row?.querySelector<HTMLElement>('button:not(:disabled), a.button') ?? row?.querySelector('a');
      if (!target) return;
      event.preventDefault();
      target.focus();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [length]);
  return list;
}
