/** Keys of the whole page: single letters are commands, unless they go into a field. */

export function isTyping({ target }: KeyboardEvent): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]');
}

/** Whether a key without another is meant for the page: not for a field, not for the browser, not below a dialog. */
export function isCommand(event: KeyboardEvent): boolean {
  const isWithAnother = event.ctrlKey || event.metaKey || event.altKey;
  return !isTyping(event) && !isWithAnother && document.querySelector('dialog[open]') === null;
}
