/**
 * Appends without the lease: by an operator, a sender, another run. Against a busy dispatch it reads the tail, decides
 * again and retries (J2), for a bounded time.
 *
 * Must not: decide anything about a run, or who may change it.
 */
import type { EventDraft } from '../core/run/events.ts';
import type { RunState } from '../core/run/state.ts';
import { setTo } from '../ports/clock.ts';
import type { LoadedRun } from '../ports/run-store.ts';
import { CostCounter } from './cost/cost-counter.ts';
import { countedRunStore } from './cost/counted-run-store.ts';
import { type Appended, type JournalDeps, RunJournal } from './run-journal.ts';

/** Time to compete with a busy dispatch before the caller is asked to retry. Callers are answered within 8 s. */
export const OUTSIDE_PATIENCE_MS = 7_000;

/**
 * Called again on every newer state. `now` is the store's time (epoch ms), because deadlines come from processes with other
 * clocks. Throwing refuses the append. Must be a no-op on a state that has its events: a caller that gets an unknown outcome
 * sends again, and the first append may have been applied.
 */
export type DecideAt = (state: RunState, now: number) => readonly EventDraft[];

/** @throws OutcomeUnknown when patience ended, and errors of `decide` */
export function appendUnleased(deps: JournalDeps, loaded: LoadedRun, decide: DecideAt): Promise<Appended> {
  const clock = setTo(deps.clock, loaded.readAt);
  const store = countedRunStore(deps.store, new CostCounter({ reads: loaded.reads }));
  // Without a lease nothing is extended and no snapshot is coalesced, so those two durations are never used.
  const journal = new RunJournal({ ...deps, clock, store }, loaded, {
    leaseMs: 0,
    flushMs: Number.POSITIVE_INFINITY,
    patienceMs: OUTSIDE_PATIENCE_MS,
  });
  return journal.append((state) => decide(state, clock.now()));
}
