/** Groups of run statuses, as the pages need them. Pure. */

const FINAL: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);

export function isFinal(status: string): boolean {
  return FINAL.has(status);
}
