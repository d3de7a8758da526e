/**
 * Periodic work of a dispatch: writes a lagging snapshot (J4), sends heartbeats, reports long-running bodies, and reads
 * events of others when it has nothing to commit.
 */
import type { RunJournal } from '../../journal/run-journal.ts';
import type { CancelTimer } from '../../ports/clock.ts';
import type { EngineDeps } from '../deps.ts';

interface HeartbeatParams {
  /** True if steps are running, so that a cancellation has an effect. */
  readonly busy: () => boolean;
  /** Time to report the oldest unreported body in a snapshot, epoch ms. */
  readonly showAt: () => number;
  /** Called when events of others may have been folded. */
  readonly onRefreshed: () => void;
  /** The journal gave up: the lease is lost or the outcome of a commit unknown. */
  readonly onFailure: (error: unknown) => void;
}

/** Starts the heartbeats; the returned function stops them. */
export function keepHeartbeats(
  { clock, settings }: Pick<EngineDeps, 'clock' | 'settings'>,
  journal: RunJournal,
  params: HeartbeatParams,
): CancelTimer {
  let lastPollAt = clock.now();
  let ended = false;
  let cancel = clock.timer(untilNextBeat(), () => void beat());
  const forget = clock.onMoved?.(showAlive);
  return () => {
    ended = true;
    cancel();
    forget?.();
  };

  /**
   * Renews the heartbeat after the clock was changed. Written twice, because the first write may be a commit that was in
   * progress at the change.
   */
  async function showAlive(): Promise<void> {
    try {
      await journal.touch();
      await journal.touch();
    } catch (error) {
      if (!ended) params.onFailure(error);
    }
  }

  async function beat(): Promise<void> {
    try {
      await writeAndPoll();
    } catch (error) {
      if (!ended) params.onFailure(error);
      return;
    }
    if (!ended) cancel = clock.timer(untilNextBeat(), () => void beat());
  }

  async function writeAndPoll(): Promise<void> {
    const now = clock.now();
    const silence = elapsed(journal.lastSnapshotAt, now);
    const isDue = silence >= settings.heartbeatMs || now >= params.showAt();
    const writes = (journal.lagging && silence >= settings.flushMs) || isDue;
    const polls = untilNextPoll(now) <= 0;
    if (writes) await journal.touch();
    // A written snapshot does not reveal events of others: a heartbeat must not postpone a check.
    if (polls) {
      lastPollAt = now;
      await journal.refresh();
    }
    if ((writes || polls) && !ended) params.onRefreshed();
  }

  /** A commit also checks for events of others: it would have conflicted with one. */
  function untilNextPoll(now: number): number {
    if (!params.busy()) return Number.POSITIVE_INFINITY;
    return settings.pollMs - Math.min(elapsed(journal.lastCommitAt, now), elapsed(lastPollAt, now));
  }

  function untilNextBeat(): number {
    const now = clock.now();
    const heartbeatDue = settings.heartbeatMs - elapsed(journal.lastSnapshotAt, now);
    return Math.max(1, Math.min(settings.flushMs, heartbeatDue, params.showAt() - now, untilNextPoll(now)));
  }
}

/**
 * If the clock was set back, the elapsed time is unknown and counts as long enough, because the lease could expire otherwise.
 */
function elapsed(since: number, now: number): number {
  return now < since ? Number.POSITIVE_INFINITY : now - since;
}
