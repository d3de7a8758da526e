/** Keys of the whole page: single letters are commands, except in a field. */
import { useEffect, useRef } from 'react';

export function isTyping({ target }: KeyboardEvent): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]');
}

/** True if a key without modifiers is meant for the page: not for a field, the browser or an open dialog. */
export function isCommand(event: KeyboardEvent): boolean {
  const isWithAnother = event.ctrlKey || event.metaKey || event.altKey;
  return !isTyping(event) && !isWithAnother && document.querySelector('dialog[open]') === null;
}

/** Calls back for every key pressed on the page. */
export function usePageKeys(onKey: (event: KeyboardEvent) => void): void {
  const latest = useRef(onKey);
  useEffect(() => {
    latest.current = onKey;
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent) => latest.current(event);
    window.addEventListener('keydown', listener);
    return () => window.removeEventListener('keydown', listener);
  }, []);
}
