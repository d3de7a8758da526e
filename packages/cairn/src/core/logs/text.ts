/**
 * Text that bodies stream, such as the answer of a model while it is generated. Stored beside the run with its log lines. Pure.
 *
 * The result of a step is its recorded output; streamed text is for observers.
 */
import type { LoggedBy, LogLine } from './line.ts';

interface TextOfAttempt extends LoggedBy {
  /** Epoch ms. */
  readonly at: number;
}

/** A new attempt begins: text of earlier attempts of the step is obsolete. */
interface AttemptLine extends TextOfAttempt {
  readonly kind: 'attempt';
}

export interface PieceLine extends TextOfAttempt {
  readonly kind: 'text';
  readonly text: string;
  /** Length of the attempt's text before this piece, in UTF-16 code units. */
  readonly offset: number;
}

/** The attempt succeeded, and has no more text. Written in the commit that records its output. */
interface TextEndLine extends TextOfAttempt {
  readonly kind: 'text_end';
  /** The text exceeded the limit. */
  readonly cut?: true;
}

export type TextLine = AttemptLine | PieceLine | TextEndLine;

/** One line of a document of logs. Readers skip unknown kinds. */
export type StoredLine = LogLine | TextLine;

/** Longest piece in one line, UTF-16 code units. Texts that are streamed between two snapshots share lines. */
export const MAX_PIECE_CHARS = 8_000;
/** Bytes of the lines of one attempt's text, as JSON: about 60,000 tokens. */
export const MAX_TEXT_BYTES = 256 * 1024;
/** Time after which a new piece triggers a snapshot, ms. */
export const SHOW_TEXT_AFTER_MS = 1_000;
/** Steps with text that a run names: a new attempt of one of them begins with a line of kind `attempt`. */
export const MAX_TEXTS = 100;

export function isLogLine(line: StoredLine): line is LogLine {
  return line.kind === 'log' || line.kind === 'dropped';
}

export function isTextLine(line: StoredLine): line is TextLine {
  return line.kind === 'attempt' || line.kind === 'text' || line.kind === 'text_end';
}

/** Name of the text of a step: a compensation has its own. */
export function textName({ step, undoes }: Pick<LoggedBy, 'step' | 'undoes'>): string {
  return undoes ? `${step} undone` : step;
}

/** Cut into pieces of at most {@link MAX_PIECE_CHARS}, without splitting a character. */
export function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length; ) {
    const end = from + MAX_PIECE_CHARS;
    const to = end < text.length && isHighSurrogate(text.charCodeAt(end - 1)) ? end - 1 : end;
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}

export function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
