/** Question of an approval, as text. Pure. */

/** @param detail of the wait: the question, perhaps with more beside it */
export function questionText(detail: unknown): string {
  if (detail === undefined || detail === null) return '(no question)';
  if (typeof detail === 'string') return detail;
  const { question } = detail as { readonly question?: unknown };
  return typeof question === 'string' ? question : JSON.stringify(question ?? detail);
}

/** Names of the people to ask, after the question. */
export function askedText(detail: unknown): string {
  const { to } = Object(detail) as { readonly to?: unknown };
  return Array.isArray(to) ? ` (asked: ${to.join(', ')})` : '';
}
