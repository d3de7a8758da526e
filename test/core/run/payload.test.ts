import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  PAYLOAD_CHUNK_BYTES,
  payloadOf,
  payloadRefOf,
  payloadText,
} from '../../../packages/cairn/src/core/run/payload.ts';

/** Texts with lengths around the chunk boundaries. */
const texts = fc
  .tuple(
    fc.string({ unit: 'grapheme' }),
    fc.integer({ min: -8, max: 8 }),
    fc.constantFrom(1, 2),
    fc.constantFrom('a', 'ü', '🪨'),
  )
  .map(([end, shift, chunks, letter]) => {
    const length = Math.floor((chunks * PAYLOAD_CHUNK_BYTES) / Buffer.byteLength(letter)) + shift;
    return letter.repeat(length) + end;
  });

describe('a payload', () => {
  test('joined from its chunks is the original text', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const { ref, chunks } = payloadOf(text);
        expect(ref).toEqual(payloadRefOf(text));
        expect(chunks.length).toBe(ref.chunks);
        expect(chunks.every((chunk) => chunk.length > 0 && chunk.length <= PAYLOAD_CHUNK_BYTES)).toBe(true);
        expect(payloadText(ref, chunks, 'it') === text).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  const { ref, chunks } = payloadOf('x'.repeat(PAYLOAD_CHUNK_BYTES + 1));
  const [first = new Uint8Array(), last = new Uint8Array()] = chunks;
  test.each<[string, readonly (Uint8Array | undefined)[], string]>([
    ['whose first chunk is missing', [undefined, last], 'it: chunk 0 of 2 is missing'],
    ['whose last chunk is missing', [first], 'it: chunk 1 of 2 is missing'],
    [
      'whose chunk is too short',
      [first.subarray(1), last],
      'it: 921600 bytes are there; 921601 were written',
    ],
    ['with other bytes', [first, Buffer.from('y')], 'it: the bytes do not match their hash'],
  ])('%s is refused', (_, found, why) => {
    expect(() => payloadText(ref, found, 'it')).toThrow(why);
  });
});
