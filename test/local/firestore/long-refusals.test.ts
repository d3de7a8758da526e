/** An error that quotes the request reaches the client, whatever the length and characters of the quote. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { setRawBench } from './support/raw-bench.ts';
import { compare, database, doc, one, query } from './support/requests.ts';

const INVALID_ARGUMENT = 3;
const bench = setRawBench();

const where = (...filters: object[]) => ({ where: { compositeFilter: { op: 'AND', filters } } });
/** Calls that refuse `text`, by its role in the request. */
const PLACES: Readonly<Record<string, (text: string) => readonly [string, object]>> = {
  'the name of a document': (text) => ['GetDocument', { name: text }],
  'the name of a document with a slash at its end': (text) => ['GetDocument', { name: doc(`${text}/`) }],
  'the name of a document of another database': (text) => [
    'BatchGetDocuments',
    { database, documents: [`projects/x/databases/y/documents/h/${text}`] },
  ],
  'the name of a database': (text) => ['BatchGetDocuments', { database: text, documents: [] }],
  'the reference of a filter': (text) => [
    'RunQuery',
    query({ where: compare('__name__', 'EQUAL', { referenceValue: text }) }),
  ],
};

describe('a long text is truncated in the error:', () => {
  test.each(Object.keys(PLACES))('%s', async (place) => {
    const request = PLACES[place] as (typeof PLACES)[string];
    const unit = fc.constantFrom('x', '"', 'é', '漢', '😀');
    // A single character before surrogate pairs shifts the position of the cut.
    const text = fc
      .tuple(fc.constantFrom('', 'x'), unit, fc.integer({ min: 1, max: 40_000 }))
      .map(([first, one, count]) => first + one.repeat(count));
    await fc.assert(
      fc.asyncProperty(text, async (given) => {
        const { code, details } = await bench.raw.call(...request(given));
        expect(code).toBe(INVALID_ARGUMENT);
        expect(details.length).toBeLessThanOrEqual(7_001);
        expect(details.isWellFormed()).toBe(true);
      }),
      { numRuns: 20 },
    );
  });

  test.each(['x', '漢', '😀'])('the fields of 40 inequalities (%s)', async (character) => {
    const length = Math.floor(1_400 / Buffer.byteLength(character));
    const fields = Array.from({ length: 40 }, (_, i) => `\`f${i}${character.repeat(length)}\``);
    const answer = await bench.raw.call(
      'RunQuery',
      query(where(...fields.map((field) => compare(field, 'GREATER_THAN', one)))),
    );
    expect(answer.code).toBe(INVALID_ARGUMENT);
    expect(answer.details).toMatch(
      /^The query contains 40 distinct .*…\]\. .* more than 10 distinct inequality fields\.$/,
    );
    expect(answer.details.length).toBeLessThanOrEqual(7_000);
  });
});
