/** Question of an approval, as text. Pure. */

/**
 * @param detail of the wait: the question, perhaps with more beside it
 * @param otherwise where there is none
 */
export function questionText(detail: unknown, otherwise = '(no question)'): string {
  if (detail === undefined || detail === null) return otherwise;
  if (typeof detail === 'string') return detail;
  const { question } = detail as { readonly question?: unknown };
  return typeof question === 'string' ? question : JSON.stringify(question ?? detail);
}
