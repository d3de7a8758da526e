import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { foundBy } from '../../packages/cairn/src/core/search/found-by.ts';
import { isMatch, matchOf } from '../../packages/cairn/src/core/search/match.ts';
import {
  areStoredNames,
  entriesFor,
  INDEXED,
  indexedNames,
  storedNames,
} from '../../packages/cairn/src/core/search/match-index.ts';
import { MAX_TAG_VALUE_CHARS, MAX_TAGS, tagsOf } from '../../packages/cairn/src/core/search/tags.ts';

const run = (tags: readonly string[]) => ({
  id: 'run_abcdefghijklmnopqrstuvwxya',
  trigger: { source: 'api' } as const,
  idempotencyKey: 'api:c.ci:build:7',
  threadId: 'th',
  traceId: '0123456789abcdef0123456789abcdef',
  tags,
});
const RUN = run(['customer:42', 'amount:250']);

describe('the entries of a run', () => {
  const values = fc.oneof(
    fc.string({ maxLength: MAX_TAG_VALUE_CHARS }),
    fc.double(),
    fc.integer(),
    fc.boolean(),
  );
  const names = fc.constantFrom('amount', 'a', 'x.y-z');
  const tags = fc.dictionary(names, values).map((given) => {
    try {
      return tagsOf('order', given);
    } catch {
      return [];
    }
  });
  const comparisons = fc
    .tuple(
      names,
      fc.constantFrom('>', '>=', '<', '<='),
      fc.oneof(fc.double(), fc.integer({ min: -9, max: 9 })),
    )
    .map(([name, sign, than]) => `${name}${sign}${than}`);

  test('have one of those that a search asks for, if the run matches', () => {
    fc.assert(
      fc.property(tags, comparisons, fc.integer({ min: 1, max: 30 }), (given, text, most) => {
        const one = run(given);
        const match = matchOf(text);
        const entries = entriesFor(match, most);
        expect(entries === undefined || (entries.length > 0 && entries.length <= most)).toBe(true);
        if (entries && isMatch(one, match))
          expect(entries.some((entry) => storedNames(one).includes(entry))).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  test('do not let a run be found by a name that it does not have', () => {
    const added = storedNames(RUN).slice(foundBy(RUN).length);
    expect(added.length).toBeGreaterThan(0);
    for (const entry of added) expect(entry.startsWith(INDEXED)).toBe(true);
    expect(new Set(storedNames(RUN)).size).toBe(storedNames(RUN).length);
  });

  test('fit into the index of Firestore, whatever the tags', () => {
    const longest = Array.from({ length: MAX_TAGS }, (_, i) => {
      const name = `${i}`.padStart(50, 'n');
      return [`${name}:${'界'.repeat(MAX_TAG_VALUE_CHARS)}`, `${name}:${'1'.repeat(MAX_TAG_VALUE_CHARS)}`];
    });
    for (const tags of [longest.map(([text = '']) => text), longest.map(([, number = '']) => number)]) {
      const entries = storedNames({ ...RUN, tags });
      expect(entries.length).toBeLessThan(500);
      for (const entry of entries) expect(Buffer.byteLength(entry)).toBeLessThanOrEqual(1_500);
      expect(Buffer.byteLength(JSON.stringify(entries))).toBeLessThan(32 * 1024);
    }
  });
});

describe('names of a run are sound', () => {
  test.each<[string, unknown, boolean]>([
    ['as they are created', storedNames(RUN), true],
    ['as a repair writes them', indexedNames(RUN), true],
    ['as an earlier version created them', foundBy(RUN), true],
    ['without one', storedNames(RUN).slice(1), false],
    ['with another', [...storedNames(RUN), 'another'], false],
    ['with the entries of another run', storedNames(run(['customer:42', 'amount:251'])), false],
    ['in another order', storedNames(RUN).toReversed(), false],
    ['as a text', 'th', false],
    ['missing', undefined, false],
  ])('%s: %j is %s', (_, names, expected) => {
    expect(areStoredNames(names, RUN)).toBe(expected);
  });
});
