/**
 * Documents of the lines of a run, and their limits. Lines are written with the snapshots of a dispatch, which are written
 * anyway: one document for all lines since the last one.
 */
import type { StoredLine } from './text.ts';

/** Totals of a run's log lines over all its dispatches. */
export interface LogTotals {
  /** Without those of streamed text. */
  readonly lines: number;
  /** JSON of all lines, UTF-8. */
  readonly bytes: number;
  /** Lines that were not kept. */
  readonly dropped: number;
  /** Steps whose last attempt streamed text and is not known to have succeeded; the newest `MAX_TEXTS`. Absent: none. */
  readonly texts?: readonly string[];
}

export const NO_LOGS: LogTotals = { lines: 0, bytes: 0, dropped: 0 };

/** Written once, under an id that sorts after all earlier ones of the run. */
export interface LogSegment {
  readonly id: string;
  readonly lines: readonly StoredLine[];
}

/** Written with a snapshot. */
export interface LogUpdate {
  /** Absent: lines were dropped, and none kept. */
  readonly segment?: LogSegment;
  /** With those of the segment. */
  readonly totals: LogTotals;
}

/** Lines and bytes kept for one attempt, so that a body that logs in a loop does not use up the limit of its run. */
export const MAX_ATTEMPT_LINES = 1_000;
export const MAX_ATTEMPT_BYTES = 256 * 1024;
/**
 * Bytes of one document, and of all lines that wait to be written: below the limit of a document (1 MiB), and small compared
 * with that of a commit (10 MiB), which also carries events and outputs.
 */
export const MAX_SEGMENT_BYTES = 512 * 1024;
/** Lines and bytes kept for one run; an export or an erasure reads all of them. */
export const MAX_RUN_LINES = 20_000;
export const MAX_RUN_BYTES = 8 * 1024 * 1024;
/** Time after which a new line triggers a snapshot, ms, so that readers see it within three seconds. */
export const SHOW_LINES_AFTER_MS = 2_000;

/** A place in the lines of a run: how many lines of a segment were passed, and the id of the segment. */
export type LogPlace = readonly [passed: number, id: string];

/** The lines after a place, in order, each with the place after it. */
export function* linesAfter(
  place: LogPlace | undefined,
  segments: readonly LogSegment[],
): Generator<{ readonly line: StoredLine; readonly after: LogPlace }> {
  for (const { id, lines } of segments) {
    const passed = place?.[1] === id ? place[0] : 0;
    for (const [index, line] of lines.entries()) if (index >= passed) yield { line, after: [index + 1, id] };
  }
}

const EPOCH_DIGITS = 10;
const NUMBER_DIGITS = 6;

/** @param epoch of the lease of the dispatch, which numbers its segments from 1 */
export function segmentId(epoch: number, number: number): string {
  return `${String(epoch).padStart(EPOCH_DIGITS, '0')}-${String(number).padStart(NUMBER_DIGITS, '0')}`;
}
