/**
 * Follows a run: every event after a sequence number, each once and in order, until the run has ended. Events come from
 * the journal; a watch only reports that there are more, and may repeat or skip reports.
 *
 * Must not: hold more of a run than a page, however slow its reader is.
 */
import type { RunEvent, StopKind } from '../../core/run/events.ts';
import { isTerminal, type RunStatus } from '../../core/run/status.ts';
import type { Clock } from '../../ports/clock.ts';
import type { RunStore } from '../../ports/run-store.ts';
import type { RunWatch } from '../../ports/runs/run-watch.ts';
import { type FollowBounds, WatchReports } from './watch-reports.ts';

interface FollowDeps {
  readonly store: Pick<RunStore, 'readEvents'>;
  readonly watch: Pick<RunWatch, 'watch'>;
  readonly clock: Clock;
}

interface RunFollowing extends FollowBounds {
  readonly runId: string;
  /** The last event already reported; 0 for none. */
  readonly after: number;
  /** Status at the start. */
  readonly status: RunStatus;
  readonly stopKind?: StopKind | undefined;
}

export type FollowedRun =
  | { readonly kind: 'event'; readonly event: RunEvent }
  /** Nothing was reported for a while. */
  | { readonly kind: 'quiet' }
  | { readonly kind: 'ended'; readonly status: RunStatus; readonly stopKind: StopKind | undefined };

/** Events read at once: less than two megabytes, because inline values have at most 16 KiB. */
const PAGE = 100;

const ENDINGS: Readonly<Partial<Record<RunEvent['type'], RunStatus>>> = {
  run_completed: 'completed',
  run_failed: 'failed',
  run_cancelled: 'cancelled',
};

/** Ends without `ended` when the signal aborts or the time is over. */
export async function* followRun(deps: FollowDeps, following: RunFollowing): AsyncGenerator<FollowedRun> {
  const { runId, quietMs, until, signal } = following;
  const { store, watch, clock } = deps;
  const reported = new Reported(following);
  /** False: some are left for the next request of the reader. */
  async function* unread(): AsyncGenerator<FollowedRun, boolean> {
    for (;;) {
      const page = await store.readEvents(runId, reported.seq, PAGE);
      for (const event of page) yield reported.with(event);
      if (page.length < PAGE) return true;
      if (signal.aborted) return false;
    }
  }
  const isRead = yield* unread();
  if (!isRead || (following.onlyNow && !reported.hasEnded)) return;
  const arrivals = new WatchReports<readonly RunEvent[]>(clock);
  const onEvents = (events: readonly RunEvent[]) => {
    const all = [...(arrivals.waiting ?? []), ...events];
    // A follower that is behind reads the rest from the journal, so the last event suffices.
    arrivals.put(all.length > PAGE ? all.slice(-1) : all);
  };
  const observer = { onEvents, onError: arrivals.fail };
  const stop = reported.hasEnded ? () => {} : watch.watch(runId, reported.seq, observer);
  try {
    while (!reported.hasEnded) {
      const left = until - clock.now();
      if (left <= 0 || signal.aborted) return;
      const arrived = (await arrivals.next(Math.min(quietMs, left), signal)) ?? [];
      if (arrived.length === 0 && left > quietMs && !signal.aborted) yield { kind: 'quiet' };
      for (const event of arrived) {
        if (event.seq === reported.seq + 1) yield reported.with(event);
        else if (event.seq > reported.seq) yield* unread();
      }
    }
  } finally {
    stop();
  }
  yield reported.end();
}

/** The state of the run that was reported. */
class Reported {
  /** The last event that was reported. */
  seq: number;
  #status: RunStatus;
  #stopKind: StopKind | undefined;

  constructor({ after, status, stopKind }: RunFollowing) {
    this.seq = after;
    this.#status = status;
    this.#stopKind = stopKind;
  }

  get hasEnded(): boolean {
    return isTerminal(this.#status);
  }

  with(event: RunEvent): FollowedRun {
    this.seq = event.seq;
    this.#status = ENDINGS[event.type] ?? this.#status;
    if (event.type === 'run_cancelled') this.#stopKind = event.data.stopKind;
    return { kind: 'event', event };
  }

  end(): FollowedRun {
    return { kind: 'ended', status: this.#status, stopKind: this.#stopKind };
  }
}
