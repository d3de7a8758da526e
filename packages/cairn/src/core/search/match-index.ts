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

/** Most entries of one query, over all combinations with its other filters: the limit of Firestore. */
export const MOST_COMBINATIONS = 30;

/** All that the document of a new run is found by. */
export function storedNames(run: Named): readonly string[] {
  return [...indexedNames(run), INDEXED];
}

/** The same of a run whose document is made anew: nothing tells whether it was created with its entries. */
export function indexedNames(run: Named): readonly string[] {
  return [...foundBy(run), ...new Set((run.tags ?? []).flatMap(entriesOfTag))];
}

/** True if a run may be stored with these names. One that an earlier version created has no entries. */
export function areStoredNames(names: unknown, run: Named): boolean {
  if (!Array.isArray(names)) return false;
  const found: readonly unknown[] = names.at(-1) === INDEXED ? names.slice(0, -1) : names;
  return [indexedNames(run), foundBy(run)].some(
    (wanted) => found.length === wanted.length && wanted.every((name, at) => found[at] === name),
  );
}

/**
 * Entries of which a run that matches has one at least, if it has entries. Undefined: no index serves the search.
 *
 * @param most entries
 */
export function entriesFor(match: RunMatch, most: number): readonly string[] | undefined {
  if (match.kind === 'beginning') return undefined;
  const { tag, is, than } = match;
  const number = numberIn(than);
  if (number === undefined) return undefined;
  const codes = codesThatAre(is, number, most);
  return codes?.map((code) => numberEntry(tag, code));
}

function entriesOfTag(tag: string): readonly string[] {
  const [name, value] = [tag.slice(0, tag.indexOf(':')), tag.slice(tag.indexOf(':') + 1)];
  const number = numberIn(value);
  if (number === undefined) return [];
  const code = numberCode(number);
  return Array.from(code, (_, end) => numberEntry(name, code.slice(0, end + 1)));
}

function numberEntry(tag: string, code: string): string {
  return `${NUMBER}${tag}:${code}`;
}
