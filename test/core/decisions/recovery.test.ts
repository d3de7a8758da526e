import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { DeployedPlan } from '../../../packages/cairn/src/core/decisions/deployed-plan.ts';
import { MAX_DEATHS_ALONE, stepsInDoubt } from '../../../packages/cairn/src/core/decisions/ending-facts.ts';
import { recoveryDecision } from '../../../packages/cairn/src/core/decisions/recovery.ts';
import {
  endsAfterChildren,
  isOver,
  type RunState,
  type Suspicion,
  waitsOutChildren,
} from '../../../packages/cairn/src/core/run/state.ts';
import {
  bySystem,
  failedStep,
  grownBy,
  opened,
  orphaned,
  questionOf,
  running,
  settledStep,
  succeeded,
  T0,
} from '../run/journal-drafts.ts';
import { journals } from '../run/random-journal.ts';

const safe: DeployedPlan = {
  available: true,
  isIdempotent: () => true,
  actsOncePerKey: () => false,
  isCompensable: () => false,
  onDoubt: 'fail',
};
const unsafe: DeployedPlan = { ...safe, isIdempotent: () => false };
const anew: DeployedPlan = { ...unsafe, allowsNewAttempt: (_, attempts) => attempts < 2 };
const unsure: DeployedPlan = { ...unsafe, onDoubt: 'ask' };
const undoing: DeployedPlan = { ...safe, isCompensable: (key) => key === 'done' };
const gone: DeployedPlan = {
  ...safe,
  available: false,
  isIdempotent: () => {
    throw new Error('nobody may ask a plan that is not there');
  },
};

const leased = running();
const lost = (state: RunState) => grownBy(state, [orphaned(state)]);
const began = (stepId: string) => bySystem('step_started', settledStep(stepId));
const interrupted = lost(leased);
const midFlight = lost(grownBy(leased, [began('s1')]));
const asking = lost(grownBy(leased, [opened(questionOf('gate'))]));
const failing = lost(grownBy(leased, [opened(questionOf('gate')), failedStep('s1')]));
const alone = (times: number, step = 's1'): Suspicion => ({
  times: times + 1,
  alone: true,
  steps: [step],
  deaths: [{ step, times }],
});
const often: RunState = { ...interrupted, suspect: alone(MAX_DEATHS_ALONE) };
/** A completed step can be compensated. */
const done = lost(grownBy(leased, [succeeded('done')]));
const cancelled = (state: RunState): RunState => ({
  ...state,
  cancellation: { stopKind: 'user', requestedAt: T0 },
});

describe('the recovery of an interrupted run', () => {
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
      { kind: 'suspend', status: 'waiting_external', reason: 'PLAN_VERSION_UNAVAILABLE' },
    ],
    [
      'goes on after two deaths alone',
      { ...often, suspect: alone(MAX_DEATHS_ALONE - 1) },
      safe,
      { kind: 'resume' },
    ],
    [
      'ends after three, and names the step',
      often,
      safe,
      { kind: 'fail', error: { code: 'RUN_RESUME_FAILED', stepId: 's1' } },
    ],
    [
      'goes on however often it died in company',
      { ...interrupted, interruptions: 99 },
      safe,
      { kind: 'resume' },
    ],
    ['keeps asking what is undecided', asking, safe, { kind: 'suspend', status: 'awaiting_approval' }],
    ['asks nobody any more once it has failed: it goes on to its end', failing, safe, { kind: 'resume' }],
    [
      'ends if it has no checkpoint at all',
      { ...interrupted, checkpointHead: 0 },
      safe,
      { kind: 'fail', error: { code: 'RUN_ORPHANED', retryable: true } },
    ],
    [
      'asks a person about a step in flight that must not run again, where its workflow says so',
      midFlight,
      unsure,
      { kind: 'ask', steps: ['s1'] },
    ],
    [
      'goes on with a step in flight that must not run again, and allows a new attempt',
      midFlight,
      anew,
      { kind: 'resume' },
    ],
    [
      'ends if that step has no attempt left',
      midFlight,
      { ...anew, allowsNewAttempt: (_: string, attempts: number) => attempts < 1 },
      { kind: 'fail', error: { code: 'RUN_ORPHANED', stepId: 's1' } },
    ],
    [
      'undoes what it did before it ends after three deaths alone',
      { ...done, suspect: alone(MAX_DEATHS_ALONE) },
      undoing,
      { kind: 'undo', steps: ['done'], error: { code: 'RUN_RESUME_FAILED' } },
    ],
    [
      'ends at once if it was the undoing that killed its workers',
      { ...done, suspect: alone(MAX_DEATHS_ALONE), compensating: true },
      undoing,
      { kind: 'fail', error: { code: 'RUN_RESUME_FAILED' } },
    ],
    [
      'undoes what it did before it ends for a step in doubt',
      lost(grownBy(leased, [succeeded('done'), began('s1')])),
      { ...undoing, isIdempotent: () => false },
      { kind: 'undo', steps: ['done'], error: { code: 'RUN_ORPHANED', stepId: 's1' } },
    ],
  ] as const)('it %s', (_, state, deployed, expected) => {
    expect(recoveryDecision(state, deployed)).toMatchObject(expected);
  });

  test.each([
    ['could go on', interrupted, safe],
    ['may have acted', midFlight, unsafe],
    ['lacks its plan', interrupted, gone],
    ['died often', often, safe],
    ['asks somebody', asking, safe],
    ['has no checkpoint', { ...interrupted, checkpointHead: 0 }, safe],
    ['died often while it undid', { ...done, suspect: alone(MAX_DEATHS_ALONE) }, undoing],
  ])('one that %s ends if a cancel was requested', (_, state, deployed) => {
    expect(recoveryDecision(cancelled(state), deployed)).toMatchObject({ kind: 'cancel' });
  });

  test('a cancelled run continues its compensations', () => {
    expect(recoveryDecision(cancelled(done), undoing)).toEqual({ kind: 'resume' });
  });

  test('is decided in order of precedence: plan, deaths, open questions, missing checkpoint', () => {
    const everything: RunState = {
      ...midFlight,
      suspect: alone(MAX_DEATHS_ALONE),
      waits: asking.waits,
      checkpointHead: 0,
    };
    expect(recoveryDecision(everything, gone)).toMatchObject({ reason: 'PLAN_VERSION_UNAVAILABLE' });
    expect(recoveryDecision(everything, unsafe)).toMatchObject({ error: { code: 'RUN_RESUME_FAILED' } });
    const { suspect: _, ...rest } = everything;
    expect(recoveryDecision(rest, unsafe)).toMatchObject({ kind: 'suspend' });
    const silent: RunState = { ...rest, waits: [] };
    expect(recoveryDecision(silent, unsafe)).toMatchObject({ error: { code: 'RUN_ORPHANED', stepId: 's1' } });
  });

  test('always has one answer', () => {
    fc.assert(
      fc.property(journals(), fc.constantFrom(safe, unsafe, unsure, gone), ({ states }, deployed) => {
        for (const open of states.filter((one) => !isOver(one))) {
          const state = open.lease ? lost(open) : open;
          const { kind } = recoveryDecision(state, deployed);
          expect(['resume', 'suspend', 'fail', 'fail_after_children', 'ask', 'cancel']).toContain(kind);
          const isAsked = state.cancellation !== undefined;
          // A dispatch ends it after the children that it waits for.
          expect(kind).toBe(isAsked ? (endsAfterChildren(state) ? 'resume' : 'cancel') : kind);
          if (!isAsked) expect(kind).not.toBe('cancel');
          if (kind === 'fail_after_children') expect(waitsOutChildren(state)).toBe(true);
          if (kind === 'ask') expect(deployed.onDoubt).toBe('ask');
          // A step that must not run twice is accepted only in a run that ends, where it does not run again.
          if (kind === 'resume' && !state.error && !isAsked)
            expect(stepsInDoubt(state, deployed)).toEqual([]);
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe('a step is in doubt', () => {
  test('only if it began, did not end, and must not run twice', () => {
    const ended = grownBy(leased, [began('s1'), succeeded('s1')]);
    const error = { code: 'STEP_FAILED', message: 'm', retryable: true };
    const { outputHash: _, ...execution } = settledStep('s1');
    const resting = grownBy(leased, [
      began('s1'),
      bySystem('step_retry_scheduled', { ...execution, retryAt: T0, error }),
    ]);
    for (const state of [leased, ended, resting]) expect(stepsInDoubt(state, unsafe)).toEqual([]);
    expect(stepsInDoubt(midFlight, safe)).toEqual([]);
    expect(stepsInDoubt(midFlight, unsafe)).toEqual(['s1']);
  });

  test('and several steps in doubt are one question', () => {
    const two = grownBy(leased, [began('s1'), began('s2'), began('safe')]);
    const isIdempotent = (key: string) => key === 'safe';
    expect(stepsInDoubt(two, { isIdempotent })).toEqual(['s1', 's2']);
    expect(recoveryDecision(lost(two), { ...unsure, isIdempotent })).toEqual({
      kind: 'ask',
      steps: ['s1', 's2'],
    });
    expect(recoveryDecision(lost(two), { ...unsafe, isIdempotent })).toMatchObject({
      kind: 'fail',
      error: { stepId: 's1' },
    });
  });
});
