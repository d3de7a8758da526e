/**
 * Order in which one tick of the scan handles due runs, and when it stops. Runs that can continue come first; blocked
 * and paused runs, of which thousands may be due at once, get the remaining time. Pure.
 */
import { isTerminal, type RunStatus } from '../run/status.ts';

/**
 * Time in which a tick starts to handle further runs, ms. Shorter than the minute between ticks by more than a run
 * usually takes, so that ticks rarely overlap.
 */
export const SCAN_MS = 45_000;
/**
 * Ms of {@link SCAN_MS} in which runs that can move come first. The rest is reserved for blocked and paused runs, even if more
 * movable runs are due: a run whose version was deployed again stays blocked until the scan handles it.
 */
export const MOVABLE_MS = 35_000;
/**
 * Entries read in one tick: about twice as many as a tick handles, so that paused runs in front do not hide runs with lost tasks. An
 * entry that is read but not handled costs one read, and the next tick reads it again.
 */
export const SCAN_MOST = 20_000;
/**
 * Entries read at once: a query takes about as long for 500 small results as for 50, and they are handled in about 2 s.
 */
export const SCAN_PAGE = 500;

/** A due run as the query shows it, without its document. Absent members could not be read. */
export interface DueFacts {
  readonly type?: string | undefined;
  readonly status?: RunStatus | undefined;
  /** True if none of its own waits can resume the run: it usually waits for a deployment. */
  readonly isBlocked: boolean;
  /** Time since which a worker could have claimed it, epoch ms; absent: one holds it, or it waits for something else. */
  readonly readySince?: number | undefined;
}

/** `paused`: its workflow is. Ended runs never are: a pause does not delay their completion duties. */
export type DueClass = 'movable' | 'blocked' | 'paused';

export function dueClass(
  { type, status, isBlocked }: DueFacts,
  paused: { has(type: string): boolean },
): DueClass {
  const isPaused = type !== undefined && status !== undefined && paused.has(type) && !isTerminal(status);
  if (isPaused) return 'paused';
  return isBlocked ? 'blocked' : 'movable';
}

export interface ScanProgress {
  /** Ms since the tick began. */
  readonly elapsedMs: number;
  /** Entries read so far. */
  readonly read: number;
  /** The last page had fewer entries than it could. */
  readonly isAtEnd: boolean;
  /** Entries that are read and not handled yet. */
  readonly open: Readonly<Record<DueClass, number>>;
}

/** The next thing to do: handle one run of a class, read another page, or end. */
export type ScanMove = DueClass | 'read' | 'end';

export function nextScanMove({ elapsedMs, read, isAtEnd, open }: ScanProgress): ScanMove {
  if (elapsedMs >= SCAN_MS) return 'end';
  const rest = isAtEnd || read >= SCAN_MOST ? 'end' : 'read';
  const isForOthers = elapsedMs >= MOVABLE_MS;
  if (!isForOthers && open.movable > 0) return 'movable';
  if (!isForOthers && rest === 'read') return 'read';
  if (open.blocked > 0) return 'blocked';
  if (open.paused > 0) return 'paused';
  return open.movable > 0 ? 'movable' : rest;
}
