import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { boundedJson } from '../../../packages/cairn/src/core/encoding/bounded-json.ts';
import { lineOf } from '../../../packages/cairn/src/core/logs/line.ts';

/** Logged values, with members that JSON omits. */
const values = fc.oneof(
  fc.anything({ withDate: true, withSparseArray: true, withNullPrototype: true }),
  fc.record({ id: fc.string(), items: fc.array(fc.nat(9), { maxLength: 300, size: 'max' }) }),
  fc.dictionary(
    fc.string(),
    fc.constantFrom(undefined, 1, () => 1),
  ),
);

test('a value whose JSON is within the limit is unchanged', () => {
  fc.assert(
    fc.property(values, (value) => {
      const text = JSON.stringify(value) as string | undefined;
      fc.pre(text !== undefined);
      expect(boundedJson(value, { most: text.length })).toBe(text);
    }),
  );
});

test('a longer text is refused, and so are too many members that JSON omits', () => {
  expect(() => boundedJson(['abcd'], { most: 4 })).toThrow('more than 4 characters');
  const members = Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [at, undefined]));
  expect(() => boundedJson(members, { most: 4 })).toThrow('more than 10000 members without text');
});

test('a line of a log keeps a list of a thousand numbers', () => {
  const fields = { orderId: 'o1', a: Array<number>(1200).fill(1) };
  const by = { step: 'a', revision: 1, attempt: 1 };
  expect(lineOf(by, { at: 1, level: 'info', message: 'x', fields })).toMatchObject({ fields });
});
