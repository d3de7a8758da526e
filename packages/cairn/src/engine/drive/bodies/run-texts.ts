/**
 * Text that the attempts of one dispatch stream: masks, limits and joins it before it is written, and knows which attempt's
 * text of a step counts.
 *
 * Must not: write, or change a line that may have been written.
 */
import { BoundedMap } from '../../../core/bounded-map.ts';
import { invalidInput } from '../../../core/errors.ts';
import type { LoggedBy } from '../../../core/logs/line.ts';
import {
  MAX_PIECE_CHARS,
  MAX_TEXT_BYTES,
  MAX_TEXTS,
  type PieceLine,
  piecesOf,
  type StoredLine,
  type TextLine,
  textName,
} from '../../../core/logs/text.ts';
import { StreamMask } from '../../../core/secrets/stream-mask.ts';

/** A line that waits to be written, or that is being written. */
export interface WaitingLine {
  line: StoredLine;
  bytes: number;
  /** It may have been written with a snapshot, so it must not change. */
  isTaken: boolean;
}

/** The place where lines wait to be written. */
interface TextSink {
  put(line: TextLine): WaitingLine;
  /** @param bytes growth of its JSON */
  grow(held: WaitingLine, line: TextLine, bytes: number): void;
  hasRoom(bytes: number): boolean;
}

/** Text of a step: the attempt that counts has the highest number. */
interface Current {
  readonly number: number;
  /** True once the line exists that begins the text of the next attempt. */
  readonly isAnnounced: boolean;
  /** The attempt succeeded. */
  readonly isDone: boolean;
}

/** JSON of a piece's line without its text, at most about; bytes. */
const LINE_BYTES = 1_000;

export class RunTexts {
  secrets: readonly string[] = [];
  readonly #sink: TextSink;
  /** The oldest first. */
  readonly #current = new BoundedMap<string, Current>(MAX_TEXTS);
  #numbers = 0;

  /** @param before names of texts of earlier dispatches */
  constructor(before: readonly string[] = [], sink: TextSink) {
    this.#sink = sink;
    for (const name of before) this.#current.set(name, { number: 0, isAnnounced: false, isDone: false });
  }

  get names(): readonly string[] {
    return [...this.#current.keys()];
  }

  of(by: LoggedBy): AttemptText {
    this.#numbers += 1;
    return new AttemptText(by, {
      number: this.#numbers,
      secrets: this.secrets,
      sink: this.#sink,
      texts: this,
    });
  }

  /** Begins an attempt, which may have no text. */
  begun(by: LoggedBy, at: number): void {
    const name = textName(by);
    if (!this.#current.has(name)) return;
    this.#numbers += 1;
    this.#sink.put({ kind: 'attempt', at, ...attemptOf(by) });
    this.#current.set(name, { number: this.#numbers, isAnnounced: true, isDone: false });
  }

  /** Registers the first text of an attempt. Returns false if a later attempt of its step has begun. */
  opened(by: LoggedBy, at: number, number: number): boolean {
    const name = textName(by);
    const before = this.#current.get(name);
    if (before && before.number > number) return false;
    if (!before?.isAnnounced) this.#sink.put({ kind: 'attempt', at, ...attemptOf(by) });
    this.#current.set(name, { number, isAnnounced: false, isDone: false });
    return true;
  }

  isCurrent(by: LoggedBy, number: number): boolean {
    return this.#current.get(textName(by))?.number === number;
  }

  done(by: LoggedBy, number: number): void {
    this.#current.set(textName(by), { number, isAnnounced: false, isDone: true });
  }

  /** Marks the lines as durable. A step whose text ended among them does not run again. */
  written(lines: readonly StoredLine[]): void {
    for (const line of lines) {
      if (line.kind !== 'text_end') continue;
      const name = textName(line);
      if (this.#current.get(name)?.isDone) this.#current.delete(name);
    }
  }
}

interface TextKeeping {
  readonly number: number;
  readonly secrets: readonly string[];
  readonly sink: TextSink;
  readonly texts: RunTexts;
}

export class AttemptText {
  readonly #by: LoggedBy;
  readonly #keeping: TextKeeping;
  #mask: StreamMask | undefined;
  #state: 'silent' | 'open' | 'full' | 'ended' = 'silent';
  #length = 0;
  #bytes = 0;
  /** The line to which more is added until it is taken. */
  #last: { readonly held: WaitingLine; readonly line: PieceLine } | undefined;

  constructor(by: LoggedBy, keeping: TextKeeping) {
    this.#by = attemptOf(by);
    this.#keeping = keeping;
  }

  /** @throws CairnError INVALID_INPUT if it is not a string */
  add(text: string, at: number): void {
    if (typeof text !== 'string') throw invalidInput('text', 'stream takes a text', { help: HELP });
    if (this.#state === 'ended') return;
    this.#mask ??= new StreamMask(this.#keeping.secrets);
    this.#show(this.#mask.push(text), at);
  }

  /** Ends the attempt. The text of a failed attempt no longer counts. */
  end(isDone: boolean, at: number): void {
    if (this.#state === 'silent' && !this.#mask) {
      this.#state = 'ended';
      return;
    }
    if (isDone && this.#mask) this.#show(this.#mask.end(), at);
    const { texts, number, sink } = this.#keeping;
    const isWhole = this.#state === 'open';
    const isCut = this.#state === 'full';
    this.#state = 'ended';
    if (!isDone || !(isWhole || isCut) || !texts.isCurrent(this.#by, number)) return;
    sink.put({ kind: 'text_end', at, ...this.#by, ...(isCut ? { cut: true } : {}) });
    texts.done(this.#by, number);
  }

  #show(text: string, at: number): void {
    if (text === '') return;
    const { texts, number, sink } = this.#keeping;
    if (this.#state === 'silent') {
      // A text without its beginning is useless, so the rest is dropped too.
      this.#state = sink.hasRoom(LINE_BYTES) && texts.opened(this.#by, at, number) ? 'open' : 'ended';
    }
    if (!texts.isCurrent(this.#by, number)) return;
    for (const piece of piecesOf(text)) {
      if (this.#state !== 'open') return;
      const bytes = Buffer.byteLength(JSON.stringify(piece));
      const most = LINE_BYTES + bytes;
      if (this.#bytes + most > MAX_TEXT_BYTES || !sink.hasRoom(most)) this.#state = 'full';
      else this.#put(piece, bytes, at);
    }
  }

  /** @param bytes of its JSON */
  #put(piece: string, bytes: number, at: number): void {
    const { sink } = this.#keeping;
    const last = this.#last;
    if (last && !last.held.isTaken && last.line.text.length + piece.length <= MAX_PIECE_CHARS) {
      const line = { ...last.line, text: last.line.text + piece };
      sink.grow(last.held, line, bytes);
      this.#last = { held: last.held, line };
      this.#bytes += bytes;
    } else {
      const line: PieceLine = { kind: 'text', at, ...this.#by, offset: this.#length, text: piece };
      const held = sink.put(line);
      this.#last = { held, line };
      this.#bytes += held.bytes;
    }
    this.#length += piece.length;
  }
}

const HELP = 'Pass the chunk of text, as a string.';

function attemptOf({ step, revision, attempt, undoes }: LoggedBy): LoggedBy {
  return { step, revision, attempt, ...(undoes ? { undoes } : {}) };
}
