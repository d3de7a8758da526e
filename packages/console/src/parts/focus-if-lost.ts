/**
 * The focus of a part that is gone goes to the page: without one, Tab begins at the top and a screen reader says nothing.
 *
 * @param leaving part that is about to be gone: it keeps the focus until the browser draws again
 */
export function focusIfLost(leaving?: Node | null): void {
  const { activeElement, body } = document;
  if (activeElement === body || leaving?.contains(activeElement)) document.getElementById('content')?.focus();
}
