import { describe, expect, test } from '@jest/globals';
import { blockedOn } from '../../../packages/cairn/src/core/decisions/blocked.ts';
import type { RunState } from '../../../packages/cairn/src/core/run/state.ts';
import { FIRST_BLOCKED_CHECK_MS } from '../../../packages/cairn/src/core/run/wake.ts';

const NOW = 1_800_000_000_000;
const MINUTE = 60_000;
const timer = { id: 'nap.1', kind: 'timer', dueAt: NOW - 3 * MINUTE, announced: true };
const run = (more: object): RunState =>
  ({ status: 'waiting_external', waits: [], updatedAt: NOW - 60 * MINUTE, ...more }) as unknown as RunState;
const [there, away, changed] = [
  { available: true },
  { available: false, changed: false },
  { available: false, changed: true },
];
const parked = run({ parked: 'PLAN_VERSION_UNAVAILABLE', dueAt: NOW - 4 * MINUTE + FIRST_BLOCKED_CHECK_MS });
const due = run({ waits: [timer] });
const untold = run({ waits: [{ id: 'e.1', kind: 'event', announced: false }] });
const taking = run({ status: 'replaying' });
const [parkedAt, dueAt] = [NOW - 4 * MINUTE, NOW - 3 * MINUTE];

describe('a run is blocked', () => {
  test.each([
    ['blocked, its version away', parked, away, 'PLAN_VERSION_UNAVAILABLE', parkedAt, 4 * MINUTE],
    ['blocked, its version changed', parked, changed, 'PLAN_CHANGED', parkedAt, 4 * MINUTE],
    ['blocked, its version back', parked, there, 'DISPATCH_DUE', parkedAt, 4 * MINUTE],
    ['its time come, its version away', due, away, 'PLAN_VERSION_UNAVAILABLE', dueAt, MINUTE],
    ['its time come, its version changed', due, changed, 'PLAN_CHANGED', dueAt, MINUTE],
    ['its time come, its version there', due, there, 'DISPATCH_DUE', dueAt, MINUTE],
    ['with others to tell, its version away', untold, away, 'PLAN_VERSION_UNAVAILABLE', NOW, MINUTE],
    ['taking over, its version away', taking, away, 'PLAN_VERSION_UNAVAILABLE', NOW - 60 * MINUTE, MINUTE],
  ] as const)('%s', (_, state, deployed, code, since, checkMs) => {
    expect(blockedOn(state, deployed, NOW)).toEqual({ code, since, checkMs });
  });

  test.each([
    ['whose time is yet to come', run({ waits: [{ ...timer, dueAt: NOW + 1 }] }), away],
    ['that asks a person', run({ status: 'awaiting_approval', waits: [{ kind: 'approval' }] }), away],
    ['that takes over with its plan', taking, there],
    ['that is driven', { ...due, lease: { owner: 'o', epoch: 1, expiresAt: NOW } }, away],
    ['that an operator suspended', { ...due, suspension: { reason: 'r', requestedAt: NOW } }, away],
    ['that is ready', run({ status: 'running' }), there],
    ['that was interrupted', run({ status: 'interrupted' }), away],
    ['that has ended', run({ status: 'completed' }), away],
  ])('but not one %s', (_, state, deployed) => {
    expect(blockedOn(state as RunState, deployed, NOW)).toBeUndefined();
  });
});
