/**
 * Follows the lines that a run logs and the text that it streams, from a position: each line once and in order, until the run has
 * ended. Lines come from the store; a watch only reports that there may be more.
 *
 * Must not: hold more of a run than the documents of one read, however slow its reader is.
 */
import { isWanted, type LineSort, type LogFilter } from '../../core/logs/filter.ts';
import { type LogPlace, linesAfter } from '../../core/logs/segment.ts';
import type { StoredLine } from '../../core/logs/text.ts';
import type { StopKind } from '../../core/run/events.ts';
import { isTerminal, type RunStatus } from '../../core/run/status.ts';
import type { Clock } from '../../ports/clock.ts';
import type { LogStore } from '../../ports/runs/log-store.ts';
import type { RunEnd, RunWatch } from '../../ports/runs/run-watch.ts';
import { type FollowBounds, WatchReports } from './watch-reports.ts';

interface FollowLogsDeps {
  readonly logs: LogStore;
  readonly watch: Pick<RunWatch, 'watchLogs'>;
  readonly clock: Clock;
}

interface LogStreamRequest extends FollowBounds {
  readonly runId: string;
  readonly filter: LogFilter;
  /** Absent: both. */
  readonly sort?: LineSort | undefined;
  /** Absent: from the beginning. */
  readonly after: LogPlace | undefined;
  /** Status at the start. */
  readonly status: RunStatus;
  readonly stopKind?: StopKind | undefined;
}

export type LogStreamItem =
  /** `after`: the position from which a reader that has this line continues. */
  | { readonly kind: 'line'; readonly line: StoredLine; readonly after: LogPlace }
  /** Nothing was reported for a while. */
  | { readonly kind: 'quiet' }
  /** The run has ended and all its lines have been reported. */
  | { readonly kind: 'ended'; readonly status: RunStatus; readonly stopKind: StopKind | undefined };

/** Documents read at once: at most 5 MiB. */
const SEGMENTS_AT_ONCE = 10;

/** Ends without `ended` when the signal aborts or the time is over. */
export async function* followLogs(
  deps: FollowLogsDeps,
  following: LogStreamRequest,
): AsyncGenerator<LogStreamItem> {
  const { runId, quietMs, until, signal } = following;
  const { clock } = deps;
  let place = following.after;
  /** False: some are left for the next request of the reader. */
  async function* rest(): AsyncGenerator<LogStreamItem, boolean> {
    for (;;) {
      const segments = await deps.logs.readLogs(runId, place?.[1], SEGMENTS_AT_ONCE);
      for (const { line, after } of linesAfter(place, segments)) {
        place = after;
        if (isWanted(line, following.filter, following.sort)) yield { kind: 'line', line, after };
      }
      if (segments.length < SEGMENTS_AT_ONCE) return true;
      if (signal.aborted) return false;
    }
  }
  let { status, stopKind } = following;
  if (following.onlyNow || isTerminal(status)) {
    const isRead = yield* rest();
    if (isRead && isTerminal(status)) yield { kind: 'ended', status, stopKind };
    return;
  }
  const news = new WatchReports<{ readonly ended: RunEnd | undefined }>(clock);
  const stop = deps.watch.watchLogs(runId, { onLogs: (ended) => news.put({ ended }), onError: news.fail });
  try {
    let sentAt = clock.now();
    for (;;) {
      const left = until - clock.now();
      if (left <= 0 || signal.aborted) return;
      const update = await news.next(Math.min(Math.max(0, sentAt + quietMs - clock.now()), left), signal);
      if (signal.aborted) return;
      // The lines written in the commit of the end exist when the end is reported.
      if (update) {
        const lines = rest();
        let next = await lines.next();
        for (; !next.done; next = await lines.next()) {
          sentAt = clock.now();
          yield next.value;
        }
        if (update.ended && next.value) {
          ({ status, stopKind } = update.ended);
          yield { kind: 'ended', status, stopKind };
          return;
        }
      }
      if (clock.now() - sentAt >= quietMs && clock.now() < until) {
        sentAt = clock.now();
        yield { kind: 'quiet' };
      }
    }
  } finally {
    stop();
  }
}
