import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseObject } from '../../../packages/cairn/src/http/body.ts';
import { assertShape, MAX_BODY_DEPTH, MAX_BODY_VALUES } from '../../../packages/cairn/src/http/json-shape.ts';

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const codeOf = (text: string, of: (text: string) => unknown = assertShape) => {
  try {
    of(text);
    return undefined;
  } catch (error) {
    return (error as { code?: string }).code;
  }
};

test.each([
  ['as deep as may be', nested(MAX_BODY_DEPTH), undefined],
  ['one deeper', nested(MAX_BODY_DEPTH + 1), 'INVALID_INPUT'],
  ['one deeper that never ends', '{"a":'.repeat(MAX_BODY_DEPTH + 1), 'INVALID_INPUT'],
  ['very deep', '['.repeat(1_000_000), 'INVALID_INPUT'],
  ['wide but not deep', `[${'[],'.repeat(500)}[]]`, undefined],
  ['brackets in a string', JSON.stringify('['.repeat(500)), undefined],
  ['brackets behind an escaped quote', JSON.stringify(`\\"${'['.repeat(500)}`), undefined],
  [
    'brackets behind a string that ends in a backslash',
    `["\\\\",${nested(MAX_BODY_DEPTH)}]`,
    'INVALID_INPUT',
  ],
  ['a string that never ends', '"'.concat('['.repeat(500)), undefined],
  ['as many values as may be', `[${'1,'.repeat(MAX_BODY_VALUES - 2)}1]`, undefined],
  ['one value more', `[${'1,'.repeat(MAX_BODY_VALUES - 1)}1]`, 'PAYLOAD_TOO_LARGE'],
  ['text with many commas', `id${','.repeat(MAX_BODY_VALUES + 1)}`, undefined],
  ['numbers in a list without brackets', '1,'.repeat(MAX_BODY_VALUES + 1), undefined],
  ['brackets after a word', `see ${'['.repeat(500)}`, undefined],
  ['a JSON value on each line', '{"a":1}\n'.repeat(MAX_BODY_VALUES + 1), undefined],
  ['brackets behind the end', `{"a":[]} ${nested(500)}`, undefined],
  ['whitespace before brackets', ` \n\t\r${nested(MAX_BODY_DEPTH + 1)}`, 'INVALID_INPUT'],
  ['commas in a string', JSON.stringify(','.repeat(MAX_BODY_VALUES + 1)), undefined],
])('%s', (_, text, code) => {
  expect(codeOf(text)).toBe(code);
});

/** Containers around the innermost value. */
function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

test('only the depth of JSON is limited, not its content', () => {
  const level = fc.oneof(
    fc.constant('['),
    fc.string().map((name) => `{${JSON.stringify(name)}:`),
  );
  const leaf = fc.json({ maxDepth: 3 });
  fc.assert(
    fc.property(fc.array(level, { minLength: 95, maxLength: 105 }), leaf, (levels, inner) => {
      const ends = levels.map((open) => (open === '[' ? ']' : '}')).reverse();
      const text = levels.join('') + inner + ends.join('');
      const isTooDeep = depthOf(JSON.parse(text)) > MAX_BODY_DEPTH;
      expect(codeOf(text)).toBe(isTooDeep ? 'INVALID_INPUT' : undefined);
    }),
  );
});

describe('JSON that cannot be stored', () => {
  test.each([
    ['a number beyond all numbers', '{"a":[1e400]}'],
    ['a number far below zero', '{"a":-1e999}'],
    ['a number of four hundred digits', `{"a":1${'0'.repeat(400)}}`],
    ['half a character', '{"a":"\\ud800"}'],
    ['half a character in a name', '{"\\udfff":1}'],
  ])('%s is refused', (_, text) => {
    expect(codeOf(text, parseObject)).toBe('INVALID_INPUT');
  });

  test('the largest number is stored', () => {
    expect(parseObject('{"a":1.7976931348623157e308}')).toEqual({ a: Number.MAX_VALUE });
  });

  test('a member with a reserved name of JavaScript is stored like any other', () => {
    const parsed = parseObject('{"__proto__":{"admin":true}}');
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
    expect(Object.keys(parsed)).toEqual(['__proto__']);
  });
});
