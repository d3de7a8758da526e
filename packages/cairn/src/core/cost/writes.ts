/**
 * Billed writes of event commits, computed from the events alone, for commits of a worker that died before it reported
 * its cost.
 */
import type { RunEvent } from '../run/events.ts';
import { isBoundary, stepRecordOf } from '../run/records.ts';

/** Lower bound: events, their checkpoints, new ledger rows, and each step once, although several commits may have written it. */
export function writesOf(events: readonly RunEvent[]): number {
  const steps = new Set<string>();
  let writes = events.length;
  for (const event of events) {
    if (isBoundary(event) || event.type === 'effect_attempted') writes += 1;
    const step = stepRecordOf(event, 1);
    if (step) steps.add(step.id);
  }
  return writes + steps.size;
}
