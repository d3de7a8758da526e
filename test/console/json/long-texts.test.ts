import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { longTexts } from '../../../packages/console/src/parts/json-view/long-texts.ts';

test('long texts and texts of several lines are named by the members that lead to them', () => {
  const long = 'Dear customer, we pay back all of it.';
  const value = { letter: { body: long, to: 'Ann' }, lines: ['a', 'b\nc'], cents: 995 };
  expect(longTexts(value)).toEqual([
    { path: 'letter.body', text: long },
    { path: 'lines.1', text: 'b\nc' },
  ]);
  expect(longTexts(long)).toEqual([]);
});

test('of any value at most ten texts are shown, each a text of the value, and a huge value is not searched to its end', () => {
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
