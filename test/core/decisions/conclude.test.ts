import { describe, expect, test } from '@jest/globals';
import { conclude, type DriveFacts } from '../../../functions/src/core/decisions/conclude.ts';

/** Every combination that can be told apart. */
function everyCombination(): DriveFacts[] {
  const all: DriveFacts[] = [];
  for (const active of [0, 1]) {
    for (const unacknowledged of [0, 1]) {
      for (const unsettled of [0, 2]) {
        for (const held of [0, 1]) {
          for (const awaited of [0, 1]) {
            for (const earliestDueAt of [undefined, 9]) {
              for (const [failed, waits] of [
                [false, 0],
                [false, 2],
                [true, 0],
                [true, 2],
              ] as const) {
                for (const stop of [undefined, 'cancel', 'budget', 'shutdown', 'renewal'] as const) {
                  all.push({
                    active,
                    unacknowledged,
                    unsettled,
                    held,
                    awaited,
                    earliestDueAt,
                    waits,
                    failed,
                    stop,
                  });
                }
              }
            }
          }
        }
      }
    }
  }
  return all;
}

/** Steps are left, nothing is under way and nothing can begin: the graph was not acyclic. */
function isDeadEnd(facts: DriveFacts): boolean {
  const { active, unacknowledged, unsettled, held, awaited, earliestDueAt, waits, failed, stop } = facts;
  const underWay = active + unacknowledged + held + awaited + waits > 0;
  return unsettled > 0 && !underWay && earliestDueAt === undefined && !failed && stop === undefined;
}

describe('the terminal reducer of a drive', () => {
  const combinations = everyCombination();

  test('has one answer for every combination, and refuses the one that cannot be', () => {
    expect(combinations).toHaveLength(1_280);
    for (const facts of combinations) {
      if (isDeadEnd(facts)) expect(() => conclude(facts)).toThrow('nothing can make them');
      else expect(conclude(facts).kind).toMatch(/^(wait|complete|fail|cancel|suspend|release)$/);
    }
  });

  test('lets go of nothing while a body may still end', () => {
    for (const facts of combinations.filter(({ active }) => active > 0))
      expect(conclude(facts).kind).toBe('wait');
  });

  test('completes only what has ended without failure or cancel', () => {
    for (const facts of combinations.filter((one) => !isDeadEnd(one))) {
      if (conclude(facts).kind !== 'complete') continue;
      expect(facts).toMatchObject({ active: 0, unsettled: 0, failed: false });
      expect(facts.stop).not.toBe('cancel');
    }
  });

  test('never waits for nothing', () => {
    for (const facts of combinations.filter((one) => !isDeadEnd(one))) {
      if (conclude(facts).kind !== 'wait') continue;
      expect(facts.active + facts.unacknowledged + facts.awaited).toBeGreaterThan(0);
    }
  });

  test('never goes on when it was told to stop and no body runs', () => {
    for (const facts of combinations.filter(({ active, stop }) => active === 0 && stop !== undefined)) {
      expect(conclude(facts).kind).not.toBe('wait');
    }
  });

  const idle: DriveFacts = {
    active: 0,
    unacknowledged: 0,
    unsettled: 3,
    held: 0,
    awaited: 0,
    earliestDueAt: undefined,
    waits: 0,
    failed: false,
    stop: undefined,
  };
  test.each([
    ['a cancel beats a failure', { failed: true, stop: 'cancel' }, { kind: 'cancel' }],
    ['a failure beats the end of the budget', { failed: true, stop: 'budget' }, { kind: 'fail' }],
    [
      'a run whose last step ended at shutdown completes',
      { unsettled: 0, stop: 'shutdown' },
      { kind: 'complete' },
    ],
    ['a stop says why it lets go', { stop: 'shutdown' }, { kind: 'release', reason: 'shutdown' }],
    ['a run that only sleeps is suspended', { earliestDueAt: 9, waits: 1 }, { kind: 'suspend', until: 9 }],
    [
      'a run that only waits for somebody is suspended for as long as it takes',
      { waits: 1 },
      { kind: 'suspend' },
    ],
    [
      'steps that were sent back are for the next drive',
      { stop: 'renewal', waits: 1 },
      { kind: 'release', reason: 'renewal' },
    ],
    ['a step that does not fit goes to the next drive', { held: 1 }, { kind: 'release', reason: 'budget' }],
    [
      'a far retry lets go until then',
      { earliestDueAt: 77 },
      { kind: 'release', reason: 'retry', dueAt: 77 },
    ],
    ['a near retry is waited for', { earliestDueAt: 77, awaited: 1 }, { kind: 'wait' }],
  ] as const)('%s', (_, facts, expected) => {
    expect(conclude({ ...idle, ...facts })).toEqual(expected);
  });
});
