/**
 * Looks up one position in the `mappings` of a source map (ECMA-426) without decoding the map into memory: of a large bundle
 * that would take a hundred megabytes, and a process looks up some dozens of positions. Pure.
 */

/** Line and column count from 1. */
interface SourcePosition {
  readonly line: number;
  readonly column: number;
}

interface MappedOrigin extends SourcePosition {
  /** Index in `sources` of the map. */
  readonly source: number;
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const VALUES = new Int8Array(128).fill(-1);
for (const [value, digit] of [...DIGITS].entries()) VALUES[digit.charCodeAt(0)] = value;

const COMMA = 44;
const SEMICOLON = 59;

/** Origin of the last segment at or before the position, on its line; undefined: there is none, or the text is invalid. */
export function originOf(mappings: string, { line, column }: SourcePosition): MappedOrigin | undefined {
  // Fields of a segment, each relative to the segment before: generated column, then source, line and column of the origin.
  const fields = [0, 0, 0, 0, 0];
  let found: MappedOrigin | undefined;
  let generatedLine = 1;
  let at = 0;
  while (at < mappings.length && generatedLine <= line) {
    const code = mappings.charCodeAt(at);
    if (code === SEMICOLON || code === COMMA) {
      if (code === SEMICOLON) {
        generatedLine += 1;
        fields[0] = 0;
      }
      at += 1;
      continue;
    }
    let count = 0;
    for (; at < mappings.length && !isEnd(mappings.charCodeAt(at)); count += 1) {
      let value = 0;
      let shift = 0;
      let digit: number;
      do {
        digit = VALUES[mappings.charCodeAt(at)] ?? -1;
        if (digit < 0 || shift > 30 || count > 4) return undefined;
        value += (digit & 31) * 2 ** shift;
        shift += 5;
        at += 1;
      } while (digit & 32);
      const change = value % 2 === 1 ? -(value - 1) / 2 : value / 2;
      fields[count] = (fields[count] ?? 0) + change;
    }
    const [generated = 0, source = 0, originLine = 0, originColumn = 0] = fields;
    if (generatedLine !== line) continue;
    if (generated >= column) break;
    found = count >= 4 ? { source, line: originLine + 1, column: originColumn + 1 } : undefined;
  }
  return found;
}

function isEnd(code: number): boolean {
  return code === COMMA || code === SEMICOLON;
}
