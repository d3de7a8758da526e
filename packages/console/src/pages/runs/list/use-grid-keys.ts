/** Keys of the list. They work everywhere on the page except in fields, buttons and dialogs. */
import { isTyping, usePageKeys } from '../../../shell/is-command.ts';

interface GridKeys {
  move(by: number, isRange: boolean): void;
  moveTo(end: 'first' | 'last'): void;
  open(): void;
  choose(isRange: boolean): void;
  clear(): void;
  /** Rows per screen, for Page Up and Page Down. */
  readonly page: number;
}

export function useGridKeys(keys: GridKeys): void {
  usePageKeys((event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isTyping(event) || document.querySelector('dialog[open]')) return;
    const act = actionOf(event, keys);
    if (!act) return;
    event.preventDefault();
    act();
  });
}

function actionOf({ key, shiftKey, target }: KeyboardEvent, keys: GridKeys): (() => void) | undefined {
  switch (key) {
    case 'j':
    case 'J':
    case 'ArrowDown':
      return () => keys.move(1, shiftKey);
    case 'k':
    case 'K':
    case 'ArrowUp':
      return () => keys.move(-1, shiftKey);
    case 'x':
    case 'X':
      return () => keys.choose(shiftKey);
    case 'Escape':
      return () => keys.clear();
  }
  // Buttons and links handle these keys themselves.
  if (target instanceof HTMLElement && target.closest('button, a, summary')) return undefined;
  switch (key) {
    case 'Enter':
      return () => keys.open();
    case ' ':
      return () => keys.choose(shiftKey);
    case 'PageDown':
      return () => keys.move(keys.page, shiftKey);
    case 'PageUp':
      return () => keys.move(-keys.page, shiftKey);
    case 'Home':
      return () => keys.moveTo('first');
    case 'End':
      return () => keys.moveTo('last');
    default:
      return undefined;
  }
}
