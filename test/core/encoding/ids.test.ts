import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sha256Hex } from '../../../packages/cairn/src/core/encoding/hash.ts';
import {
  isRunId,
  MAX_SHARDS,
  makeRunId,
  SHARD_COUNT,
  seqId,
  shardOf,
} from '../../../packages/cairn/src/core/encoding/ids.ts';

const bytes = () => fc.uint8Array({ minLength: 16, maxLength: 16 });

describe('ids', () => {
  test.each([
    [new Uint8Array(16), 'a'.repeat(26)],
    [new Uint8Array(16).fill(255), `${'7'.repeat(25)}4`],
    [new TextEncoder().encode('foobarfoobarfoob'), 'mzxw6ytbojtg633cmfzgm33pmi'],
  ])('are the lower-case base32 of RFC 4648', (random, expected) => {
    expect(makeRunId(random)).toBe(`run_${expected}`);
  });

  test('different bytes give different ids, and every run id is recognised as one', () => {
    fc.assert(
      fc.property(bytes(), bytes(), (a, b) => {
        expect(makeRunId(a) === makeRunId(b)).toBe(Buffer.compare(a, b) === 0);
        expect(isRunId(makeRunId(a))).toBe(true);
      }),
    );
  });

  test.each([
    '',
    'run_',
    `run_${'a'.repeat(25)}`,
    `run_${'A'.repeat(26)}`,
    `run_${'a'.repeat(25)}b`,
    `x${'a'.repeat(29)}`,
  ])('%p is not a run id', (text) => {
    expect(isRunId(text)).toBe(false);
  });

  test.each([15, 17, 0])('%i bytes are refused', (length) => {
    expect(() => makeRunId(new Uint8Array(length))).toThrow(RangeError);
  });
});

describe('sequence ids', () => {
  test('sort as text in the order of their numbers', () => {
    expect(seqId(1)).toBe('0000000001');
    const seq = fc.integer({ min: 1, max: 9_999_999_999 });
    fc.assert(fc.property(seq, seq, (a, b) => expect(seqId(a) < seqId(b)).toBe(a < b)));
  });

  test.each([0, -1, 1.5, Number.NaN, 10_000_000_000])('%p is refused', (seq) => {
    expect(() => seqId(seq)).toThrow(RangeError);
  });
});

describe('shards', () => {
  test('never change: they are stored', () => {
    expect(['run_a', 'run_b', 'run_c'].map((key) => shardOf(key))).toEqual([9, 15, 6]);
    expect(['run_a', 'run_b', 'run_c'].map((key) => shardOf(key, 64))).toEqual([36, 63, 24]);
  });

  test('are below their number, and are the first digits of a hash for sixteen shards', () => {
    const count = fc.integer({ min: SHARD_COUNT, max: MAX_SHARDS });
    fc.assert(
      fc.property(fc.string(), count, (key, shards) => {
        const shard = shardOf(key, shards);
        expect(shard).toBeGreaterThanOrEqual(0);
        expect(shard).toBeLessThan(shards);
        expect(shardOf(key)).toBe(Number.parseInt(sha256Hex(key).slice(0, 1), 16));
      }),
    );
  });

  test.each([64, 100, MAX_SHARDS])('spread runs over all of %d', (shards) => {
    const used = new Set(Array.from({ length: 20 * shards }, (_, run) => shardOf(`run_${run}`, shards)));
    expect(used.size).toBe(shards);
  });

  test('spread runs over all sixteen about evenly', () => {
    const counts = new Array<number>(SHARD_COUNT).fill(0);
    for (let run = 0; run < 3_200; run += 1) {
      const shard = shardOf(`run_${run}`);
      counts[shard] = (counts[shard] ?? 0) + 1;
    }
    expect(counts).toHaveLength(SHARD_COUNT);
    expect(Math.min(...counts)).toBeGreaterThan(140);
    expect(Math.max(...counts)).toBeLessThan(260);
  });
});
