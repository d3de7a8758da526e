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
 * Counts the documents of a step: event, checkpoint, step record. Derived from the journal, so the result does not depend on the
 * time. The snapshot is excluded, because it is written by time and not by step.
 */
export async function costOfSteps(ready: Ready, runId: string): Promise<StepCost> {
  // Reads the meter first, because reading the journal is metered too.
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
