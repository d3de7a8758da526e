import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { hitsOf, openTo } from '../../../packages/console/src/parts/json-view/search.ts';
import {
  childrenOf,
  openWithin,
  pathOf,
  RANGE,
  rootOf,
  type TreeNode,
  visibleRows,
} from '../../../packages/console/src/parts/json-view/tree.ts';
import { rowWords } from '../../../packages/console/src/parts/json-view/words.ts';

const all = (value: unknown) => visibleRows(rootOf(value), () => true);

/** Rebuilds the value from the rows. */
function rebuilt(node: TreeNode): unknown {
  const { value } = node;
  if (typeof value !== 'object' || value === null) return value;
  const members = membersOf(node).map((child) => [child.key ?? '', rebuilt(child)] as const);
  return Array.isArray(value) ? members.map(([, item]) => item) : Object.fromEntries(members);
}

function membersOf(node: TreeNode): readonly TreeNode[] {
  return childrenOf(node).flatMap((child) => (child.range ? membersOf(child) : [child]));
}

describe('a JSON value as a tree', () => {
  test('all rows together are the value, each once', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const rows = all(value);
        expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
        // JSON has no -0, and `__proto__` is no member that can be assigned.
        expect(JSON.stringify(rebuilt(rootOf(value)))).toBe(JSON.stringify(value));
      }),
    );
  });

  test('a path leads to its value', () => {
    expect(all({ a: [{ 'b c': 1 }] }).map(pathOf)).toEqual(['$', '$.a', '$.a[0]', '$.a[0]["b c"]']);
  });

  test.each([RANGE, RANGE + 1, 100_000, 1_000_001])(
    'no branch of %d items opens into too many rows',
    (length) => {
      const root = rootOf(Array.from({ length }, (_, at) => at));
      const below = childrenOf(root);
      expect(below.length).toBeLessThanOrEqual(RANGE);
      const last = membersOf(below.at(-1) as TreeNode).at(-1) ?? below.at(-1);
      expect(last).toMatchObject({ key: length - 1, value: length - 1 });
      expect(pathOf(last as TreeNode)).toBe(`$[${length - 1}]`);
    },
  );

  test('initially as many levels are open as fit, and at least the top level', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 1, max: 40 }), (value, most) => {
        const root = rootOf(value);
        const open = openWithin(root, most);
        const rows = visibleRows(root, (id) => open.has(id));
        expect(rows.length).toBeLessThanOrEqual(Math.max(most, 1 + childrenOf(root).length));
        expect(rows.length).toBeGreaterThanOrEqual(1 + childrenOf(root).length);
      }),
    );
  });

  test('deep nesting works', () => {
    const depth = 5_000;
    expect(all(JSON.parse('['.repeat(depth) + ']'.repeat(depth)))).toHaveLength(depth);
  });
});

describe('the search', () => {
  const value = { name: 'Ada', tags: ['x', 'ADA'], n: 1234, none: null, ada: {} };
  const found = (wanted: string) =>
    [...hitsOf(rootOf(value), wanted)].flatMap((node) => (node ? [pathOf(node)] : []));

  test.each([
    ['ada', ['$.name', '$.tags[1]', '$.ada']],
    ['23', ['$.n']],
    ['null', ['$.none']],
    ['nothing', []],
  ])('for %s finds names and values', (wanted, paths) => expect(found(wanted)).toEqual(paths));

  test('finds matches in a range, yields to other work, and reveals them', () => {
    const root = rootOf(Array.from({ length: 50_000 }, (_, at) => `item ${at}`));
    const steps = [...hitsOf(root, 'item 43210')];
    expect(steps.filter((step) => step === undefined).length).toBeGreaterThan(1);
    const [hit] = steps.filter((step) => step !== undefined);
    const open = openTo(new Set(), hit as TreeNode);
    const rows = visibleRows(root, (id) => open.has(id));
    expect(rows.map(({ id }) => id)).toContain(hit?.id);
    expect(rows.length).toBeLessThan(2 * RANGE);
  });
});

test.each([
  ['text', 'a\u202Eb', 'text', '"a⟨U+202E⟩b"'],
  ['a text that is long', 'y'.repeat(1_000_000), 'text', `"${'y'.repeat(120)}`],
  ['a number', -1.5, 'number', '-1.5'],
  ['a truth', true, 'word', 'true'],
  ['an empty list', [], 'branch', '[]'],
  ['a list', [1], 'branch', '[ 1 item ]'],
  ['an object', { a: 1, b: 2 }, 'branch', '{ 2 members }'],
])('a row has the tone and words of its value: %s', (_, value, tone, words) => {
  expect(rowWords(rootOf(value))).toMatchObject({ tone, words });
});
