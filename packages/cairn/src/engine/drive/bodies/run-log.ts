/**
 * Buffers the lines that the bodies of one dispatch log, and the text that they stream, until a snapshot carries them. Nothing
 * is written for a run that logs nothing.
 *
 * Must not: write. A line that is lost with its process is still in the process log.
 */
import { droppedLine, type Logged, type LoggedBy, lineOf } from '../../../core/logs/line.ts';
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
import { isLogLine, isTextLine, SHOW_TEXT_AFTER_MS, type StoredLine } from '../../../core/logs/text.ts';
import { type Mask, maskOf } from '../../../core/secrets/mask.ts';
import { type AttemptText, RunTexts, type WaitingLine } from './run-texts.ts';

/** Keeps lines of one attempt. */
export type KeepLine = (line: Omit<Logged, 'mask'>) => void;

interface LineBatch {
  readonly lines: readonly WaitingLine[];
  readonly dropped: number;
}

type LineCounts = Pick<LogTotals, 'lines' | 'bytes' | 'dropped'>;

const EMPTY: LineBatch = { lines: [], dropped: 0 };

export class RunLog {
  #mask: Mask | undefined;
  /** Totals of the lines that were written, or whose write was assumed. */
  #totals: LineCounts;
  #pending: WaitingLine[] = [];
  #pendingBytes = 0;
  #dropped = 0;
  /** Lines of the snapshot that is being written, or was written last. */
  #taken = EMPTY;
  #epoch = 0;
  #segments = 0;
  readonly #texts: RunTexts;

  /** @param before totals of earlier dispatches, from the snapshot */
  constructor(before: LogTotals = NO_LOGS) {
    const { texts, ...totals } = before;
    this.#totals = totals;
    this.#texts = new RunTexts(texts, {
      put: (line) => this.#put(waiting(line)),
      grow: (held, line, bytes) => this.#grow(held, line, bytes),
      hasRoom: (bytes) => this.#hasBytes(bytes),
    });
  }

  /** Call once the dispatch holds the lease of this epoch. Secret texts are removed from all lines. */
  begin(epoch: number, secrets: readonly string[]): void {
    this.#epoch = epoch;
    this.#mask = maskOf(secrets);
    this.#texts.secrets = secrets;
  }

  /** Keeps lines of the attempt, up to its bounds and those of the run. */
  of(by: LoggedBy): KeepLine {
    let lines = 0;
    let bytes = 0;
    let isFull = false;
    return (logged) => {
      if (!isFull) {
        const line = waiting(lineOf(by, { ...logged, mask: this.#mask }));
        lines += 1;
        bytes += line.bytes;
        isFull = lines > MAX_ATTEMPT_LINES || bytes > MAX_ATTEMPT_BYTES || !this.#hasRoom(line);
        if (!isFull) {
          this.#put(line);
          return;
        }
        const mark = waiting(droppedLine(by, logged.at));
        if (this.#hasRoom(mark)) this.#put(mark);
      }
      this.#dropped += 1;
    };
  }

  /** Keeps the text that the attempt streams. */
  textOf(by: LoggedBy): AttemptText {
    return this.#texts.of(by);
  }

  /** Begins an attempt: text that earlier attempts of its step streamed no longer counts. */
  begun(by: LoggedBy, at: number): void {
    this.#texts.begun(by, at);
  }

  /** Time to write a snapshot for the oldest line that is in none, epoch ms. */
  get dueAt(): number {
    const line = this.#pending.find((one) => isLogLine(one.line));
    const text = this.#pending.find((one) => isTextLine(one.line));
    return Math.min(
      line ? line.line.at + SHOW_LINES_AFTER_MS : Number.POSITIVE_INFINITY,
      text ? text.line.at + SHOW_TEXT_AFTER_MS : Number.POSITIVE_INFINITY,
    );
  }

  /** True if the end of a text waits, because the commit that records the output of its step should carry it. */
  get isUrgent(): boolean {
    return this.#pending.some(({ line }) => line.kind === 'text_end');
  }

  /** Lines for the snapshot that is about to be written; lines of an earlier call count as written. */
  take(): LogUpdate | undefined {
    if (this.#taken.lines.length > 0) this.#segments += 1;
    this.#texts.written(this.#taken.lines.map(({ line }) => line));
    const lines = this.#pending.splice(0, this.#freeLines());
    for (const line of lines) line.isTaken = true;
    this.#taken = { lines, dropped: this.#dropped };
    this.#pendingBytes -= sumOf(lines).bytes;
    this.#dropped = 0;
    const { dropped } = this.#taken;
    if (lines.length === 0 && dropped === 0) return undefined;
    this.#total({ ...sumOf(lines), dropped });
    const id = segmentId(this.#epoch, this.#segments + 1);
    const segment = { id, lines: lines.map(({ line }) => line) };
    const { names } = this.#texts;
    return {
      ...(lines.length > 0 ? { segment } : {}),
      totals: { ...this.#totals, ...(names.length > 0 ? { texts: names } : {}) },
    };
  }

  /** Returns the last batch to the buffer after its write failed. */
  putBack(): void {
    const { lines, dropped } = this.#taken;
    const sum = sumOf(lines);
    this.#total({ lines: -sum.lines, bytes: -sum.bytes, dropped: -dropped });
    this.#pending = [...lines, ...this.#pending];
    this.#pendingBytes += sum.bytes;
    this.#dropped += dropped;
    this.#taken = EMPTY;
  }

  /** Number of waiting lines that fit into the next document. After a batch was put back, not all may fit. */
  #freeLines(): number {
    let bytes = 0;
    const beyond = this.#pending.findIndex((line) => {
      bytes += line.bytes;
      return bytes > MAX_SEGMENT_BYTES;
    });
    return beyond < 0 ? this.#pending.length : beyond;
  }

  #hasRoom({ bytes }: WaitingLine): boolean {
    return this.#totals.lines + this.#pending.length < MAX_RUN_LINES && this.#hasBytes(bytes);
  }

  #hasBytes(bytes: number): boolean {
    return (
      this.#pendingBytes + bytes <= MAX_SEGMENT_BYTES &&
      this.#totals.bytes + this.#pendingBytes + bytes <= MAX_RUN_BYTES
    );
  }

  #put(line: WaitingLine): WaitingLine {
    this.#pending.push(line);
    this.#pendingBytes += line.bytes;
    return line;
  }

  #grow(held: WaitingLine, line: StoredLine, bytes: number): void {
    held.line = line;
    held.bytes += bytes;
    this.#pendingBytes += bytes;
  }

  #total(more: LineCounts): void {
    const { lines, bytes, dropped } = this.#totals;
    this.#totals = { lines: lines + more.lines, bytes: bytes + more.bytes, dropped: dropped + more.dropped };
  }
}

function waiting(line: StoredLine): WaitingLine {
  return { line, bytes: Buffer.byteLength(JSON.stringify(line)), isTaken: false };
}

function sumOf(lines: readonly WaitingLine[]): Pick<LogTotals, 'lines' | 'bytes'> {
  return {
    lines: lines.filter(({ line }) => isLogLine(line)).length,
    bytes: lines.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}
