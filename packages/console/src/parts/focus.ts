/** The focus of the keyboard when the part that had it is gone: without one, Tab begins at the top and a screen reader says nothing. */

/** True if no element of the page has the focus, as after the removal of the one that had it. */
export function isFocusLost(): boolean {
  const { activeElement, body } = document;
  return activeElement === null || activeElement === body || activeElement.id === 'content';
}

/**
 * Gives the page the focus that is lost.
 *
 * @param leaving part that is about to be gone: it keeps the focus until the browser draws again
 */
export function focusIfLost(leaving?: Node | null): void {
  if (isFocusLost() || leaving?.contains(document.activeElement))
    document.getElementById('content')?.focus({ preventScroll: true });
}
