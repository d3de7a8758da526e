import { describe, expect, test } from '@jest/globals';
import { type DispatchFacts, dispatchDecision } from '../../../packages/cairn/src/core/decisions/dispatch.ts';
import { T0 } from '../run/journal-drafts.ts';

const failure = { code: 'STEP_FAILED', message: 'm', retryable: false };
const cancellation = { stopKind: 'user', requestedAt: T0 } as const;

/** Every distinguishable combination. */
function everyCombination(): DispatchFacts[] {
  const all: DispatchFacts[] = [];
  for (const active of [0, 1]) {
    for (const unacknowledged of [0, 1]) {
      for (const unsettled of [0, 2]) {
        for (const canStart of [false, true]) {
          for (const awaited of [0, 1]) {
            for (const earliestDueAt of [undefined, 9]) {
              for (const [failed, waits] of [
                [undefined, 0],
                [undefined, 2],
                [failure, 0],
                [failure, 2],
              ] as const) {
                for (const stop of [
                  undefined,
                  'cancel',
                  'budget',
                  'shutdown',
                  'renewal',
                  'paused',
                ] as const) {
                  all.push({
                    active,
                    unacknowledged,
                    unsettled,
                    canStart,
                    awaited,
                    earliestDueAt,
                    waits,
                    announceAgain: undefined,
                    failure: failed,
                    cancellation: stop === 'cancel' ? cancellation : undefined,
                    undoes: false,
                    childrenOpen: false,
                    stop: stop === 'cancel' ? undefined : stop,
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

/** Steps are left, but none runs or can begin: possible only in a cyclic graph. */
function isDeadEnd(facts: DispatchFacts): boolean {
  const { active, unacknowledged, unsettled, canStart, awaited, earliestDueAt, waits, failure, stop } = facts;
  const underWay = canStart || active + unacknowledged + awaited + waits > 0;
  const stopped = failure !== undefined || facts.cancellation !== undefined || stop !== undefined;
  return unsettled > 0 && !underWay && earliestDueAt === undefined && !stopped;
}

describe('the decision at the end of a dispatch', () => {
  const combinations = everyCombination();

  test('gives one answer for every combination, and refuses impossible ones', () => {
    expect(combinations).toHaveLength(1_536);
    for (const facts of combinations) {
      if (isDeadEnd(facts)) expect(() => dispatchDecision(facts)).toThrow('no event can end them');
      else
        expect(dispatchDecision(facts).kind).toMatch(/^(wait|completed|failed|cancelled|suspend|release)$/);
    }
  });

  test('releases nothing while a body may still end', () => {
    for (const facts of combinations.filter(({ active }) => active > 0))
      expect(dispatchDecision(facts).kind).toBe('wait');
  });

  test('completes only a run that ended without failure or cancel', () => {
    for (const facts of combinations.filter((one) => !isDeadEnd(one))) {
      if (dispatchDecision(facts).kind !== 'completed') continue;
      expect(facts).toMatchObject({ active: 0, unsettled: 0, failure: undefined, cancellation: undefined });
    }
  });

  test('never waits without something to wait for', () => {
    for (const facts of combinations.filter((one) => !isDeadEnd(one))) {
      if (dispatchDecision(facts).kind !== 'wait') continue;
      expect(facts.active + facts.unacknowledged + facts.awaited).toBeGreaterThan(0);
    }
  });

  test('never continues after a stop if no body runs', () => {
    for (const facts of combinations.filter(({ active }) => active === 0)) {
      if (facts.stop ?? facts.cancellation) expect(dispatchDecision(facts).kind).not.toBe('wait');
    }
  });

  test('compensates first if a run with compensations fails or is cancelled, and only then', () => {
    for (const facts of combinations.filter((one) => !isDeadEnd(one))) {
      const end = dispatchDecision(facts);
      const endsBadly = end.kind === 'failed' || end.kind === 'cancelled';
      // A pause also forbids compensations, except those of a cancel.
      const undone =
        facts.stop === 'paused' ? { kind: 'release', reason: 'paused' } : { kind: 'undo_first', end };
      expect(dispatchDecision({ ...facts, undoes: true })).toEqual(endsBadly ? undone : end);
    }
  });

  const idle: DispatchFacts = {
    active: 0,
    unacknowledged: 0,
    unsettled: 3,
    canStart: false,
    awaited: 0,
    earliestDueAt: undefined,
    waits: 0,
    announceAgain: undefined,
    failure: undefined,
    cancellation: undefined,
    undoes: false,
    childrenOpen: false,
    stop: undefined,
  };
  test.each([
    ['a cancel beats a failure', { failure, cancellation }, { kind: 'cancelled', cancellation }],
    [
      'a failure beats the end of the budget',
      { failure, stop: 'budget' },
      { kind: 'failed', because: 'failure', error: failure },
    ],
    [
      'a run whose last step ended at shutdown completes',
      { unsettled: 0, stop: 'shutdown' },
      { kind: 'completed' },
    ],
    ['a stop says why it lets go', { stop: 'shutdown' }, { kind: 'release', reason: 'shutdown' }],
    ['a run that only sleeps is suspended', { earliestDueAt: 9, waits: 1 }, { kind: 'suspend', until: 9 }],
    [
      'a run is not suspended while the outside has not heard of a wait',
      { earliestDueAt: 9, waits: 1, announceAgain: { at: 5 } },
      { kind: 'release', reason: 'retry', dueAt: 5 },
    ],
    [
      'a run whose child has no deployed workflow says so',
      { earliestDueAt: 9, waits: 1, announceAgain: { at: 10, missing: failure } },
      { kind: 'release', reason: 'retry', dueAt: 9, error: failure },
    ],
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
    [
      'a step that does not fit goes to the next drive',
      { canStart: true },
      { kind: 'release', reason: 'budget' },
    ],
    [
      'a far retry lets go until then',
      { earliestDueAt: 77 },
      { kind: 'release', reason: 'retry', dueAt: 77 },
    ],
    ['a near retry is waited for', { earliestDueAt: 77, awaited: 1 }, { kind: 'wait' }],
  ] as const)('%s', (_, facts, expected) => {
    expect(dispatchDecision({ ...idle, ...facts })).toEqual(expected);
  });

  test('waits for children before a failure or cancel, when no append is pending', () => {
    const failing = { ...idle, waits: 1, failure, childrenOpen: true };
    expect(dispatchDecision(failing)).toMatchObject({ kind: 'end_children', end: { error: failure } });
    expect(dispatchDecision({ ...failing, unacknowledged: 1 })).toEqual({ kind: 'wait' });
    expect(dispatchDecision({ ...failing, active: 1 })).toEqual({ kind: 'wait' });
    expect(dispatchDecision({ ...failing, stop: 'paused' })).toEqual({ kind: 'release', reason: 'paused' });
    expect(dispatchDecision({ ...failing, failure: undefined })).toEqual({ kind: 'suspend' });
  });
});
