import { describe, expect, test } from '@jest/globals';
import { isCopy, mayHaveActed } from '../../../packages/cairn/src/core/recovery/restored.ts';

describe('a database is a copy', () => {
  test.each([
    ['if it was first used elsewhere', 'projects/p/databases/a', 'projects/p/databases/b', true],
    ['not where it was first used', 'projects/p/databases/a', 'projects/p/databases/a', false],
    ['not if it was never used', undefined, 'projects/p/databases/a', false],
    ['not if nobody knows where it lies', 'projects/p/databases/a', undefined, false],
  ] as const)('%s', (_, home, own, expected) => {
    expect(isCopy(home, own)).toBe(expected);
  });
});

describe('a run may have acted before a restore at 1,000', () => {
  test.each([
    ['if it is older', 999, undefined, true],
    ['not if it is younger', 1_000, undefined, false],
    ['if its slot was due before', 2_000, 999, true],
    ['not if its slot was due later', 2_000, 1_000, false],
  ] as const)('%s', (_, createdAt, slotAt, expected) => {
    const trigger = { source: 'scheduled' as const, ...(slotAt === undefined ? {} : { slotAt }) };
    expect(mayHaveActed({ createdAt, trigger }, 1_000)).toBe(expected);
  });
});
