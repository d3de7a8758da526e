/**
 * The one judgement of a run's documents: all that is wrong with them, each by its name. Pure, total
 * over any damage, and without a way to write.
 */
import { isOver, type RunState } from '../run/state.ts';
import { checkpointProblems, type Judging, stepProblems } from './documents.ts';
import { effectProblems } from './effects.ts';
import type { RunFacts } from './facts.ts';
import { type Problem, unhealable } from './problems.ts';
import { pageProblems, snapshotProblems } from './snapshot.ts';
import { findingProblems, mailboxProblems, recordProblems } from './surroundings.ts';

/** Empty for a run of which everything is as it should be. */
export function checkRun(facts: RunFacts): Problem[] {
  const { journal } = facts;
  // Nothing else can be judged without it.
  if (journal.broken) return [journal.broken];
  const { state } = journal;
  if (!state) return [unhealable('JOURNAL_MISSING', 'events')];
  const judging = judgingOf(facts, state);
  return [
    ...snapshotProblems(facts, state),
    ...pageProblems(facts),
    ...lostEvents(facts, state, judging.vouched),
    ...checkpointProblems(judging),
    ...stepProblems(judging),
    ...effectProblems(judging, state),
    ...handoffProblems(facts, state),
    ...mailboxProblems(facts, state),
    ...findingProblems(facts, state),
    ...recordProblems(facts, state),
  ];
}

function judgingOf(facts: RunFacts, state: RunState): Judging {
  return { facts, head: state.head, lastAt: state.updatedAt, vouched: isVouchedFor(facts, state) };
}

/**
 * Returns true if the end of the journal is certain: after the end of a run nothing follows that has documents (J6),
 * and the snapshot of a run without a lease is exact (J4).
 */
function isVouchedFor({ journal }: RunFacts, state: RunState): boolean {
  return isOver(state) || (journal.atSnapshot?.head === state.head && state.lease === undefined);
}

/** Those that have been published were once there. */
function lostEvents({ snapshot }: RunFacts, { head }: RunState, vouched: boolean): Problem[] {
  const published = snapshot?.soft.publishedSeq ?? 0;
  if (vouched || published <= head) return [];
  return [unhealable('JOURNAL_TAIL_CUT', 'run', { head, published })];
}

function handoffProblems({ journal }: RunFacts, state: RunState): Problem[] {
  const problems: Problem[] = [];
  const asked = state.waits.filter(({ kind }) => kind === 'approval').map(({ id }) => id);
  if (state.status === 'interrupted' && asked.length > 0) {
    problems.push(unhealable('INTERRUPTED_WITH_HANDOFF', 'run', { waits: asked }));
  }
  const { haltedAt } = journal;
  if (haltedAt !== undefined && !isOver(state) && !state.cancellation) {
    problems.push(unhealable('HALT_NOT_APPLIED', 'run', { decidedBy: haltedAt }));
  }
  return problems;
}
