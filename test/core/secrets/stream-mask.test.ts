import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MAX_PIECE_CHARS, piecesOf } from '../../../packages/cairn/src/core/logs/text.ts';
import { REDACTED } from '../../../packages/cairn/src/core/secrets/mask.ts';
import { StreamMask } from '../../../packages/cairn/src/core/secrets/stream-mask.ts';

function masked(secrets: readonly string[], chunks: readonly string[]): string {
  const mask = new StreamMask(secrets);
  return chunks.map((chunk) => mask.push(chunk)).join('') + mask.end();
}

describe('secret values in a stream of text', () => {
  test('are removed for any chunking of the stream', () => {
    const text = 'key tok_123456, again tok_123456 and tok_12';
    const expected = `key ${REDACTED}, again ${REDACTED} and tok_12`;
    for (let at = 0; at <= text.length; at += 1)
      expect(masked(['tok_123456'], [text.slice(0, at), text.slice(at)])).toBe(expected);
    expect(masked(['tok_123456'], [...text])).toBe(expected);
  });

  test('are masked as in the whole text, and never shown in part', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 40 });
    const secrets = fc.array(
      fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 2, maxLength: 6 }),
      {
        maxLength: 4,
      },
    );
    fc.assert(
      fc.property(secrets, fc.array(letters, { maxLength: 12 }), (hidden, chunks) => {
        const shown = masked(hidden, chunks);
        expect(shown).toBe(masked(hidden, [chunks.join('')]));
        for (const part of shown.split(REDACTED))
          for (const secret of hidden) expect(part).not.toContain(secret);
      }),
    );
  });

  test('delay only text that could be the beginning of a secret', () => {
    const mask = new StreamMask(['secret-value']);
    expect(mask.push('a sec')).toBe('a ');
    expect(mask.push('ond')).toBe('second');
    expect(mask.push('secret-valu')).toBe('');
    expect(mask.end()).toBe('secret-valu');
  });
});

test('never split a character of two code units', () => {
  const mask = new StreamMask([]);
  expect(mask.push('a\ud83e')).toBe('a');
  expect(mask.push('\udd16b')).toBe('🤖b');
  const text = `x${'🤖'.repeat(MAX_PIECE_CHARS)}`;
  const pieces = piecesOf(text);
  expect(pieces.join('')).toBe(text);
  for (const piece of pieces) {
    expect(piece.length).toBeLessThanOrEqual(MAX_PIECE_CHARS);
    expect(piece.isWellFormed()).toBe(true);
  }
});
