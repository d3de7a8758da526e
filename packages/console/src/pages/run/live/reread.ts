/** When the page of a run reads it again although no event came. Pure. */
import { mayBeStopped } from '@cairn/client';
import type { Run } from './events.ts';

/** While a worker has it: heartbeats are no events, and a missing one is what a person wants to see. */
const DRIVEN_REREAD_MS = 10_000;
/** While a worker has it and names no body: a body is named within two seconds, and is to be shown within three. */
const UNNAMED_REREAD_MS = 900;
/** While a body says how far it has come, or its worker says nothing. */
const PROGRESS_REREAD_MS = 3_000;
/** While no worker has it although it waits for nothing: operators may stop it, which is no event. */
const STOPPABLE_REREAD_MS = 15_000;
/** Interval after its end: its worker writes what the run cost and logged after its last event, which is no event. */
const ENDED_REREAD_MS = 1_000;
/** Time from its end on. Its worker has answered by then, or is dead. */
const SETTLED_AFTER_MS = 5_000;

/**
 * Interval in ms; false: the events tell when to.
 *
 * @param now time of the installation, epoch ms, as far as it is known: where it is not, an end that seems to lie ahead counts as long past
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
