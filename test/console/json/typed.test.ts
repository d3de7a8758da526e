import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readJson } from '../../../packages/console/src/parts/json-view/json-text.ts';

describe('JSON that is typed', () => {
  test.each([
    ['{"a":1,}', 1, 8, 'a name in double quotes'],
    ["{'a':1}", 1, 2, 'a name in double quotes'],
    ['{a:1}', 1, 2, 'not a'],
    ['{"a" 1}', 1, 6, 'a colon'],
    ['{"a":1 "b":2}', 1, 8, 'a comma or }'],
    ['[1 2]', 1, 4, 'a comma or ]'],
    ['[1,]', 1, 4, 'a value'],
    ['[1}', 1, 3, 'a comma or ]'],
    ['{\n  "a": yes\n}', 2, 8, 'not yes'],
    ['{"a":', 1, 6, 'too early'],
    ['"abc', 1, 5, 'not closed'],
    ['"a\nb"', 1, 3, 'several lines'],
    ['"\\x"', 1, 2, 'unknown escape'],
    ['1 2', 1, 3, 'nothing more'],
    ['01', 1, 2, 'nothing more'],
    ['undefined', 1, 1, 'a value'],
    ['{"a":1}}', 1, 8, 'nothing more'],
    ['[1],', 1, 4, 'nothing more'],
  ])('the error in %j is reported at its position', (text, line, column, why) => {
    expect(readJson(text)).toMatchObject({ kind: 'bad', line, column, why: expect.stringContaining(why) });
  });

  test.each(['', ' \n\t'])('%j counts as empty', (text) =>
    expect(readJson(text)).toEqual({ kind: 'nothing' }),
  );

  test('valid JSON is read with any white space', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 3 }), (value, space) => {
        const text = JSON.stringify(value, undefined, space);
        expect(readJson(text)).toEqual({ kind: 'value', value: JSON.parse(text) });
      }),
    );
  });

  test('everything before the reported error position is a valid beginning', () => {
    const tokens = ['{', '}', '[', ']', ',', ':', '"a"', '1', 'true', ' ', '\n', '"', '\\'];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...tokens), { maxLength: 8 }), (parts) => {
        const text = parts.join('');
        const read = readJson(text);
        if (read.kind !== 'bad') return;
        expect(() => JSON.parse(text)).toThrow();
        expect(read.at).toBeLessThanOrEqual(text.length);
        expect(canContinue(text.slice(0, read.at))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test('a very long truncated text is reported quickly', () => {
    expect(readJson(`{"a":"${'x'.repeat(2_000_000)}`)).toMatchObject({ kind: 'bad', at: 2_000_006 });
  });
});

/** Returns true if one of a few simple continuations makes the text JSON. */
function canContinue(text: string): boolean {
  const open: string[] = [];
  for (const character of text.replace(/"(?:[^"\\\n]|\\.)*"?/g, '')) {
    if (character === '{' || character === '[') open.unshift(character);
    if (character === '}' || character === ']') open.shift();
  }
  const ends = open.map((bracket) => (bracket === '{' ? '}' : ']')).join('');
  const middles = ['', '1', '"a":1', ':1', '"', '":1', ',1', '"a"', '\\"', '\\":1'];
  return middles.some((middle) => isJson(`${text}${middle}${ends}`));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
