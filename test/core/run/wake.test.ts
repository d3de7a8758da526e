import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Wait } from '../../../functions/src/core/run/events.ts';
import { isOver, type RunState } from '../../../functions/src/core/run/state.ts';
import { OPEN_WAIT_MS, PARKED_MS, READY_GRACE_MS, wakeAt } from '../../../functions/src/core/run/wake.ts';
import { mustWriteSnapshot } from '../../../functions/src/journal/batch.ts';
import { claimed, created, failedRun, grownBy, journals, T0 } from './random-journal.ts';

const fresh = created().state;
const leased = grownBy(fresh, [claimed(fresh), { type: 'run_started', initiator: 'system', data: {} }]);
const released = (dueAt?: number) =>
  grownBy(leased, [
    {
      type: 'run_released',
      initiator: 'system',
      data: { reason: 'retry', inFlight: [], ...(dueAt === undefined ? {} : { dueAt }) },
    },
  ]);
const waiting = (waits: readonly Wait[], until?: number): RunState => ({
  ...grownBy(leased, [
    {
      type: 'run_suspended',
      initiator: 'system',
      data: { status: 'waiting_external', ...(until === undefined ? {} : { until }) },
    },
  ]),
  waits,
});
const wait = (dueAt?: number): Wait => ({
  id: `w${dueAt}`,
  kind: 'event',
  stepId: 's',
  revision: 1,
  openedAt: T0,
  ...(dueAt === undefined ? {} : { dueAt }),
});

describe('wakeAt (J10)', () => {
  test.each([
    ['a new run: its task may be lost', fresh, T0 + READY_GRACE_MS],
    ['a driven run: the end of its lease', leased, T0 + 5_000],
    ['a released run: its task may be lost', released(), T0 + READY_GRACE_MS],
    ['a run with a far retry: when that is due', released(T0 + 7), T0 + 7],
    ['a run that waits: its earliest deadline', waiting([wait(T0 + 9), wait(), wait(T0 + 3)]), T0 + 3],
    ['a run that waits without a deadline: a day', waiting([wait()]), T0 + OPEN_WAIT_MS],
    ['a parked run: its deadline', waiting([], T0 + 4), T0 + 4],
    ['a parked run without one: ten minutes', waiting([]), T0 + PARKED_MS],
    ['a run that ended: never', grownBy(leased, [failedRun()]), undefined],
  ] as const)('%s', (_, state, expected) => {
    expect(wakeAt(state)).toBe(expected);
  });

  test('is put off by a sign of life, and never brought forward by an old one', () => {
    expect(wakeAt(leased, { leaseExtendedTo: T0 + 8_000 })).toBe(T0 + 8_000);
    expect(wakeAt(leased, { leaseExtendedTo: T0 - 8_000 })).toBe(T0 + 5_000);
    expect(wakeAt(released(), { leaseExtendedTo: T0 + 99_000_000 })).toBe(T0 + READY_GRACE_MS);
  });

  test('is there for every run that has not ended, and for no other', () => {
    fc.assert(
      fc.property(journals(), ({ states }) => {
        for (const state of states) {
          const at = wakeAt(state);
          if (isOver(state)) expect(at).toBeUndefined();
          else expect(Number.isSafeInteger(at)).toBe(true);
        }
      }),
      { numRuns: 100 },
    );
  });

  test('is stored in time: what may be committed without the snapshot never brings it forward', () => {
    fc.assert(
      fc.property(journals(), ({ states }) => {
        let stored = states[0] as RunState;
        for (const [i, state] of states.entries()) {
          const before = states[i - 1];
          if (!before || mustWriteSnapshot(before, state)) stored = state;
          const late = Number.POSITIVE_INFINITY;
          expect(wakeAt(stored) ?? late).toBeLessThanOrEqual(wakeAt(state) ?? late);
          // And what J4 promises of every snapshot.
          expect([stored.status, stored.epoch]).toEqual([state.status, state.epoch]);
          expect(stored.waits).toBe(state.waits);
          if (!stored.lease) expect(stored).toBe(state);
        }
      }),
      { numRuns: 200 },
    );
  });
});
