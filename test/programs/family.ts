/** Finds the runs that ended because their workers died, and the parents of all runs. */
import type { RunState } from '../../packages/cairn/src/core/run/state.ts';
import type { MemoryDatabase } from '../../packages/cairn/src/memory/memory-database.ts';
import type { Family } from './data/predict.ts';

/** Ends caused only by the loss of workers, never by a program. */
const LOST = new Set(['RUN_ORPHANED', 'RUN_RESUME_FAILED']);

export function isLost({ status, error }: RunState): boolean {
  return status === 'failed' && LOST.has(error?.code ?? '');
}

/** The run and all runs below it. */
export function familyOf(db: MemoryDatabase, runId: string): Family {
  const members = [...db.runs.values()].map(({ snapshot }) => snapshot);
  const state = members.find(({ id }) => id === runId) as RunState;
  const children = new Map<string, Family[]>();
  const born = members.filter(({ parent }) => parent?.runId === runId);
  // The map has the order of the starts, which may differ from that of the clocks.
  for (const child of born) {
    const step = child.parent?.stepId ?? '';
    children.set(step, [...(children.get(step) ?? []), familyOf(db, child.id)]);
  }
  return { isLost: isLost(state), children };
}
