/** Checks the documents of a run and names all problems. Pure, total over any damage, and unable to write. */
import { isOver, type RunState } from '../run/state.ts';
import { checkpointProblems, stepProblems } from './documents.ts';
import { effectProblems } from './effects.ts';
import type { RunAsFound } from './found.ts';
import { type ConsistencyProblem, unhealable } from './problems.ts';
import { snapshotProblems } from './snapshot.ts';
import { findingProblems, mailboxProblems, recordProblems } from './surroundings.ts';

const JUDGEMENTS = [
  snapshotProblems,
  lostEvents,
  checkpointProblems,
  stepProblems,
  effectProblems,
  handoffProblems,
  mailboxProblems,
  findingProblems,
  recordProblems,
] as const;

/** Empty for a sound run. */
export function checkRun(run: RunAsFound): ConsistencyProblem[] {
  const { broken, state } = run.journal;
  // No other check is possible without it.
  if (broken) return [broken];
  if (!state) return [unhealable('JOURNAL_MISSING', 'events')];
  return JUDGEMENTS.flatMap((judge) => judge(run, state));
}

/** Published events existed once. */
function lostEvents({ snapshot, journal }: RunAsFound, { head }: RunState): ConsistencyProblem[] {
  const published = snapshot?.metadata.publishedSeq ?? 0;
  if (journal.isEndCertain || published <= head) return [];
  return [unhealable('JOURNAL_TAIL_CUT', 'run', { head, published })];
}

function handoffProblems({ journal }: RunAsFound, state: RunState): ConsistencyProblem[] {
  const problems: ConsistencyProblem[] = [];
  const waits = state.waits.filter(({ kind }) => kind === 'approval').map(({ id }) => id);
  if (state.status === 'interrupted' && waits.length > 0) {
    problems.push(unhealable('INTERRUPTED_WITH_HANDOFF', 'run', { waits }));
  }
  const { haltedAt: decidedBy } = journal;
  if (decidedBy !== undefined && !isOver(state) && !state.cancellation) {
    problems.push(unhealable('HALT_NOT_APPLIED', 'run', { decidedBy }));
  }
  return problems;
}
