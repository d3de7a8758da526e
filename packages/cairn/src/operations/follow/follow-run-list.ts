/**
 * Follows a list of runs: reports each run once, and then its changes. Works in rounds: changes since the last round
 * are reported together, so that a run that changes often is reported in its newest state, and at most once per round.
 *
 * Must not: hold more than the current list and the current report, however slow its reader is.
 */
import { type Clock, pause } from '../../ports/clock.ts';
import type { ListedRun, RunFilter } from '../../ports/run-store.ts';
import type { RunListWatch } from '../../ports/runs/run-list-watch.ts';
import { type FollowBounds, WatchReports } from './watch-reports.ts';

/** Shortest time between the starts of two rounds, ms: at most five updates a second. */
const ROUND_MS = 200;

interface FollowListDeps {
  readonly watch: RunListWatch;
  readonly clock: Clock;
}

interface FollowingList extends FollowBounds {
  readonly filter: RunFilter;
  /** Number of newest runs. */
  readonly limit: number;
}

export type FollowedList =
  /** The run is new in the list, or has changed. */
  | { readonly kind: 'run'; readonly run: ListedRun }
  /** The run left the list: it no longer matches, was deleted, or was displaced by newer ones. */
  | { readonly kind: 'gone'; readonly runId: string }
  /** The initial list has been reported. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'quiet' };

/** Ends when the signal aborts or the time is over. @throws errors of the watch */
export async function* followRunList(
  { watch, clock }: FollowListDeps,
  { filter, limit, quietMs, onlyNow, until, signal }: FollowingList,
): AsyncGenerator<FollowedList> {
  const lists = new WatchReports<readonly ListedRun[]>(clock);
  const sent = new Map<string, string>();
  let isReady = false;
  let quietAt = clock.now() + quietMs;
  const stop = watch.watchRuns(filter, limit, { onRuns: (runs) => lists.put(runs), onError: lists.fail });
  try {
    for (;;) {
      const beganAt = clock.now();
      if (beganAt >= until || signal.aborted) return;
      const runs = await lists.next(Math.min(quietAt, until) - beganAt, signal);
      const roundAt = clock.now();
      const round = runs === undefined ? [] : roundOf(runs, sent);
      if (runs && !isReady) {
        round.push({ kind: 'ready' });
        isReady = true;
      }
      if (round.length === 0 && roundAt >= quietAt && roundAt < until) round.push({ kind: 'quiet' });
      yield* round;
      if (isReady && onlyNow) return;
      if (round.length > 0) quietAt = clock.now() + quietMs;
      // The pause follows an empty round too: heartbeats are frequent changes that are not reported.
      if (runs) await pause(clock, Math.min(roundAt + ROUND_MS, until) - clock.now(), signal);
    }
  } finally {
    stop();
  }
}

/** Differences from the last report, newest first. They then count as reported. */
function roundOf(runs: readonly ListedRun[], sent: Map<string, string>): FollowedList[] {
  const listedIds = new Set(runs.map(({ state }) => state.id));
  const round: FollowedList[] = [];
  for (const runId of [...sent.keys()].filter((id) => !listedIds.has(id))) {
    sent.delete(runId);
    round.push({ kind: 'gone', runId });
  }
  for (const run of runs) {
    const { id, headHash } = run.state;
    // Except for its cost, everything shown of a run is folded from the journal up to this hash.
    const shown = `${headHash} ${JSON.stringify(run.metadata.cost)}`;
    if (sent.get(id) === shown) continue;
    sent.set(id, shown);
    round.push({ kind: 'run', run });
  }
  return round;
}
