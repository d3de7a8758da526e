/** Keys of the whole page: single letters are commands, unless they go into a field. */

export function isTyping({ target }: KeyboardEvent): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]');
}
