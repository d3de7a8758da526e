/** Width of texts in cells of a terminal, and texts made safe to show in one. Pure. */
import { stripVTControlCharacters } from 'node:util';

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });
/** East Asian wide and full-width characters, and emoji. */
const WIDE =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}])/u;

/** Width of the text in cells, without colour codes. */
export function cells(text: string): number {
  let count = 0;
  for (const { segment } of segmenter.segment(stripVTControlCharacters(text)))
    count += WIDE.test(segment) ? 2 : 1;
  return count;
}

/** Truncated to `most` cells, with an ellipsis. Not for coloured text. */
export function cutTo(text: string, most: number): string {
  if (cells(text) <= most) return text;
  let visible = '';
  let count = 0;
  for (const { segment } of segmenter.segment(text)) {
    count += WIDE.test(segment) ? 2 : 1;
    if (count > most - 1) break;
    visible += segment;
  }
  return `${visible.trimEnd()}…`;
}

/** Padded with blanks to `to` cells; also coloured text. */
export function pad(text: string, to: number, align: 'left' | 'right' = 'left'): string {
  const blanks = ' '.repeat(Math.max(0, to - cells(text)));
  return align === 'left' ? text + blanks : blanks + text;
}

/**
 * Text as one line without control characters. Texts of runs are external input: an escape sequence could clear the screen or
 * overwrite earlier lines.
 */
export function clean(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '�')
    .trim();
}

/** Wraps into lines of at most `most` cells, at blanks if possible. */
export function wrap(text: string, most: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && cells(line) + 1 + cells(word) > most) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
