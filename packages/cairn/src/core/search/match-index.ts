/**
 * Index of what {@link isMatch} compares: entries that are stored among the names of a run when it is created, so that they cost no write
 * and no index of their own. The entries of a comparison find all runs that match, and some others. Pure.
 *
 * Entries are stored: their forms are fixed for ever. Each begins with a control character, which no tag has.
 */
import { foundBy, type Named } from './found-by.ts';
import { numberIn, type RunMatch } from './match.ts';
import { codesThatAre, numberCode } from './number-code.ts';

/** Also the entry of every run that was created with its entries. Earlier versions created runs without. */
export const INDEXED = '\u0001';
const NUMBER = `${INDEXED}=`;
/**
 * Lengths of the stored prefixes of tag values, of chosen names, and of ids and traces. A search queries its longest prefix of
 * each kind and filters out other matches.
 */
const BEGINNINGS = {
  value: { mark: `${INDEXED}*`, lengths: [2, 3, 4, 6, 9, 13, 20] },
  name: { mark: `${INDEXED}/`, lengths: [2, 4, 6, 9, 13, 20, 30] },
  random: { mark: `${INDEXED}.`, lengths: [2, 4, 8] },
  /** Characters of the value of a tag, which follow its name. */
  tag: { mark: `${INDEXED}:`, lengths: [0, 1, 2, 3, 4, 6, 9, 13, 20] },
} as const;
type BeginningKind = keyof typeof BEGINNINGS;
/** Common prefix of all ids. It is not stored by itself, because it would match all runs. */
const OF_ALL_IDS = 'run_';

/** Most entries of one query, over all combinations with its other filters: the limit of Firestore. */
export const MAX_COMBINATIONS = 30;

type Indexed = Named & { readonly id: string };

/** All stored names of a new run. */
export function storedNames(run: Indexed): readonly string[] {
  return [...indexedNames(run), INDEXED];
}

/** The same for a run whose document is rebuilt: it is unknown whether it was created with its entries. */
export function indexedNames(run: Indexed): readonly string[] {
  const { id, traceId, tags = [] } = run;
  const chosen = foundBy({ ...run, tags: [] }).filter((name) => name !== traceId && name !== id);
  const entries = [
    ...tags.flatMap(entriesOfTag),
    ...chosen.flatMap((name) => beginningsOf('name', name.toLowerCase())),
    ...[id, traceId].flatMap((name) => beginningsOf('random', name.toLowerCase())),
  ];
  return [...foundBy(run), ...new Set(entries)];
}

/** True if a run may be stored with these names. One that an earlier version created has no entries. */
export function areStoredNames(names: unknown, run: Indexed): boolean {
  if (!Array.isArray(names)) return false;
  const found: readonly unknown[] = names.at(-1) === INDEXED ? names.slice(0, -1) : names;
  return [indexedNames(run), foundBy(run)].some(
    (wanted) => found.length === wanted.length && wanted.every((name, at) => found[at] === name),
  );
}

/**
 * Entries of which every matching run has at least one, if it has entries. Undefined if no index serves the search.
 *
 * @param most entries
 */
export function entriesFor(match: RunMatch, most: number): readonly string[] | undefined {
  if (match.kind === 'beginning') return entriesForBeginning(match.text, most);
  const { tag, is, than } = match;
  const number = numberIn(than);
  const codes = number === undefined ? undefined : codesThatAre(is, number, most);
  if (codes) return codes.map((code) => numberEntry(tag, code));
  // Texts have no order here: all runs with the tag.
  return [beginningEntry('tag', `${tag.toLowerCase()}:`)];
}

/** A text with a colon may be the beginning of a tag, or of another name. */
function entriesForBeginning(text: string, most: number): readonly string[] | undefined {
  const kinds = (['value', 'name', 'random'] as const).map((kind) => beginningsOf(kind, text).slice(-1));
  if (kinds.some(({ length }) => length === 0)) return undefined;
  const colon = text.indexOf(':') + 1;
  const ofTag = colon === 0 ? [] : tagBeginnings(text.slice(0, colon), text.slice(colon)).slice(-1);
  const entries = [...kinds.flat(), ...ofTag];
  return entries.length > most ? undefined : entries;
}

function entriesOfTag(tag: string): readonly string[] {
  const colon = tag.indexOf(':') + 1;
  const [name, value] = [tag.slice(0, colon), tag.slice(colon)];
  const number = numberIn(value);
  const code = number === undefined ? '' : numberCode(number);
  return [
    ...Array.from(code, (_, end) => numberEntry(name.slice(0, -1), code.slice(0, end + 1))),
    ...beginningsOf('name', name.slice(0, -1).toLowerCase()),
    ...tagBeginnings(name.toLowerCase(), value.toLowerCase()),
    ...beginningsOf('value', value.toLowerCase()),
  ];
}

/** @param name with its colon */
function tagBeginnings(name: string, value: string): readonly string[] {
  return parts('tag', value).map((part) => beginningEntry('tag', `${name}${part}`));
}

/** @param text in lower case. A prefix of the common beginning of all ids has no entries. */
function beginningsOf(kind: BeginningKind, text: string): readonly string[] {
  const least = text.startsWith(OF_ALL_IDS) || OF_ALL_IDS.startsWith(text) ? OF_ALL_IDS.length : 0;
  return parts(kind, text)
    .filter(({ length }) => length > least)
    .map((part) => beginningEntry(kind, part));
}

function parts(kind: BeginningKind, text: string): readonly string[] {
  return BEGINNINGS[kind].lengths
    .filter((length) => length <= text.length)
    .map((length) => text.slice(0, length));
}

/** Removes half of a surrogate pair, which stores refuse. */
function beginningEntry(kind: BeginningKind, text: string): string {
  return `${BEGINNINGS[kind].mark}${text.toWellFormed()}`;
}

function numberEntry(tag: string, code: string): string {
  return `${NUMBER}${tag}:${code}`;
}
