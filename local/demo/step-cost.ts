/** What the steps of a run have cost since the meter was reset, per step, in billed Firestore operations. */
import { control, type Ready } from '../cloud-process.ts';

export interface StepCost {
  readonly writesPerStep: number;
  readonly readsPerStep: number;
}

interface Metered {
  readonly firestore: { readonly byDocument: Readonly<Record<string, { reads: number; writes: number }>> };
}

/**
 * Counts the documents a step has of its own: event, checkpoint, step record. The snapshot is written by the clock, not
 * by steps, and is left out.
 */
export async function costOfSteps(ready: Ready, runId: string): Promise<StepCost> {
  const { firestore } = await control<Metered>(ready, 'GET', '/meter');
  const rows = Object.entries(firestore.byDocument).filter(([name]) => name.includes(`/${runId}/`));
  const of = (collection: string) => rows.filter(([name]) => name.includes(`/${runId}/${collection}/`));
  const steps = of('steps').length;
  if (steps === 0) throw new Error('no step ended while the meter ran');
  const sum = (what: 'reads' | 'writes') => rows.reduce((total, [, usage]) => total + usage[what], 0);
  return { writesPerStep: sum('writes') / steps, readsPerStep: sum('reads') / steps };
}
