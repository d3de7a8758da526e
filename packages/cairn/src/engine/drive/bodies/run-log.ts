/**
 * Lines that the bodies of one dispatch log, until a snapshot takes them along. Nothing is written for a run that logs nothing.
 *
 * Must not: write. A line that is lost with its process is still in the process log.
 */
import { droppedLine, type Logged, type LoggedBy, type LogLine, lineOf } from '../../../core/logs/line.ts';
import { maskOf } from '../../../core/logs/secrets.ts';
import {
  type LogTotals,
  type LogUpdate,
  MAX_ATTEMPT_BYTES,
  MAX_ATTEMPT_LINES,
  MAX_RUN_BYTES,
  MAX_RUN_LINES,
  MAX_SEGMENT_BYTES,
  NO_LOGS,
  SHOW_LINES_AFTER_MS,
  segmentId,
} from '../../../core/logs/segment.ts';

/** Keeps lines of one attempt. */
export type KeepLine = (line: Omit<Logged, 'masked'>) => void;

interface Sized {
  readonly line: LogLine;
  readonly bytes: number;
}

interface Batch {
  readonly lines: readonly Sized[];
  readonly dropped: number;
}

const EMPTY: Batch = { lines: [], dropped: 0 };

export class RunLog {
  #masked: ((text: string) => string) | undefined;
  /** Totals of the lines that were written, or whose write was assumed. */
  #totals: LogTotals;
  #pending: Sized[] = [];
  #pendingBytes = 0;
  #dropped = 0;
  /** In the snapshot that is being written, or was written last. */
  #taken = EMPTY;
  #epoch = 0;
  #segments = 0;

  /** @param before what the snapshot says of earlier dispatches */
  constructor(before: LogTotals = NO_LOGS) {
    this.#totals = before;
  }

  /** The dispatch holds the lease of this epoch. Secret texts are taken out of all lines. */
  begin(epoch: number, secrets: readonly string[]): void {
    this.#epoch = epoch;
    this.#masked = maskOf(secrets);
  }

  /** Keeps lines of the attempt, up to its bounds and those of the run. */
  of(by: LoggedBy): KeepLine {
    let lines = 0;
    let bytes = 0;
    let isFull = false;
    return (logged) => {
      if (!isFull) {
        const line = sized(lineOf(by, { ...logged, masked: this.#masked }));
        lines += 1;
        bytes += line.bytes;
        isFull = lines > MAX_ATTEMPT_LINES || bytes > MAX_ATTEMPT_BYTES || !this.#hasRoom(line);
        if (!isFull) return this.#put(line);
        const mark = sized(droppedLine(by, logged.at));
        if (this.#hasRoom(mark)) this.#put(mark);
      }
      this.#dropped += 1;
    };
  }

  /** Time to write a snapshot for the oldest line that is in none, epoch ms. */
  get dueAt(): number {
    const [oldest] = this.#pending;
    return oldest ? oldest.line.at + SHOW_LINES_AFTER_MS : Number.POSITIVE_INFINITY;
  }

  /** For the snapshot that is about to be written; what was taken before has been written. */
  take(): LogUpdate | undefined {
    if (this.#taken.lines.length > 0) this.#segments += 1;
    const lines = this.#pending.splice(0, this.#fitting());
    const bytes = sumOf(lines);
    this.#taken = { lines, dropped: this.#dropped };
    this.#pendingBytes -= bytes;
    this.#dropped = 0;
    const { dropped } = this.#taken;
    if (lines.length === 0 && dropped === 0) return undefined;
    this.#total({ lines: lines.length, bytes, dropped });
    const id = segmentId(this.#epoch, this.#segments + 1);
    const segment = { id, lines: lines.map(({ line }) => line) };
    return { ...(lines.length > 0 ? { segment } : {}), totals: this.#totals };
  }

  /** Puts back the batch that was taken last, whose write failed. */
  putBack(): void {
    const { lines, dropped } = this.#taken;
    const bytes = sumOf(lines);
    this.#total({ lines: -lines.length, bytes: -bytes, dropped: -dropped });
    this.#pending = [...lines, ...this.#pending];
    this.#pendingBytes += bytes;
    this.#dropped += dropped;
    this.#taken = EMPTY;
  }

  /** Lines of the next document: after one was put back, there may be more than it has room for. */
  #fitting(): number {
    let bytes = 0;
    const beyond = this.#pending.findIndex((line) => {
      bytes += line.bytes;
      return bytes > MAX_SEGMENT_BYTES;
    });
    return beyond < 0 ? this.#pending.length : beyond;
  }

  #hasRoom({ bytes }: Sized): boolean {
    return (
      this.#pendingBytes + bytes <= MAX_SEGMENT_BYTES &&
      this.#totals.lines + this.#pending.length < MAX_RUN_LINES &&
      this.#totals.bytes + this.#pendingBytes + bytes <= MAX_RUN_BYTES
    );
  }

  #put(line: Sized): void {
    this.#pending.push(line);
    this.#pendingBytes += line.bytes;
  }

  #total(more: LogTotals): void {
    const { lines, bytes, dropped } = this.#totals;
    this.#totals = {
      lines: lines + more.lines,
      bytes: bytes + more.bytes,
      dropped: dropped + more.dropped,
    };
  }
}

function sized(line: LogLine): Sized {
  return { line, bytes: Buffer.byteLength(JSON.stringify(line)) };
}

function sumOf(lines: readonly Sized[]): number {
  return lines.reduce((sum, { bytes }) => sum + bytes, 0);
}
