import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { longTexts } from '../../../packages/console/src/parts/json-view/long-texts.ts';

test('long texts and texts of several lines are found with their paths', () => {
  const long = 'Dear customer, we pay back all of it.';
  const value = { letter: { body: long, to: 'Ann' }, lines: ['a', 'b\nc'], cents: 995 };
  expect(longTexts(value)).toEqual([
    { path: 'letter.body', text: long },
    { path: 'lines.1', text: 'b\nc' },
  ]);
  expect(longTexts(long)).toEqual([]);
});

test('at most ten texts of a value are found, and the search of a huge value stops early', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const texts = longTexts({ value, draft: 'one\ntwo' });
      expect(texts.length).toBeLessThanOrEqual(10);
      for (const { text } of texts)
        expect(JSON.stringify({ value, draft: 'one\ntwo' })).toContain(JSON.stringify(text));
    }),
  );
  expect(longTexts(Array.from({ length: 2_000 }, (_, at) => (at === 1_999 ? 'a\nb' : at)))).toEqual([]);
});
