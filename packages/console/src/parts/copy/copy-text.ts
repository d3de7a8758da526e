/** Copies a text to the clipboard, also in an insecure context. */

/** @returns whether the text was copied */
export async function copyText(text: string): Promise<boolean> {
  // The clipboard API exists only at HTTPS and at localhost.
  const { clipboard } = navigator as { readonly clipboard?: Clipboard };
  if (!clipboard) return copySelected(text);
  try {
    await clipboard.writeText(text);
    return true;
  } catch {
    // The browser or a frame denied the permission.
    return copySelected(text);
  }
}

/** Copies as a person does, by selecting the text in a field. Restores the focus. */
function copySelected(text: string): boolean {
  const { activeElement } = document;
  const field = document.createElement('textarea');
  field.value = text;
  field.readOnly = true;
  field.className = 'visually-hidden';
  // The field must be within the top dialog, because elements outside cannot get the focus.
  const place = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body;
  place.append(field);
  try {
    field.focus({ preventScroll: true });
    field.select();
    // If the field did not get the focus, another selection would be copied.
    return document.activeElement === field && document.execCommand('copy');
  } finally {
    field.remove();
    if (activeElement instanceof HTMLElement) activeElement.focus({ preventScroll: true });
  }
}
