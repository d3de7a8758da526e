/** Extracts readable text from a web page that a proxy sends in place of the API's answer. Pure. */

/** Enough for the title or the first words. */
const MAX_READ_CHARS = 65_536;

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
  '&#39;': "'",
};
const ENTITY = /&(?:amp|lt|gt|quot|apos|#39);/g;

/**
 * Returns the title of a page, otherwise its first words. A page can be hostile, so each piece between two `<` is read once.
 *
 * @returns undefined if the text is not a web page
 */
export function readablePage(text: string): string | undefined {
  const [before = '', ...pieces] = text.slice(0, MAX_READ_CHARS).split('<');
  if (before.trim() !== '') return undefined;
  const words: string[] = [];
  let firstTag: string | undefined;
  let title = '';
  /** The open element or comment whose content is not text. */
  let inside: 'script' | 'style' | '!--' | undefined;
  for (const piece of pieces) {
    const tag = tagOf(piece);
    if (inside === undefined && tag === '!--') inside = tag;
    if (inside === '!--') {
      const end = piece.indexOf('-->');
      if (end < 0) continue;
      inside = undefined;
      words.push(piece.slice(end + '-->'.length));
      continue;
    }
    if (inside !== undefined && tag !== `/${inside}`) continue;
    inside = tag === 'script' || tag === 'style' ? tag : undefined;
    firstTag ??= tag;
    if (inside !== undefined) continue;
    const end = piece.indexOf('>');
    const content = end < 0 ? '' : piece.slice(end + 1);
    if (tag === 'title') title ||= plain(content);
    words.push(content);
  }
  if (firstTag !== '!doctype' && firstTag !== 'html') return undefined;
  return title || plain(words.join(' '));
}

/** Tag name in lower case; `!--` for a comment. */
function tagOf(piece: string): string {
  return /^(?:!--|[!/]?[a-z]*)/i.exec(piece)?.[0].toLowerCase() ?? '';
}

function plain(text: string): string {
  return text
    .replace(ENTITY, (entity) => ENTITIES[entity] ?? entity)
    .replace(/\s+/g, ' ')
    .trim();
}
