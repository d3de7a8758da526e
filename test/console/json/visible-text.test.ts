import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  bytesOf,
  escapedJson,
  headOf,
  piecesOf,
  sizeWords,
  splitName,
  visibleText,
} from '../../../packages/console/src/parts/visible-text.ts';

describe('a name is split before the end, where similar names differ', () => {
  test.each([
    ['a short name stays', 'read-invoice', ['read-invoice', '']],
    ['at a separator', 'read-the-invoices-of-germany', ['read-the-invoices-of', '-germany']],
    ['at the first of several', 'handle-every-item[3][377]', ['handle-every-item', '[3][377]']],
    ['without a separator', 'readTheInvoicesOfGermany', ['readTheInvoicesOf', 'Germany']],
    ['a separator at the very end', 'readTheInvoicesOfGermany.', ['readTheInvoicesOfG', 'ermany.']],
    ['a mark stays with its letter', 'aaaaaaaaaaaae\u0301bbbbbb', ['aaaaaaaaaaaa', 'e\u0301bbbbbb']],
  ] as const)('%s', (_, name, [head, tail]) => expect(splitName(name)).toEqual({ head, tail }));

  test('no character is lost, and none is torn apart', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => {
        const { head, tail } = splitName(name);
        expect(head + tail).toBe(name);
        expect(Array.from(head).length + Array.from(tail).length).toBe(Array.from(name).length);
      }),
    );
  });
});

describe('invisible and reordering characters are shown', () => {
  test.each([
    ['an override of direction', 'a\u202Ecod.exe', 'a⟨U+202E⟩cod.exe'],
    ['an isolate', '\u2067x\u2069', '⟨U+2067⟩x⟨U+2069⟩'],
    ['an escape', '\u001b[31mred', '␛[31mred'],
    ['a null', '\u0000', '␀'],
    ['a delete', '\u007f', '␡'],
    ['no width', 'pay\u200bpal\ufeff', 'pay⟨U+200B⟩pal⟨U+FEFF⟩'],
    ['a tag', '\u{e0041}', '⟨U+E0041⟩'],
    ['half of a pair', '\ud83d!', '⟨U+D83D⟩!'],
    ['a carriage return', 'a\rb', 'a␍b'],
    ['lines and tabs stay', 'a\n\tb', 'a\n\tb'],
    ['writing from right to left stays', 'שלום', 'שלום'],
    ['emoji of several stay', '👩‍🔧', '👩‍🔧'],
    ['markup stays', '<b>&amp;</b>', '<b>&amp;</b>'],
  ])('%s', (_, text, shown) => expect(visibleText(text)).toBe(shown));

  const unseen = /[\p{Bidi_Control}\p{Surrogate}]|(?![\n\t])\p{Control}/u;

  test('no text has invisible characters left', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
        const shown = visibleText(text);
        expect(shown).not.toMatch(unseen);
        expect(visibleText(shown)).toBe(shown);
      }),
    );
  });
});

test('JSON in an editor has no invisible characters, and the same value', () => {
  const value = fc.jsonValue({ stringUnit: 'binary' });
  fc.assert(
    fc.property(value, (json) => {
      const text = escapedJson(json);
      expect(visibleText(text)).toBe(text);
      expect(JSON.stringify(JSON.parse(text))).toBe(JSON.stringify(json));
    }),
  );
  expect(escapedJson('a\u202E\u{e0041}')).toBe('"a\\u202e\\udb40\\udc41"');
});

test('the pieces join to the text, within the limit, without split surrogate pairs', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '👩', '\n', 'bc') });
  fc.assert(
    fc.property(text, fc.integer({ min: 2, max: 9 }), (whole, max) => {
      const pieces = piecesOf(whole, max);
      expect(pieces.join('')).toBe(whole);
      for (const piece of pieces) {
        expect(piece.length).toBeGreaterThan(0);
        expect(piece.length).toBeLessThanOrEqual(max);
        expect(piece.isWellFormed()).toBe(true);
      }
      expect(whole.startsWith(headOf(whole, max))).toBe(true);
    }),
  );
});

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_200, '1.2 kB'],
  [1_000_000, '1.0 MB'],
])('%d bytes are %s', (bytes, words) => expect(sizeWords(bytes)).toBe(words));

test('byte counts are those of UTF-8', () => expect(bytesOf('é👩')).toBe(6));
