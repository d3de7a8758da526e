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

describe('the index entries of a run', () => {
  const values = fc.oneof(
    fc.string({ maxLength: MAX_TAG_VALUE_CHARS }),
    fc.double(),
    fc.integer(),
    fc.boolean(),
  );
  const names = fc.constantFrom('amount', 'a', 'x.y-z');
  const given = fc.dictionary(names, values).map((values) => {
    try {
      return tagsOf('order', values);
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

  test('include an entry of every search that the run matches', () => {
    fc.assert(
      fc.property(given, comparisons, fc.integer({ min: 1, max: 30 }), (tags, text, most) => {
        const one = run(tags);
        const match = matchOf(text);
        const entries = entriesFor(match, most);
        expect(entries === undefined || (entries.length > 0 && entries.length <= most)).toBe(true);
        if (entries && isMatch(one, match))
          expect(entries.some((entry) => storedNames(one).includes(entry))).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  const texts = fc.oneof(
    fc.constantFrom('run_', 'api:c.ci:build:7', 'api:', 'Invoice-9', 'ada', 'İstanbul', '📦📦📦'),
    fc.string({ minLength: 1, maxLength: 40 }).filter((text) => !/\p{Cc}/u.test(text)),
  );
  test('include an entry of every prefix search that the run matches', () => {
    fc.assert(
      fc.property(texts, texts, texts, fc.nat(), fc.nat(4), (threadId, key, value, cut, which) => {
        const tags = tagsOf('order', { Customer: value.isWellFormed() ? value : undefined, amount: 42 });
        const one = { ...run(tags), threadId, idempotencyKey: `api:c.ci:${key}` };
        const name = [threadId, key, value, `customer:${value}`, one.id][which] ?? '';
        const text = name
          .slice(0, 1 + (cut % name.length))
          .trim()
          .replace(/\*/g, '');
        if (text === '' || /[<>]/.test(text)) return;
        const match = matchOf(which % 2 === 0 ? text : text.toUpperCase());
        const entries = entriesFor(match, 15);
        expect(entries === undefined || (entries.length > 0 && entries.length <= 4)).toBe(true);
        if (entries && isMatch(one, match))
          expect(entries.some((entry) => storedNames(one).includes(entry))).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test.each<[string, readonly string[] | undefined]>([
    ['customer:42*', ['*customer:', '/customer:', '.customer', ':customer:42']],
    ['CUSTOMER:', ['*customer:', '/customer:', '.customer', ':customer:']],
    ['ada', ['*ada', '/ad', '.ad']],
    ['run_abcdefg', ['*run_abcde', '/run_abcde', '.run_abcd']],
    ['due<2026-02-01', [':due:']],
    ['run', undefined],
    ['run_abc', undefined],
    ['a', undefined],
  ])('for a search by %s are %j', (text, expected) => {
    expect(entriesFor(matchOf(text), 15)).toEqual(expected?.map((entry) => `${INDEXED}${entry}`));
  });

  test('do not let a run be found by a name that it does not have', () => {
    const added = storedNames(RUN).slice(foundBy(RUN).length);
    expect(added.length).toBeGreaterThan(0);
    for (const entry of added) expect(entry.startsWith(INDEXED)).toBe(true);
    expect(new Set(storedNames(RUN)).size).toBe(storedNames(RUN).length);
  });

  test('fit into the Firestore index, whatever the tags', () => {
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

describe('names in the index', () => {
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
