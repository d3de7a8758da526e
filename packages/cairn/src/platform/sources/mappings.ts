/**
 * Looks up one position in the `mappings` of a source map (ECMA-426) without decoding the whole map: for a large bundle
 * that would take a hundred megabytes, and a process looks up only dozens of positions. Pure.
 */

/** Line and column count from 1. */
interface SourcePosition {
  readonly line: number;
  readonly column: number;
}

interface OriginalPosition extends SourcePosition {
  /** Index in `sources` of the map. */
  readonly source: number;
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const VALUES = new Int8Array(128).fill(-1);
for (const [value, digit] of [...DIGITS].entries()) VALUES[digit.charCodeAt(0)] = value;

const COMMA = 44;
const SEMICOLON = 59;

/** Original position of the last segment at or before the given position, on its line; undefined: there is none, or the text is invalid. */
export function originalPosition(
  mappings: string,
  { line, column }: SourcePosition,
): OriginalPosition | undefined {
  const segments = new SegmentReader(mappings);
  let found: OriginalPosition | undefined;
  while (segments.hasMore && segments.line <= line) {
    if (segments.takeSeparator()) continue;
    const count = segments.takeSegment();
    if (count === undefined) return undefined;
    if (segments.line !== line) continue;
    const [generated, source, originLine, originColumn] = segments.fields;
    if (generated >= column) break;
    found = count >= 4 ? { source, line: originLine + 1, column: originColumn + 1 } : undefined;
  }
  return found;
}

/** Reads a text from its beginning, without allocating memory per segment. */
class SegmentReader {
  /** Line in the generated file, from 1. */
  line = 1;
  /** Fields of a segment, each relative to the previous segment: generated column, source, line, column and name of the origin. */
  readonly fields: [number, number, number, number, number] = [0, 0, 0, 0, 0];
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get hasMore(): boolean {
    return this.#at < this.#text.length;
  }

  takeSeparator(): boolean {
    if (!this.#isAtSeparator()) return false;
    if (this.#text.charCodeAt(this.#at) === SEMICOLON) {
      this.line += 1;
      this.fields[0] = 0;
    }
    this.#at += 1;
    return true;
  }

  /** @returns number of fields in the segment; undefined: it is invalid */
  takeSegment(): number | undefined {
    let count = 0;
    for (; this.hasMore && !this.#isAtSeparator(); count += 1) {
      const change = count < this.fields.length ? this.#takeNumber() : undefined;
      if (change === undefined) return undefined;
      this.fields[count] = (this.fields[count] ?? 0) + change;
    }
    return count;
  }

  #isAtSeparator(): boolean {
    const code = this.#text.charCodeAt(this.#at);
    return code === COMMA || code === SEMICOLON;
  }

  /** Reads a base 64 VLQ number: five bits per digit, the lowest first; the lowest bit of all is the sign. */
  #takeNumber(): number | undefined {
    let value = 0;
    for (let shift = 0; shift <= 30; shift += 5) {
      const digit = VALUES[this.#text.charCodeAt(this.#at)] ?? -1;
      if (digit < 0) return undefined;
      this.#at += 1;
      value += (digit & 31) * 2 ** shift;
      if ((digit & 32) === 0) return value % 2 === 1 ? -(value - 1) / 2 : value / 2;
    }
    return undefined;
  }
}
