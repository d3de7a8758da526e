/** The interval at which the page of a run rereads it without an event. Pure. */
import { mayBeStopped } from '@cairn/client';
import type { Run } from './events.ts';

/** While a worker has the run: heartbeats are not events, and a missing heartbeat must be visible. */
const DRIVEN_REREAD_MS = 10_000;
/** While a worker has the run and names no body: a body is named within 2 s, and must be shown within 3 s. */
const UNNAMED_REREAD_MS = 900;
/** While a body reports progress, or the heartbeat is missing. */
const PROGRESS_REREAD_MS = 3_000;
/** While no worker has the run although it waits for nothing: operators may stop it, which is not an event. */
const STOPPABLE_REREAD_MS = 15_000;
/** After the end: the worker records costs and logs after the last event, without another event. */
const ENDED_REREAD_MS = 1_000;
/** Time after the end by which the worker has finished or died. */
const SETTLED_AFTER_MS = 5_000;

/**
 * Interval in ms; false: only events cause a reread.
 *
 * @param now time of the installation, epoch ms. It may be wrong, so an end in the future counts as long past
 */
export function rereadMs(run: RereadRun, now: number): number | false {
  const { lease, progress, running, silentSince, completedAt } = run;
  if (completedAt !== undefined)
    return Math.abs(now - Date.parse(completedAt)) < SETTLED_AFTER_MS && ENDED_REREAD_MS;
  if (!lease) return mayBeStopped(run) && STOPPABLE_REREAD_MS;
  if (progress || silentSince !== undefined) return PROGRESS_REREAD_MS;
  return running.length === 0 ? UNNAMED_REREAD_MS : DRIVEN_REREAD_MS;
}

type RereadRun = Pick<Run, 'lease' | 'progress' | 'running' | 'silentSince' | 'completedAt'> &
  Parameters<typeof mayBeStopped>[0];
