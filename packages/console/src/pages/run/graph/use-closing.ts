/** Escape closes a side panel, and the focus returns to the element that opened it. */
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
  // A layout effect runs before the panel is removed together with the focus.
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
