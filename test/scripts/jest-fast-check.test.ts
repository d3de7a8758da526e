import { expect, test } from '@jest/globals';
import fc from 'fast-check';

const anyText = () => fc.string({ unit: 'binary' });

test('strings of any characters, and values with them, need no table of all characters', () => {
  // Before any other test: once made, it would be kept.
  const before = process.memoryUsage().heapUsed;
  const drawn = fc.sample(fc.tuple(anyText(), fc.jsonValue({ stringUnit: 'binary' })), 1);
  expect(drawn).toHaveLength(1);
  // The table has 85 MB.
  expect((process.memoryUsage().heapUsed - before) / 1e6).toBeLessThan(40);
});

test('a string of any characters has all but halves of one', () => {
  const edges = ['\0', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}'];
  expect(anyText().canShrinkWithoutContext(edges.join(''))).toBe(true);
  for (const text of ['\ud800', '\udfff', 'a\ud83d'])
    expect(anyText().canShrinkWithoutContext(text)).toBe(false);
  const drawn = fc.sample(anyText(), 200);
  expect(drawn.filter((text) => !text.isWellFormed())).toEqual([]);
  expect(drawn.some((text) => /[\u{10000}-\u{10ffff}]/u.test(text))).toBe(true);
});

test('a string of any characters that fails is shrunk to the one at fault', () => {
  const { counterexample } = fc.check(
    fc.property(anyText(), (text) => !/[\u{10000}-\u{10ffff}]/u.test(text)),
  );
  expect(counterexample).toEqual(['\u{10000}']);
});
