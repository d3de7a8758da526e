/** The outcomes of undone steps, from the compensation log of the run, and the running undos. Pure. */
import type { Run } from './events.ts';

export type Undone = Run['compensationLog'][number];

/** By the key of the step. A failed undo of one revision takes precedence, because a person must see it. */
export function undoneOf(log: readonly Undone[] = []): ReadonlyMap<string, Undone> {
  const undone = new Map<string, Undone>();
  for (const entry of log)
    if (undone.get(entry.stepId)?.outcome !== 'failed') undone.set(entry.stepId, entry);
  return undone;
}

export function undoBodyOf(step: string, running: Run['running'] = []): Run['running'][number] | undefined {
  return running.find((body) => body.undoes && body.step === step);
}
