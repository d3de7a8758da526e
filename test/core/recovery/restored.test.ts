import { describe, expect, test } from '@jest/globals';
import { isCopy, mayHaveActed, mayHaveRun } from '../../../packages/cairn/src/core/recovery/restored.ts';
import type { StepState } from '../../../packages/cairn/src/core/run/state.ts';

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

describe('a body may have run before a restore at 1,000', () => {
  const retrying = (retryAt: number, whenRoom?: true) =>
    ({ phase: 'retrying', retryAt, ...(whenRoom && { whenRoom }) }) as StepState;
  const running = { phase: 'running' } as StepState;

  test.each([
    ['if the journal does not know it', undefined, true],
    ['if it had begun', running, true],
    ['if its next attempt was due before', retrying(999), true],
    ['not if its next attempt is due later', retrying(1_000), false],
    ['if it waits for room, since when it is not known', retrying(2_000, true), true],
  ])('%s', (_, before, expected) => {
    expect(mayHaveRun({ idempotent: false }, before, 1_000)).toBe(expected);
  });

  test.each([
    ['may run twice', { idempotent: true }, 1_000],
    ['allows a new attempt', { idempotent: false, newAttempt: true }, 1_000],
    ['belongs to a run that no restore concerns', { idempotent: false }, undefined],
  ] as const)('but not if it %s', (_, step, restoredAt) => {
    expect(mayHaveRun(step, running, restoredAt)).toBe(false);
  });
});
