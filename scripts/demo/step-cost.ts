/** Cost of the completed steps of a run, per step, in billed Firestore operations. */
import { control, type Ready } from '../../packages/local/src/cloud-process.ts';
import { inspectJournal } from './journal.ts';

export interface StepCost {
  readonly writesPerStep: number;
  readonly readsPerStep: number;
}

interface Usage {
  readonly reads: number;
  readonly writes: number;
}

interface Metered {
  readonly firestore: { readonly byDocument: Readonly<Record<string, Usage>> };
}

/**
 * Counts the documents a step has of its own: event, checkpoint, step record. Which they are the journal tells, so the
 * cost is the same whenever it is asked for. The snapshot is written by the clock, not by steps, and is left out.
 */
export async function costOfSteps(ready: Ready, runId: string): Promise<StepCost> {
  // The meter first: reading the journal is metered too.
  const { firestore } = await control<Metered>(ready, 'GET', '/meter');
  const { events } = await inspectJournal(ready, runId);
  const usage = new Map(
    Object.entries(firestore.byDocument).map(([name, row]) => [name.split(`/${runId}/`).at(1) ?? name, row]),
  );
  const steps = events.flatMap(({ type, seq, data }) => {
    const event = `events/${String(seq).padStart(10, '0')}`;
    if (type !== 'step_succeeded' || !usage.has(event)) return [];
    return [[event, event.replace('events', 'checkpoints'), `steps/${data.stepId}`]];
  });
  if (steps.length === 0) throw new Error('no step has ended yet');
  const sum = (what: keyof Usage) =>
    steps.flat().reduce((total, document) => total + (usage.get(document)?.[what] ?? 0), 0);
  return { writesPerStep: sum('writes') / steps.length, readsPerStep: sum('reads') / steps.length };
}
