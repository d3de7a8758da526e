/** Signals that no step of an ended run has read, in a sentence. Pure. */

/** Most names that are listed. */
const MAX_NAMED = 2;

export function unreadText(inbox: readonly { readonly name: string }[]): string {
  const names = [...new Set(inbox.map(({ name }) => name))];
  const more = names.length > MAX_NAMED ? ', …' : '';
  const signals = inbox.length === 1 ? '1 signal was' : `${inbox.length} signals were`;
  return `${signals} never read: ${names.slice(0, MAX_NAMED).join(', ')}${more}. A run made from this one can take ${inbox.length === 1 ? 'it' : 'them'} over.`;
}
