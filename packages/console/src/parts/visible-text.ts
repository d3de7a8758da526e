/**
 * Text from data for display: characters that reorder it, are invisible or control a terminal are made
 * visible. Pure. Must not be used for text that is copied or sent, which stays unchanged.
 */

/**
 * Control characters except tab and line feed; direction marks, embeddings, overrides and isolates; zero-width characters
 * except the joiners, which scripts and emoji need; line and paragraph separators; tag characters; unpaired surrogates.
 */
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression finds control characters
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}\p{Surrogate}]/gu;

/** JSON to be edited: the same value with each unseen character escaped. Such characters occur only in texts and names. */
export function escapedJson(value: unknown): string {
  const units = (character: string) =>
    Array.from(character.split(''), (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return JSON.stringify(value, undefined, 2).replace(UNSEEN, (character) => units(character).join(''));
}

/** Start of the control pictures, which have the order of the control characters. */
const PICTURES = 0x2400;
const LAST_CONTROL = 0x1f;
const DELETE = 0x7f;
const DELETE_PICTURE = '␡';

/** The text with each unseen character named: `␛` for escape, `⟨U+202E⟩` for a direction override. */
export function visibleText(text: string): string {
  return text.replace(UNSEEN, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (code <= LAST_CONTROL) return String.fromCodePoint(PICTURES + code);
    if (code === DELETE) return DELETE_PICTURE;
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
  });
}

/** At most the first `max` characters, without splitting a surrogate pair. */
export function headOf(text: string, max: number): string {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 1);
  const isFirstHalf = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, isFirstHalf ? max - 1 : max);
}

/** Shorter names are not split: they fit where names are shown. */
const MIN_SPLIT = 17;
/** Most characters of a name that are kept at its end. */
const MAX_TAIL = 10;
/** Characters kept at the end of a name without a separator there. */
const PLAIN_TAIL = 7;

/** Splits a name into a beginning, which may be cut, and an end, which is kept: similar names differ there. */
export function splitName(name: string): { readonly head: string; readonly tail: string } {
  const characters = Array.from(name);
  if (characters.length < MIN_SPLIT) return { head: name, tail: '' };
  const end = characters.slice(-MAX_TAIL);
  const separator = end.findIndex((one) => /[-_./:[ ]/.test(one));
  let length = separator === -1 || separator === MAX_TAIL - 1 ? PLAIN_TAIL : MAX_TAIL - separator;
  // A mark stays with its letter.
  while (/^[\p{M}\u200d]/u.test(characters.at(-length) ?? '')) length += 1;
  return { head: characters.slice(0, -length).join(''), tail: characters.slice(-length).join('') };
}

/** Splits the text into pieces of at most `max` characters, after line feeds if possible. */
export function piecesOf(text: string, max: number): readonly string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    const piece = headOf(text.slice(at, at + max + 1), max);
    const feed = at + piece.length < text.length ? piece.lastIndexOf('\n') : -1;
    const taken = feed === -1 ? piece : piece.slice(0, feed + 1);
    pieces.push(taken);
    at += taken.length;
  }
  return pieces;
}

const KB = 1_000;

/** `812 B`, `1.2 kB`, `1.0 MB`. */
export function sizeWords(bytes: number): string {
  if (bytes < KB) return `${bytes} B`;
  return bytes < KB * KB ? `${(bytes / KB).toFixed(1)} kB` : `${(bytes / KB / KB).toFixed(1)} MB`;
}

/** `1 item`, `12,000 items`. */
export function countOf(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

/** Bytes of the text in UTF-8. */
export function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
