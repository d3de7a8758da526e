/** What the status of a run means for who looks. Pure. */

const FINAL: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);

/** A run of this status will not move any more. */
export function isFinal(status: string): boolean {
  return FINAL.has(status);
}
