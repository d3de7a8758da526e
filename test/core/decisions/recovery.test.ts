import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type Deployed,
  MAX_INTERRUPTIONS,
  recoveryVerdict,
  stepInDoubt,
} from '../../../functions/src/core/decisions/recovery.ts';
import type { Wait } from '../../../functions/src/core/run/events.ts';
import type { RunState } from '../../../functions/src/core/run/state.ts';
import { claimed, created, grownBy, settledStep, T0, waitOf } from '../run/journal-drafts.ts';
import { journals } from '../run/random-journal.ts';

const safe: Deployed = { available: true, isIdempotent: () => true, isCompensable: () => false };
const unsafe: Deployed = { available: true, isIdempotent: () => false, isCompensable: () => false };
const gone: Deployed = {
  available: false,
  isIdempotent: () => {
    throw new Error('nobody may ask a plan that is not there');
  },
  isCompensable: () => false,
};

const fresh = created().state;
const leased = grownBy(fresh, [claimed(fresh), { type: 'run_started', initiator: 'system', data: {} }]);
const orphaned = (state: RunState) =>
  grownBy(state, [
    { type: 'orphan_detected', initiator: 'timeout', data: { owner: 'o1', epoch: 1, lastHeartbeatAt: T0 } },
  ]);
const interrupted = orphaned(leased);
const midFlight = orphaned(
  grownBy(leased, [{ type: 'step_started', initiator: 'system', data: settledStep('s1') }]),
);
const approval: Wait = { ...waitOf('s1'), kind: 'approval' };
const asking: RunState = { ...interrupted, waits: [approval] };
const often: RunState = { ...interrupted, interruptions: MAX_INTERRUPTIONS };

describe('what becomes of an interrupted run', () => {
  test.each([
    ['goes on', interrupted, safe, { kind: 'resume' }],
    ['goes on with a step in flight that may run again', midFlight, safe, { kind: 'resume' }],
    [
      'ends if a step in flight must not run again',
      midFlight,
      unsafe,
      { kind: 'fail', error: { code: 'RUN_ORPHANED', stepId: 's1', retryable: false } },
    ],
    [
      'waits for its plan version',
      interrupted,
      gone,
      { kind: 'park', status: 'waiting_external', reason: 'PLAN_VERSION_UNAVAILABLE' },
    ],
    [
      'goes on after four interruptions',
      { ...often, interruptions: MAX_INTERRUPTIONS - 1 },
      safe,
      { kind: 'resume' },
    ],
    ['ends after five', often, safe, { kind: 'fail', error: { code: 'RUN_RESUME_FAILED' } }],
    ['keeps asking what is undecided', asking, safe, { kind: 'park', status: 'awaiting_approval' }],
    [
      'ends if it has no checkpoint at all',
      { ...interrupted, checkpointHead: 0 },
      safe,
      { kind: 'fail', error: { code: 'RUN_ORPHANED', retryable: true } },
    ],
  ] as const)('it %s', (_, state, deployed, expected) => {
    expect(recoveryVerdict(state, deployed)).toMatchObject(expected);
  });

  test.each([
    ['could go on', interrupted, safe],
    ['may have acted', midFlight, unsafe],
    ['lacks its plan', interrupted, gone],
    ['died often', often, safe],
    ['asks somebody', asking, safe],
    ['has no checkpoint', { ...interrupted, checkpointHead: 0 }, safe],
  ])('one that %s ends if somebody had asked for that', (_, state, deployed) => {
    const cancellation = { stopKind: 'user', requestedAt: T0 } as const;
    expect(recoveryVerdict({ ...state, cancellation }, deployed)).toEqual({ kind: 'cancel' });
  });

  test('is decided in the order of section 9', () => {
    const everything: RunState = {
      ...midFlight,
      interruptions: MAX_INTERRUPTIONS,
      waits: [approval],
      checkpointHead: 0,
    };
    expect(recoveryVerdict(everything, gone)).toMatchObject({ reason: 'PLAN_VERSION_UNAVAILABLE' });
    expect(recoveryVerdict(everything, unsafe)).toMatchObject({ error: { code: 'RUN_RESUME_FAILED' } });
    const { interruptions: _, ...rest } = everything;
    expect(recoveryVerdict({ ...rest, interruptions: 1 }, unsafe)).toMatchObject({ kind: 'park' });
    const silent: RunState = { ...rest, interruptions: 1, waits: [] };
    expect(recoveryVerdict(silent, unsafe)).toMatchObject({ error: { code: 'RUN_ORPHANED', stepId: 's1' } });
  });

  test('always has one answer', () => {
    fc.assert(
      fc.property(journals(), fc.constantFrom(safe, unsafe, gone), ({ states }, deployed) => {
        for (const state of states) {
          const { kind } = recoveryVerdict(state, deployed);
          expect(['resume', 'park', 'fail', 'cancel']).toContain(kind);
          expect(kind === 'cancel').toBe(state.cancellation !== undefined);
          if (kind === 'resume') expect(stepInDoubt(state, deployed)).toBeUndefined();
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe('a step is in doubt', () => {
  test('only if it began, did not end, and must not run twice', () => {
    const ended = grownBy(leased, [
      { type: 'step_started', initiator: 'system', data: settledStep('s1') },
      { type: 'step_succeeded', initiator: 'system', data: settledStep('s1'), outputText: '1' },
    ]);
    const error = { code: 'STEP_FAILED', message: 'm', retryable: true };
    const resting = grownBy(leased, [
      { type: 'step_started', initiator: 'system', data: settledStep('s1') },
      {
        type: 'step_retry_scheduled',
        initiator: 'system',
        data: { ...settledStep('s1'), retryAt: T0, error },
      },
    ]);
    expect(stepInDoubt(leased, unsafe)).toBeUndefined();
    expect(stepInDoubt(ended, unsafe)).toBeUndefined();
    expect(stepInDoubt(resting, unsafe)).toBeUndefined();
    expect(stepInDoubt(midFlight, safe)).toBeUndefined();
    expect(stepInDoubt(midFlight, unsafe)).toMatchObject({ stepId: 's1' });
  });
});
