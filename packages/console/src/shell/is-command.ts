/** Keys of the whole page: single letters are commands, unless they go into a field. */

export function isTyping({ target }: KeyboardEvent): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]');
}

/** True if a key without modifiers is meant for the page: not for a field, the browser or an open dialog. */
export function isCommand(event: KeyboardEvent): boolean {
  const isWithAnother = event.ctrlKey || event.metaKey || event.altKey;
  return !isTyping(event) && !isWithAnother && document.querySelector('dialog[open]') === null;
}
