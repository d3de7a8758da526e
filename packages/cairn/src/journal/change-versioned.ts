/**
 * Changes a document under the version that was read: reads, decides and writes, and repeats this if another writer was faster.
 */
import { CairnError } from '../core/errors.ts';
import { EffectMoved } from './run-journal.ts';

/** End of an attempt whose write met a newer version. */
export const OVERTAKEN = Symbol('overtaken');

/**
 * Each failed attempt means that another writer succeeded. The most contended document is the day budget of a tenant, which all
 * its runs write.
 */
const MAX_ATTEMPTS = 20;

/**
 * Each attempt reads and decides anew. After a lost response it finds its own write, and must then be a no-op.
 *
 * @param what plural, for the error: "changes of the client"
 * @throws CairnError UNAVAILABLE (send the same again), or what an attempt throws except EffectMoved
 */
export async function changeVersioned<T>(
  what: string,
  attempt: () => Promise<T | typeof OVERTAKEN>,
): Promise<T> {
  const end = await tryToChange(attempt);
  if (end === OVERTAKEN) throw new CairnError('UNAVAILABLE', `too many concurrent ${what}`);
  return end;
}

/** `OVERTAKEN`: another writer was faster each time. */
export async function tryToChange<T>(
  attempt: () => Promise<T | typeof OVERTAKEN>,
): Promise<T | typeof OVERTAKEN> {
  for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts += 1) {
    try {
      const end = await attempt();
      if (end !== OVERTAKEN) return end;
    } catch (error) {
      if (!(error instanceof EffectMoved)) throw error;
    }
  }
  return OVERTAKEN;
}
