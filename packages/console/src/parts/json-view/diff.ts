/**
 * Differences between two JSON values, member by member. Pure. Items of arrays are matched by value, so that one
 * inserted item does not make all later ones different.
 */
import { isObject } from './json-text.ts';
import { matched } from './matched.ts';

/** Names and indexes from the root. An index refers to the later array, or to the earlier one for a removed item. */
type JsonPath = readonly (string | number)[];

export type JsonChange =
  | { readonly kind: 'added'; readonly path: JsonPath; readonly after: unknown }
  | { readonly kind: 'removed'; readonly path: JsonPath; readonly before: unknown }
  | { readonly kind: 'changed'; readonly path: JsonPath; readonly before: unknown; readonly after: unknown };

interface Difference {
  /** In the order of the values. */
  readonly changes: readonly JsonChange[];
  /** True if there are more. */
  readonly isCut: boolean;
}

/** More differences than a person reads. The values themselves can be opened. */
export const MAX_CHANGES = 1_000;

/** Still to be compared. */
interface Pair {
  readonly kind: 'pair';
  readonly path: JsonPath;
  readonly before: unknown;
  readonly after: unknown;
}

export function difference(before: unknown, after: unknown): Difference {
  const changes: JsonChange[] = [];
  const ahead: (Pair | JsonChange)[] = [{ kind: 'pair', path: [], before, after }];
  for (let next = ahead.pop(); next; next = ahead.pop()) {
    if (next.kind === 'pair') ahead.push(...compared(next).reverse());
    else if (changes.length === MAX_CHANGES) return { changes, isCut: true };
    else changes.push(next);
  }
  return { changes, isCut: false };
}

function compared({ path, before, after }: Pair): (Pair | JsonChange)[] {
  if (Array.isArray(before) && Array.isArray(after)) return comparedItems(path, before, after);
  if (isObject(before) && isObject(after)) return comparedMembers(path, before, after);
  return Object.is(before, after) ? [] : [{ kind: 'changed', path, before, after }];
}

function comparedMembers(
  path: JsonPath,
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): (Pair | JsonChange)[] {
  const names = [
    ...Object.keys(before),
    ...Object.keys(after).filter((name) => !Object.hasOwn(before, name)),
  ];
  return names.flatMap((name): (Pair | JsonChange)[] => {
    const at = [...path, name];
    if (!Object.hasOwn(after, name)) return [{ kind: 'removed', path: at, before: before[name] }];
    if (!Object.hasOwn(before, name)) return [{ kind: 'added', path: at, after: after[name] }];
    return [{ kind: 'pair', path: at, before: before[name], after: after[name] }];
  });
}

/** Compares the unmatched items between two matched ones in order. */
function comparedItems(
  path: JsonPath,
  before: readonly unknown[],
  after: readonly unknown[],
): (Pair | JsonChange)[] {
  const found: (Pair | JsonChange)[] = [];
  let left = 0;
  let right = 0;
  const end = [before.length, after.length] as const;
  for (const [nextLeft, nextRight] of [...matched(before.map(textOf), after.map(textOf)), end]) {
    while (left < nextLeft && right < nextRight) {
      found.push({ kind: 'pair', path: [...path, right], before: before[left], after: after[right] });
      left += 1;
      right += 1;
    }
    for (; left < nextLeft; left += 1)
      found.push({ kind: 'removed', path: [...path, left], before: before[left] });
    for (; right < nextRight; right += 1)
      found.push({ kind: 'added', path: [...path, right], after: after[right] });
    left += 1;
    right += 1;
  }
  return found;
}

/** The API returns canonical values, so equal values have equal texts. */
function textOf(value: unknown): string {
  return JSON.stringify(value);
}
