/** Compares the callers of the ending decision for the same runs: a dispatch, a recovery and a cancel. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { compensationsDue } from '../../../packages/cairn/src/core/decisions/compensation.ts';
import type { DeployedPlan } from '../../../packages/cairn/src/core/decisions/deployed-plan.ts';
import { dispatchDecision } from '../../../packages/cairn/src/core/decisions/dispatch.ts';
import { MAX_DEATHS_ALONE } from '../../../packages/cairn/src/core/decisions/ending-facts.ts';
import { recoveryDecision } from '../../../packages/cairn/src/core/decisions/recovery.ts';
import {
  endsAfterChildren,
  isOver,
  type RunState,
  type Suspicion,
  waitsOutChildren,
} from '../../../packages/cairn/src/core/run/state.ts';
import { cancelDrafts } from '../../../packages/cairn/src/operations/cancel-run.ts';
import { append, failedStep, grownBy, orphaned, succeeded } from '../run/journal-drafts.ts';
import { journals } from '../run/random-journal.ts';

type Means =
  | 'cancelled'
  | 'cancelled, undone first'
  | 'failed'
  | 'failed, undone first'
  | 'after its children'
  | 'goes on';

/** Decision of a dispatch when nothing is running. Steps are left, so it never completes. */
function ofDrive(state: RunState, { isCompensable }: DeployedPlan): Means {
  const conclusion = dispatchDecision({
    active: 0,
    unacknowledged: 0,
    unsettled: 1,
    canStart: true,
    awaited: 0,
    earliestDueAt: undefined,
    waits: state.waits.length,
    announceAgain: undefined,
    failure: state.error,
    cancellation: state.cancellation,
    undoes: compensationsDue(state, isCompensable).length > 0,
    childrenOpen: !state.compensating && waitsOutChildren(state),
    stop: undefined,
  });
  switch (conclusion.kind) {
    case 'undo_first':
      return `${conclusion.end.kind}, undone first`;
    case 'cancelled':
    case 'failed':
      return conclusion.kind;
    case 'end_children':
      return 'after its children';
    default:
      return 'goes on';
  }
}

/** Decision of the recovery; a run that it only resumes is left to the next dispatch. */
function ofRecovery(state: RunState, deployed: DeployedPlan): Means | 'left to a drive' {
  switch (recoveryDecision(state, deployed).kind) {
    case 'cancel':
      return 'cancelled';
    case 'fail':
      return 'failed';
    case 'undo':
      return 'failed, undone first';
    case 'fail_after_children':
      return 'after its children';
    case 'resume':
      return 'left to a drive';
    default:
      return 'goes on';
  }
}

function ofCancel(state: RunState, deployed: DeployedPlan): Means | 'asked' {
  const types = cancelDrafts(state, { stopKind: 'user' }, deployed).map(({ type }) => type);
  if (types.includes('run_cancelled')) return 'cancelled';
  if (state.lease) return 'asked';
  const isHeld = endsAfterChildren(asked(state)) && state.suspect !== GUILTY;
  return isHeld ? 'after its children' : 'cancelled, undone first';
}

/** Plans; without a deployed plan nothing can be compensated. */
const plans = fc
  .record({
    available: fc.boolean(),
    idempotent: fc.boolean(),
    compensable: fc.boolean(),
    onDoubt: fc.constantFrom('fail' as const, 'ask' as const),
    attempts: fc.nat(3),
  })
  .map(
    ({ available, idempotent, compensable, onDoubt, attempts }): DeployedPlan => ({
      available,
      isIdempotent: () => idempotent,
      actsOncePerKey: () => false,
      allowsNewAttempt: (_, already) => already < attempts,
      isCompensable: () => available && compensable,
      onDoubt,
    }),
  );

/** Random journals are short, so each run is also checked with a completed step, a failed step, and both. */
function live({ states }: { readonly states: readonly RunState[] }): RunState[] {
  return states
    .filter((state) => !isOver(state))
    .flatMap((state) =>
      state.lease && state.status === 'running' ? FURTHER.map((drafts) => grownBy(state, drafts)) : [state],
    );
}

const FURTHER = [[], [succeeded('done')], [failedStep('bad')], [succeeded('done'), failedStep('bad')]];

/** Dispatches alone died so often that no further one begins. */
const GUILTY: Suspicion = {
  times: 4,
  alone: true,
  steps: ['s1'],
  deaths: [{ step: 's1', times: MAX_DEATHS_ALONE }],
};

/** Runs whose dispatches died, once or too often. */
function dead(states: readonly RunState[]): RunState[] {
  return states.flatMap((state) => {
    const orphan = state.lease ? append(state, orphaned(state)).state : state;
    return orphan.status === 'interrupted' ? [orphan, { ...orphan, suspect: GUILTY }] : [];
  });
}

function asked(state: RunState): RunState {
  if (state.cancellation) return state;
  return grownBy(state, [{ type: 'cancel_requested', initiator: 'system', data: { stopKind: 'user' } }]);
}

describe('for any run', () => {
  test('cancel and recovery decide the same as a dispatch', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(journals(), plans, (grown, deployed) => {
        for (const state of [...live(grown), ...dead(live(grown))]) {
          const byDrive = ofDrive(asked(state), deployed);
          const byCancel = ofCancel(state, deployed);
          seen.add(byCancel);
          if (byCancel === 'asked') continue;
          const killsWorkers = state.status === 'interrupted' && state.suspect === GUILTY;
          expect(byCancel).toBe(killsWorkers ? 'cancelled' : byDrive);
          if (state.status !== 'interrupted') continue;
          const byRecovery = ofRecovery(asked(state), deployed);
          expect(byRecovery).toBe(byCancel === 'cancelled' ? 'cancelled' : 'left to a drive');
        }
      }),
      { numRuns: 60, seed: 7 },
    );
    expect([...seen].sort()).toEqual(['after its children', 'asked', 'cancelled', 'cancelled, undone first']);
  });

  test('recovery ends no run that a dispatch would end differently, and leaves failing runs to the dispatch', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(journals(), plans, (grown, deployed) => {
        for (const state of dead(live(grown))) {
          if (state.cancellation) continue;
          const byDrive = ofDrive(state, deployed);
          const byRecovery = ofRecovery(state, deployed);
          seen.add(`${byDrive}: ${byRecovery}`);
          expect(byRecovery).not.toMatch(/^cancelled/);
          if (!deployed.available) expect(byRecovery).toBe('goes on');
          else if (state.suspect === GUILTY) expect(byRecovery).toMatch(/^failed/);
          else if (byDrive !== 'goes on') expect(byRecovery).toBe('left to a drive');
        }
      }),
      { numRuns: 60, seed: 7 },
    );
    expect([...seen]).toEqual(
      expect.arrayContaining([
        'failed: left to a drive',
        'failed, undone first: left to a drive',
        'goes on: failed',
        'goes on: failed, undone first',
        'goes on: goes on',
      ]),
    );
  });
});
