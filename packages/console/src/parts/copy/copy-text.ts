/** Puts a text on the clipboard of the browser, whatever the address of the page. */

/** @returns whether it is there */
export async function copyText(text: string): Promise<boolean> {
  // Absent but at HTTPS and at localhost.
  const { clipboard } = navigator as { readonly clipboard?: Clipboard };
  if (!clipboard) return copySelected(text);
  try {
    await clipboard.writeText(text);
    return true;
  } catch {
    // Without the permission, or in a frame that may not.
    return copySelected(text);
  }
}

/** Copies as a person does: the text in a field, selected. The focus comes back. */
function copySelected(text: string): boolean {
  const { activeElement } = document;
  const field = document.createElement('textarea');
  field.value = text;
  field.readOnly = true;
  field.className = 'visually-hidden';
  // Within the uppermost open dialog: what is outside takes no focus.
  const place = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body;
  place.append(field);
  try {
    field.focus({ preventScroll: true });
    field.select();
    // Without the focus another selection would be copied.
    return document.activeElement === field && document.execCommand('copy');
  } finally {
    field.remove();
    if (activeElement instanceof HTMLElement) activeElement.focus({ preventScroll: true });
  }
}
