import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { claimVerdict } from '../../../functions/src/core/decisions/claim.ts';
import { isOver, type RunState } from '../../../functions/src/core/run/state.ts';
import { isParked, nextDue } from '../../../functions/src/core/run/wake.ts';
import { claimed, created, failedRun, grownBy, T0, waitOf } from '../run/journal-drafts.ts';
import { journals } from '../run/random-journal.ts';

const LEASE_MS = 5_000;
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
const suspended = grownBy(leased, [
  { type: 'run_suspended', initiator: 'system', data: { status: 'waiting_external' } },
]);
const asking: RunState = {
  ...suspended,
  waits: [waitOf('s', T0, { announced: true })],
};
const untold: RunState = { ...asking, waits: [...asking.waits, waitOf('t')] };
const interrupted = grownBy(leased, [
  { type: 'orphan_detected', initiator: 'timeout', data: { owner: 'o1', epoch: 1, lastHeartbeatAt: T0 } },
]);

describe('what a drive may do with a run', () => {
  const at = (readAt: number, lastHeartbeatAt?: number) => ({
    readAt,
    soft: lastHeartbeatAt === undefined ? {} : { lastHeartbeatAt },
    leaseMs: LEASE_MS,
  });
  test.each([
    ['a new run', fresh, at(T0), { kind: 'claim' }],
    ['a released run', released(), at(T0), { kind: 'claim' }],
    ['a run whose retry is not due', released(T0 + 9), at(T0 + 8), { kind: 'early', at: T0 + 9 }],
    ['a run whose retry is due', released(T0 + 9), at(T0 + 9), { kind: 'claim' }],
    ['a run that ended', grownBy(leased, [failedRun()]), at(T0), { kind: 'over' }],
    ['a run that was interrupted', interrupted, at(T0), { kind: 'interrupted' }],
    ['a run that waits for an answer', asking, at(T0), { kind: 'waiting', parked: false }],
    ['a run that waits for what nobody was told of', untold, at(T0), { kind: 'claim' }],
    ['a parked run', suspended, at(T0), { kind: 'waiting', parked: true }],
    ['a driven run', leased, at(T0 + 4_999, T0), { kind: 'leased', freeAt: T0 + LEASE_MS }],
    [
      'a driven run whose holder fell silent',
      leased,
      at(T0 + 5_000, T0),
      { kind: 'orphaned', lastHeartbeatAt: T0 },
    ],
    [
      'a driven run with a fresh beat',
      leased,
      at(T0 + 9_000, T0 + 8_000),
      { kind: 'leased', freeAt: T0 + 13_000 },
    ],
    ['a driven run without any beat yet', leased, at(T0 + 1), { kind: 'leased', freeAt: T0 + LEASE_MS }],
  ] as const)('%s', (_, state, { readAt, soft, leaseMs }, expected) => {
    expect(claimVerdict({ state, soft, readAt, leaseMs })).toEqual(expected);
  });

  test('has one answer for every state, and lets nobody claim a run that somebody holds', () => {
    fc.assert(
      fc.property(journals(), fc.integer({ min: -20_000, max: 200_000 }), ({ states }, laterMs) => {
        for (const state of states) {
          const readAt = state.updatedAt + laterMs;
          const { kind } = claimVerdict({ state, soft: {}, readAt, leaseMs: LEASE_MS });
          expect(kind === 'over').toBe(isOver(state));
          if (state.lease) expect(['leased', 'orphaned']).toContain(kind);
          if (kind !== 'claim' || !['awaiting_approval', 'waiting_external'].includes(state.status)) continue;
          // What waits is taken only for what it has to do by itself, and not while it is parked.
          expect(nextDue(state)).toBeLessThanOrEqual(readAt);
          expect(isParked(state)).toBe(false);
        }
      }),
      { numRuns: 50 },
    );
  });
});
