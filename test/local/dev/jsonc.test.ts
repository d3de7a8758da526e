import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseJsonc } from '../../../packages/local/src/jsonc.ts';

/** Without the name that sets a prototype, which no file of a project has. */
const value = fc.jsonValue().filter((one) => !JSON.stringify(one).includes('"__proto__"'));

test('a file means the same with a comment, a byte order mark or commas at the end', () => {
  fc.assert(
    fc.property(value, (meant) => {
      const text = JSON.stringify(meant);
      for (const written of [text, `\uFEFF${text}`, `// first\n${text} /* last */`])
        expect(parseJsonc(written)).toEqual(JSON.parse(text));
      expect(parseJsonc(`[${text},]`)).toEqual([JSON.parse(text)]);
    }),
  );
});

test.each([
  ['{\n"a": 1\n"b": 2\n}', 'it is not JSON: CommaExpected in line 3'],
  ['', 'it is not JSON: ValueExpected in line 1'],
  ['{"a": 1}}', 'it is not JSON: EndOfFileExpected in line 1'],
])('%j is refused with its line', (text, told) => {
  expect(() => parseJsonc(text)).toThrow(new SyntaxError(told));
});
