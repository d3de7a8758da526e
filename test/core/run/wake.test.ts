import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { EventData, Wait } from '../../../packages/cairn/src/core/run/events.ts';
import { hasCompletionDuties, isOver, type RunState } from '../../../packages/cairn/src/core/run/state.ts';
import {
  FIRST_BLOCKED_CHECK_MS,
  isBlocked,
  LONGEST_CHECK_MS,
  mustWriteSnapshot,
  nextBlockedCheckMs,
  nextDue,
  nextReadyCheckMs,
  OPEN_WAIT_MS,
  READY_GRACE_MS,
  type ReadyFacts,
  readySince,
  wakeAt,
} from '../../../packages/cairn/src/core/run/wake.ts';
import {
  bySystem,
  childOf,
  created,
  failedRun,
  grownBy,
  opened,
  orphaned,
  resumed,
  running,
  T0,
  waitOf,
} from './journal-drafts.ts';
import { journals } from './random-journal.ts';

const fresh = created().state;
const leased = running();
const limited: RunState = { ...leased, deadlineAt: T0 + 50_000 };
const ended = (state: RunState) => grownBy(state, [failedRun()]);

const released = (dueAt?: number, state = leased) =>
  grownBy(state, [
    bySystem('run_released', { reason: 'retry', inFlight: [], ...(dueAt === undefined ? {} : { dueAt }) }),
  ]);
const waiting = (waits: readonly Wait[], more: Partial<EventData['run_suspended']> = {}, state = leased) =>
  grownBy(state, [
    ...waits.map(opened),
    bySystem('run_suspended', { status: 'waiting_external', announced: true, ...more }),
  ]);
const wait = (id: string, dueAt?: number): Wait => waitOf(id, T0, dueAt === undefined ? {} : { dueAt });
const untold = grownBy(leased, [
  opened(wait('a')),
  bySystem('run_suspended', { status: 'awaiting_approval' }),
]);
const interrupted = grownBy(leased, [orphaned(leased)]);
const PARK = { reason: 'PLAN_VERSION_UNAVAILABLE' };

describe('wakeAt (J10)', () => {
  test.each<[string, RunState, number | undefined]>([
    ['a new run: its task may be lost', fresh, T0 + READY_GRACE_MS],
    ['a driven run: the end of its lease', leased, T0 + 5_000],
    [
      'a driven run with a deadline: the end of its lease, its driver knows the deadline',
      limited,
      T0 + 5_000,
    ],
    ['a released run: its task may be lost', released(), T0 + READY_GRACE_MS],
    ['a run with a far retry: when that is due', released(T0 + 7), T0 + 7],
    ['a run with a retry after its deadline: the deadline', released(T0 + 99_000, limited), T0 + 50_000],
    ['a run with a retry before its deadline: the retry', released(T0 + 7, limited), T0 + 7],
    ['an interrupted run: somebody has to judge it', interrupted, T0 + READY_GRACE_MS],
    ['a resumed run: its task may be lost', grownBy(interrupted, [resumed()]), T0 + READY_GRACE_MS],
    [
      'a run that waits: its earliest deadline',
      waiting([wait('a', T0 + 9), wait('b'), wait('c', T0 + 3)]),
      T0 + 3,
    ],
    [
      'a run that waits and has a retry to come: the retry',
      waiting([wait('a', T0 + 9)], { until: T0 + 2 }),
      T0 + 2,
    ],
    ['a run that waits without a deadline: a day', waiting([wait('a')]), T0 + OPEN_WAIT_MS],
    [
      'a run that waits for what nobody was told of: soon, since its task may be lost',
      untold,
      untold.updatedAt + READY_GRACE_MS,
    ],
    [
      'a run that waits beyond its own deadline: that',
      waiting([wait('a', T0 + 99_000)], {}, limited),
      T0 + 50_000,
    ],
    [
      'a run that waits for ever with a deadline of its own: that',
      waiting([wait('a')], {}, limited),
      T0 + 50_000,
    ],
    ['a blocked run: when it was to be looked at', waiting([], { ...PARK, until: T0 + 4 }), T0 + 4],
    ['a blocked run that did not say when: half a minute', waiting([], PARK), T0 + FIRST_BLOCKED_CHECK_MS],
    [
      'a blocked run with a wait that is long due: not before it was to be looked at',
      waiting([wait('a', T0 - 9)], { ...PARK, until: T0 + 4 }),
      T0 + 4,
    ],
    ['a run that ended: never', ended(leased), undefined],
    ['a run that ended past its deadline: never', ended(limited), undefined],
  ])('%s', (_, state, expected) => {
    expect(wakeAt(state)).toBe(expected);
  });

  test('is deferred by a heartbeat, and never advanced by an old one', () => {
    expect(wakeAt(leased, { leaseExtendedTo: T0 + 8_000 })).toBe(T0 + 8_000);
    expect(wakeAt(leased, { leaseExtendedTo: T0 - 8_000 })).toBe(T0 + 5_000);
    expect(wakeAt(released(), { leaseExtendedTo: T0 + 99_000_000 })).toBe(T0 + READY_GRACE_MS);
  });
});

describe('completion duties', () => {
  const parent = { runId: 'run_parent', stepId: 'kid' };
  test.each<[string, RunState]>([
    ['its parent', ended(running({ parent }))],
    ['a child of it', ended(grownBy(leased, [opened(childOf('kid', 'run_child'))]))],
    ['a mailbox', ended(grownBy(leased, [opened(wait('a'))]))],
  ])('keep an ended run scanned until they are done: %s', (_, state) => {
    expect(wakeAt(state)).toBe(T0 + READY_GRACE_MS);
    expect(wakeAt(state, { dutiesMet: false })).toBe(T0 + READY_GRACE_MS);
    expect(wakeAt(state, { dutiesMet: true })).toBeUndefined();
  });

  test('matter only after the end', () => {
    const state = running({ parent });
    expect(wakeAt(state, { dutiesMet: true })).toBe(wakeAt(leased));
  });
});

describe('a suspended run', () => {
  test('is blocked if it has a reason, or if no open wait could wake it', () => {
    expect(isBlocked(waiting([wait('a')]))).toBe(false);
    expect(isBlocked(waiting([wait('a')], PARK))).toBe(true);
    expect(isBlocked(waiting([]))).toBe(true);
  });

  test('is due at the earliest of its times', () => {
    expect(nextDue(waiting([wait('a')]))).toBeUndefined();
    expect(nextDue(waiting([wait('a', T0 + 9), wait('b', T0 + 3)]))).toBe(T0 + 3);
    expect(nextDue(waiting([wait('a', T0 + 9)], { until: T0 + 2 }))).toBe(T0 + 2);
    expect(nextDue(waiting([wait('a', T0 + 99_000)], { until: T0 + 90_000 }, limited))).toBe(T0 + 50_000);
  });
});

describe('for any journal', () => {
  test('a run has a time exactly if it has not ended or has completion duties', () => {
    fc.assert(
      fc.property(journals(), fc.boolean(), ({ states }, dutiesMet) => {
        for (const state of states) {
          const settled = isOver(state) && (dutiesMet || !hasCompletionDuties(state));
          const at = wakeAt(state, { dutiesMet });
          if (settled) expect(at).toBeUndefined();
          else expect(Number.isSafeInteger(at)).toBe(true);
        }
      }),
      { numRuns: 100 },
    );
  });

  test('the stored time is early enough: no commit without the snapshot advances it', () => {
    fc.assert(
      fc.property(journals(), ({ states }) => {
        let stored = states[0] as RunState;
        for (const [i, state] of states.entries()) {
          const before = states[i - 1];
          if (!before || mustWriteSnapshot(before, state)) stored = state;
          const late = Number.POSITIVE_INFINITY;
          expect(wakeAt(stored) ?? late).toBeLessThanOrEqual(wakeAt(state) ?? late);
          // The promise of J4 for every snapshot.
          expect([stored.status, stored.epoch]).toEqual([state.status, state.epoch]);
          expect(stored.waits).toBe(state.waits);
          if (!stored.lease) expect(stored).toBe(state);
        }
      }),
      { numRuns: 200 },
    );
  });
});

test('a blocked run is scanned after half a minute, and then after twice as long each time, up to ten minutes', () => {
  const parked = waiting([], { ...PARK, until: T0 + FIRST_BLOCKED_CHECK_MS });
  const looks: number[] = [];
  for (let now = wakeAt(parked) ?? 0; looks.length < 8; now += nextBlockedCheckMs(parked, now))
    looks.push(now - T0);
  const minutes = [0.5, 1, 2, 4, 8, 16, 26, 36];
  expect(looks.map((ms) => ms / 60_000)).toEqual(minutes);
  expect(LONGEST_CHECK_MS).toBe(10 * 60_000);
});

test('a run that stays ready is scanned after a minute, then after twice as long each time, up to ten minutes', () => {
  const scans: number[] = [];
  for (let now = T0 + READY_GRACE_MS; scans.length < 8; now += nextReadyCheckMs(T0, now))
    scans.push(now - T0);
  expect(scans.map((ms) => ms / 60_000)).toEqual([1, 2, 4, 8, 16, 26, 36, 46]);
  expect(nextReadyCheckMs(undefined, T0)).toBe(READY_GRACE_MS);
});

test.each<[string, Partial<ReadyFacts>, number | undefined]>([
  ['a new run', { status: 'pending' }, T0],
  ['a run that was released until later', { status: 'running', dueAt: T0 + 5_000 }, T0 + 5_000],
  ['a run that imports what its source completed', { status: 'replaying' }, T0],
  ['a run that a worker holds', { status: 'running', lease: {} }, undefined],
  ['a run that waits', { status: 'waiting_external' }, undefined],
  ['an ended run', { status: 'completed' }, undefined],
  ['a run whose status cannot be read', { status: undefined }, undefined],
])('%s is ready since', (_, facts, since) => {
  expect(readySince({ status: 'running', lease: undefined, dueAt: undefined, updatedAt: T0, ...facts })).toBe(
    since,
  );
});
