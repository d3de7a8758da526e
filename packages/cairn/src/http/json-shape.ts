/**
 * Nesting and number of values of a JSON text, found without parsing: a parsed value takes many times the memory of its
 * text.
 *
 * Must not: validate JSON.
 */
import { CairnError } from '../core/errors.ts';

/** Deeper than any legitimate payload (GitHub's reach about ten), far below the limit of the stack. */
export const MAX_BODY_DEPTH = 100;
/**
 * Values in a body, at all depths. A start with this many takes 210 MB (measured); the 11 million that fit into 32 MiB
 * would crash an instance of 1 GiB. GitHub's largest payloads have a hundredth of it.
 */
export const MAX_BODY_VALUES = 1_000_000;

/** All whitespace characters of JSON are at most this. */
const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/**
 * Refuses text that is nested too deep or has too many values. Each value except the outermost follows a comma or an opening
 * bracket, so these are counted. Text after the outermost value is not counted, because a parser stops there.
 *
 * @throws CairnError INVALID_INPUT, PAYLOAD_TOO_LARGE
 */
export function assertShape(text: string): void {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COMMA) values += 1;
    else if (OPENING.has(code)) {
      depth += 1;
      values += 1;
    } else if (CLOSING.has(code)) depth -= 1;
    else if (depth > 0 || code <= SPACE) continue;
    if (depth <= 0) return;
    if (depth > MAX_BODY_DEPTH)
      throw new CairnError('INVALID_INPUT', `the body is nested deeper than ${MAX_BODY_DEPTH} levels`, {
        help: 'Make the body flatter: a list of entries that name their parent, or a text of JSON in place of a part.',
      });
    if (values > MAX_BODY_VALUES)
      throw new CairnError('PAYLOAD_TOO_LARGE', `the body has more than ${MAX_BODY_VALUES} values`);
  }
}

/** Returns the index of the closing quote of the string that begins at `start`, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === BACKSLASH) before -= 1;
    const isEscaped = (end - before) % 2 === 0;
    if (!isEscaped) return end;
  }
  return text.length;
}
