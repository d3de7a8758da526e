/**
 * How everybody who does not hold the lease appends to a run: people, triggers, other runs. Against a busy drive it
 * reads the tail, decides again and tries again (J2), for a bounded time.
 *
 * Must not: decide anything about a run; that is the caller's `decide`.
 */
import { isRunId } from '../core/encoding/ids.ts';
import { CairnError } from '../core/errors.ts';
import type { RunState } from '../core/run/state.ts';
import type { Decide } from '../journal/batch.ts';
import { type Appended, type JournalDeps, RunJournal } from '../journal/run-journal.ts';
import { sendUntilKnown } from '../journal/send-until-known.ts';
import { setTo } from '../ports/clock.ts';
import type { LoadedRun } from '../ports/run-store.ts';
import { OutcomeUnknown } from '../ports/store-errors.ts';

/** How long to fight with a busy drive before the caller is asked to come back (DESIGN section 4). */
export const OUTSIDE_PATIENCE_MS = 10_000;

export interface OutsideAppend {
  readonly runId: string;
  /** Of the caller: another tenant's run is answered exactly as one that does not exist. */
  readonly tenantId: string;
  /**
   * Called anew on every newer state. `now` is the store's time (epoch ms): deadlines come from other processes' clocks,
   * and must mean the same to all. What it throws refuses the append. Must come to nothing on a state that holds
   * its events already: a caller who is answered with UNAVAILABLE sends again, and cannot know whether it was applied.
   */
  readonly decide: (state: RunState, now: number) => ReturnType<Decide>;
}

/** @throws CairnError RUN_NOT_FOUND, UNAVAILABLE (send the same again), or what `decide` throws */
export async function appendFromOutside(
  deps: JournalDeps,
  { decide, ...whose }: OutsideAppend,
): Promise<Appended> {
  const loaded = await loadOwn(deps, whose);
  const clock = setTo(deps.clock, loaded.readAt);
  // Without a lease nothing is extended and no snapshot is coalesced: those two durations are never used.
  const journal = new RunJournal({ ...deps, clock }, loaded, {
    leaseMs: 0,
    flushMs: Number.POSITIVE_INFINITY,
    patienceMs: OUTSIDE_PATIENCE_MS,
  });
  try {
    return await journal.append((state) => decide(state, clock.now()));
  } catch (error) {
    if (!(error instanceof OutcomeUnknown)) throw error;
    throw new CairnError('UNAVAILABLE', 'the run is too busy, or the store did not answer in time', {
      cause: error,
    });
  }
}

/** The run, if it is the caller's. @throws CairnError RUN_NOT_FOUND, UNAVAILABLE */
export async function loadOwn(
  deps: JournalDeps,
  { runId, tenantId }: Omit<OutsideAppend, 'decide'>,
): Promise<LoadedRun> {
  const loaded = isRunId(runId) ? await sendUntilKnown(deps, () => deps.store.load(runId)) : undefined;
  if (loaded?.state.tenantId === tenantId) return loaded;
  throw runNotFound();
}

/** The same words for a run of another tenant, a run that does not exist, and an id that cannot be one. */
export function runNotFound(): CairnError {
  return new CairnError('RUN_NOT_FOUND', 'there is no run with this id', { field: 'id' });
}
