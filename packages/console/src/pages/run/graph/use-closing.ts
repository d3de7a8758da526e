/** Escape closes a panel beside what it was opened from, and the focus returns there. */
import { type RefObject, useLayoutEffect } from 'react';
import { isFocusLost } from '../../../parts/focus.ts';
import { isTyping, usePageKeys } from '../../../shell/is-command.ts';

export function useClosing(panel: RefObject<HTMLElement | null>, onClose: () => void): void {
  usePageKeys((event) => {
    if (event.key !== 'Escape' || event.defaultPrevented || isTyping(event)) return;
    if (document.querySelector('dialog[open]')) return;
    event.preventDefault();
    onClose();
  });
  // Before the panel is taken from the page, with whatever has the focus in it.
  useLayoutEffect(() => {
    const opener = document.activeElement;
    const own = panel.current;
    return () => {
      const isOwn = own?.contains(document.activeElement) ?? false;
      if ((isOwn || isFocusLost()) && opener instanceof HTMLElement && opener.isConnected)
        opener.focus({ preventScroll: true });
    };
  }, [panel]);
}
