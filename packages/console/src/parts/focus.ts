/** Restores a focus lost with its element: without a focus, Tab starts at the top, and a screen reader says nothing. */

/** True if no element has the focus, for example after the focused element was removed. */
export function isFocusLost(): boolean {
  const { activeElement, body } = document;
  return activeElement === null || activeElement === body || activeElement.id === 'content';
}

/**
 * Moves a lost focus to the page.
 *
 * @param leaving element that is about to be removed, which keeps the focus until the browser draws again
 */
export function focusIfLost(leaving?: Node | null): void {
  if (isFocusLost() || leaving?.contains(document.activeElement))
    document.getElementById('content')?.focus({ preventScroll: true });
}
