/**
 * Matches runs by a comparison of a tag (`amount>100`) or by the beginning of a name: its id, a key, its thread, a tag or a
 * tag's value. An index (match-index.ts) finds candidates; the list filters them. Pure.
 */
import { type CairnError, invalidInput } from '../errors.ts';
import { foundBy, MAX_SEARCHED_CHARS, type Named } from './found-by.ts';
import type { Comparing } from './number-code.ts';

export type RunMatch =
  | { readonly kind: 'comparison'; readonly tag: string; readonly is: Comparing; readonly than: string }
  /** In lower case. */
  | { readonly kind: 'beginning'; readonly text: string };

/** The name of a tag, a comparison, a value. */
const COMPARISON = /^([A-Za-z][A-Za-z0-9_.-]{0,49})\s*(>=|<=|>|<)\s*(.*)$/;

/** @throws CairnError INVALID_INPUT */
export function matchOf(given: string): RunMatch {
  const text = given.trim();
  const [, tag, is, than = ''] = COMPARISON.exec(text) ?? [];
  if (tag !== undefined && than === '') throw refusal(`'${tag} ${is}' compares with nothing`);
  if (tag !== undefined) return { kind: 'comparison', tag, is: is as Comparing, than };
  const beginning = text.replace(/\*+$/, '').toLowerCase();
  if (beginning === '') throw refusal('it is empty');
  if (beginning.includes('*')) throw refusal("'*' is only allowed at the end");
  if (beginning.length > MAX_SEARCHED_CHARS)
    throw refusal(`it has more than ${MAX_SEARCHED_CHARS} characters`);
  return { kind: 'beginning', text: beginning };
}

export function isMatch(run: Named & { readonly id: string }, match: RunMatch): boolean {
  const { tags = [] } = run;
  if (match.kind === 'comparison') {
    const before = `${match.tag}:`;
    return tags.some((tag) => tag.startsWith(before) && isTrueOf(tag.slice(before.length), match));
  }
  const values = tags.map((tag) => tag.slice(tag.indexOf(':') + 1));
  return [run.id, ...foundBy(run), ...values].some((name) => name.toLowerCase().startsWith(match.text));
}

/** Numbers are compared as numbers and texts by their characters; a number never matches a text. */
function isTrueOf(value: string, { is, than }: Extract<RunMatch, { readonly kind: 'comparison' }>): boolean {
  const [a, b] = [numberIn(value), numberIn(than)];
  if ((a === undefined) !== (b === undefined)) return false;
  const order =
    a !== undefined && b !== undefined && a !== b ? a - b : orderOf(exact(value, a), exact(than, b));
  switch (is) {
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
  }
}

/**
 * Compares integers beyond 2^53, such as ids, as bigints: as numbers, they would be equal if they differ only in their last
 * digits.
 */
function exact(text: string, number: number | undefined): string | number | bigint {
  return number !== undefined && INTEGER.test(text) ? BigInt(text.trim().replace('+', '')) : (number ?? text);
}

const INTEGER = /^\s*[+-]?\d+\s*$/;

function orderOf(a: string | number | bigint, b: string | number | bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Undefined if the value of the tag is not a number. */
export function numberIn(text: string): number | undefined {
  const number = text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(number) ? number : undefined;
}

function refusal(problem: string): CairnError {
  return invalidInput('match', `match: ${problem}`, {
    help: "Give a comparison of a tag, such as 'amount>100', or the beginning of an id, a key, a thread or a tag, such as 'customer:4*'.",
  });
}
