import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  claimDecision,
  isAbandonedBy,
  isBackingOff,
  lateDeath,
  type TaskDelivery,
} from '../../../packages/cairn/src/core/decisions/claim.ts';
import type { DeployedPlan } from '../../../packages/cairn/src/core/decisions/deployed-plan.ts';
import { isOver, type Lease, type RunState } from '../../../packages/cairn/src/core/run/state.ts';
import { hasUnannouncedWaits, isBlocked, nextDue } from '../../../packages/cairn/src/core/run/wake.ts';
import {
  bySystem,
  claimed,
  created,
  failedRun,
  grownBy,
  settledStep,
  T0,
  waitOf,
} from '../run/journal-drafts.ts';
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

const deployed: DeployedPlan = {
  available: true,
  isIdempotent: (key) => key !== 'once',
  actsOncePerKey: ({ capabilityId }) => capabilityId === 'keyed',
  isCompensable: () => false,
  onDoubt: 'fail',
};
const gone = { ...deployed, available: false };
const importing: RunState = { ...released(), status: 'replaying' };
const parked: RunState = { ...suspended, parked: 'PLAN_VERSION_UNAVAILABLE' };
const due: RunState = { ...suspended, waits: [waitOf('s', T0, { announced: true, dueAt: T0 })] };

const FAILURE = { code: 'INTERNAL', message: 'down', retryable: true } as const;

describe('the claim decision of a dispatch', () => {
  const at = (readAt: number, lastHeartbeatAt?: number) => ({
    readAt,
    metadata: lastHeartbeatAt === undefined ? {} : { lastHeartbeatAt },
    leaseMs: LEASE_MS,
  });
  test.each([
    ['a new run', fresh, at(T0), { kind: 'claim' }],
    ['a released run', released(), at(T0), { kind: 'claim' }],
    ['a run whose retry is not due', released(T0 + 9), at(T0 + 8), { kind: 'early', at: T0 + 9 }],
    ['a run whose retry is due', released(T0 + 9), at(T0 + 9), { kind: 'claim' }],
    ['a run that ended', grownBy(leased, [failedRun()]), at(T0), { kind: 'over' }],
    ['a run that was interrupted', interrupted, at(T0), { kind: 'interrupted' }],
    ['a run that waits for an answer', asking, at(T0), { kind: 'waiting' }],
    ['a run that waits for what nobody was told of', untold, at(T0), { kind: 'claim' }],
    ['a run that waits for a time that has come', due, at(T0), { kind: 'claim' }],
    ['a blocked run whose plan is back', parked, at(T0), { kind: 'claim' }],
    ['a suspended run without waits', suspended, at(T0), { kind: 'claim' }],
    ['a run that imports steps', importing, at(T0), { kind: 'claim' }],
    ['a driven run', leased, at(T0 + 4_999, T0), { kind: 'leased', freeAt: T0 + LEASE_MS }],
    [
      'a driven run whose holder fell silent',
      leased,
      at(T0 + 5_000, T0),
      { kind: 'orphaned', lastHeartbeatAt: T0, why: 'silence' },
    ],
    [
      'a driven run with a fresh beat',
      leased,
      at(T0 + 9_000, T0 + 8_000),
      { kind: 'leased', freeAt: T0 + 13_000 },
    ],
    ['a driven run without any beat yet', leased, at(T0 + 1), { kind: 'leased', freeAt: T0 + LEASE_MS }],
  ] as const)('%s', (_, state, { readAt, metadata, leaseMs }, expected) => {
    expect(claimDecision({ state, metadata, readAt, leaseMs, deployed })).toEqual(expected);
  });

  test.each([
    ['of its step', released(T0 + 9), {}, 'early'],
    ['after a failed dispatch', released(T0 + 9), { failures: { times: 1, error: FAILURE } }, 'claim'],
    ['to announce a wait', released(T0 + 9), { waits: untold.waits }, 'claim'],
    ['of its step, beside waits', released(T0 + 9), { waits: asking.waits }, 'early'],
  ] as const)('for an answer, before the time of the next attempt %s', (_, run, more, expected) => {
    const state: RunState = { ...run, ...more };
    const seen = { state, metadata: {}, readAt: T0, leaseMs: LEASE_MS, deployed };
    expect(claimDecision(seen).kind).toBe('early');
    expect(claimDecision({ ...seen, skipsBackoff: true }).kind).toBe(expected);
    expect(isBackingOff(state, { now: T0, deployed })).toBe(expected === 'claim');
  });

  const cancelled: RunState = { ...parked, cancellation: { stopKind: 'user', requestedAt: T0 } };
  test.each([
    ['a blocked run', parked, T0, { kind: 'blocked', isRecorded: true }],
    ['a run that waits for a time that has come', due, T0, { kind: 'blocked', isRecorded: false }],
    ['a run that waits for what nobody was told of', untold, T0, { kind: 'blocked', isRecorded: false }],
    ['a run that imports steps', importing, T0, { kind: 'blocked', isRecorded: false }],
    ['a run that waits for an answer', asking, T0, { kind: 'waiting' }],
    ['a run that waits for a time to come', due, T0 - 1, { kind: 'early', at: T0 }],
    // The claim blocks these runs, or ends them.
    ['a new run', fresh, T0, { kind: 'claim' }],
    ['a released run', released(), T0, { kind: 'claim' }],
    ['a blocked run that is to be cancelled', cancelled, T0, { kind: 'claim' }],
  ] as const)('without its plan: %s', (_, state, readAt, expected) => {
    expect(claimDecision({ state, metadata: {}, readAt, leaseMs: LEASE_MS, deployed: gone })).toEqual(
      expected,
    );
  });

  describe('with a recent heartbeat of the lease holder', () => {
    const delivery = (retryCount: number, more: Partial<TaskDelivery> = {}) => ({
      name: 'drive/1',
      retryCount,
      ...more,
    });
    const held = grownBy(fresh, [
      bySystem('run_claimed', {
        owner: 'o1',
        epoch: 1,
        expiresAt: T0 + LEASE_MS,
        task: { name: 'drive/1', retryCount: 2 },
      }),
      bySystem('run_started', {}),
    ]);
    const began = (stepId: string) => grownBy(held, [bySystem('step_started', settledStep(stepId))]);
    const acting = (...capabilities: string[]) =>
      grownBy(
        held,
        capabilities.map((capabilityId) =>
          bySystem('effect_attempted', {
            stepId: 's',
            revision: 1,
            effectId: capabilityId,
            capabilityId,
            attempt: 1,
          }),
        ),
      );
    test.each([
      ['its task comes again', held, delivery(3), 'redelivered'],
      [
        'its task comes again because its dispatch asked for that',
        held,
        delivery(3, { answered: true }),
        'answered',
      ],
      ['its task comes again with a harmless step under way', began('safe'), delivery(3), 'redelivered'],
      ['the same delivery looks', held, delivery(2), 'leased'],
      ['an older delivery looks', held, delivery(1), 'leased'],
      ['another task looks', held, delivery(3, { name: 'drive/2' }), 'leased'],
      ['a task of its name in another queue looks', held, delivery(3, { name: 'drive-2/1' }), 'leased'],
      ['nobody knows which task looks', held, undefined, 'leased'],
      ['it was claimed by a task nobody knows', leased, delivery(3), 'leased'],
      ['a step is under way that must not run twice', began('once'), delivery(3), 'leased'],
      [
        'an effect is under way whose receiver acts once per key',
        acting('keyed'),
        delivery(3),
        'redelivered',
      ],
      ['another effect is under way too', acting('keyed', 'c'), delivery(3), 'leased'],
      ['the process that makes the call lives', acting('keyed'), delivery(3, { answered: true }), 'leased'],
      ['it is being undone', { ...held, compensating: true }, delivery(3), 'leased'],
    ] as const)('if %s', (_, state, delivery, expected) => {
      const decision = claimDecision({
        state,
        metadata: {},
        readAt: T0 + 1,
        leaseMs: LEASE_MS,
        delivery,
        deployed,
      });
      expect('why' in decision ? decision.why : decision.kind).toBe(expected);
    });

    test('if its plan is not deployed', () => {
      const seen = { state: held, metadata: {}, readAt: T0 + 1, leaseMs: LEASE_MS };
      expect(claimDecision({ ...seen, delivery: delivery(3), deployed: gone })).toMatchObject({
        kind: 'leased',
      });
    });
  });

  test('has an answer for every state, and never claims a leased run', () => {
    fc.assert(
      fc.property(journals(), fc.integer({ min: -20_000, max: 200_000 }), ({ states }, laterMs) => {
        for (const state of states) {
          const readAt = state.updatedAt + laterMs;
          const seen = { state, metadata: {}, readAt, leaseMs: LEASE_MS };
          const { kind } = claimDecision({ ...seen, deployed });
          expect(kind).not.toBe('blocked');
          expect(kind === 'over').toBe(isOver(state));
          if (state.lease) expect(['leased', 'orphaned']).toContain(kind);
          // The plan only decides whether a claimable run is blocked.
          const without = claimDecision({ ...seen, deployed: gone });
          if (without.kind !== 'blocked') expect(without.kind).toBe(kind);
          else expect([kind, without.isRecorded && !isBlocked(state)]).toEqual(['claim', false]);
          if (kind !== 'claim' || !['awaiting_approval', 'waiting_external'].includes(state.status)) continue;
          // A waiting run is claimed only for due work, or if its block has ended.
          if (!hasUnannouncedWaits(state) && !isBlocked(state))
            expect(nextDue(state)).toBeLessThanOrEqual(readAt);
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe('a redelivery of the task whose dispatch alone released the run', () => {
  const left: RunState = {
    ...released(),
    suspect: {
      times: 1,
      alone: false,
      steps: [],
      deaths: [],
      left: { epoch: 4, task: { name: 'driveAlone/1', retryCount: 2 } },
    },
  };
  const again: TaskDelivery = { name: 'driveAlone/1', retryCount: 3 };
  test.each([
    ['the next one tells of its death', left, again, 4],
    ['also while another drive has the run', { ...left, lease: leased.lease as Lease }, again, 4],
    ['not if the dispatch had answered', left, { ...again, answered: true }, undefined],
    ['not the same one', left, { ...again, retryCount: 2 }, undefined],
    ['not another task', left, { ...again, name: 'driveAlone/2' }, undefined],
    ['not one without a name', left, undefined, undefined],
    ['not if the run has ended', { ...left, status: 'failed' }, again, undefined],
    ['not if no dispatch alone let go of it', released(), again, undefined],
  ] as const)('%s', (_, state, delivery, epoch) => {
    expect(lateDeath(state, delivery)).toBe(epoch);
  });
});

describe('a child that has not started is abandoned by its parent', () => {
  const parent = (onParentEnd: 'wait' | 'cancel' | 'abandon', isAwaited: boolean, more = {}): RunState => ({
    ...leased,
    ties: [{ kind: 'child', runId: 'run_child', onParentEnd }] as never,
    waits: isAwaited ? [{ ...waitOf('s'), kind: 'child', child: { runId: 'run_child' } } as never] : [],
    ...more,
  });
  test.each([
    ['not while the parent waits for it', parent('cancel', true), false],
    ['once the parent waits no more', parent('cancel', false), true],
    ['once the parent has ended', parent('wait', true, { status: 'failed' }), true],
    ['never if it is to outlive the parent', parent('abandon', false), false],
    ['never if the parent does not know it', { ...parent('cancel', false), ties: [] }, false],
  ] as const)('%s', (_, state, expected) => {
    expect(isAbandonedBy(state, 'run_child')).toBe(expected);
  });
});
