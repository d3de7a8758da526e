import { describe, expect, test } from '@jest/globals';
import type { EventDraft } from '../../../../packages/cairn/src/core/run/events.ts';
import type { RunState } from '../../../../packages/cairn/src/core/run/state.ts';
import { isBlocked } from '../../../../packages/cairn/src/core/run/wake.ts';
import {
  bySystem,
  childOf,
  claimed,
  failedRun,
  failedStep,
  grownBy,
  opened,
  orphaned,
  questionOf,
  resumed,
  running,
  succeeded,
  T0,
  waitOf,
} from '../journal-drafts.ts';

const ERROR = { code: 'RUN_TIMEOUT', message: 'too long', retryable: false };
const suspended = (more: object): EventDraft =>
  bySystem('run_suspended', { status: 'waiting_external', ...more });

describe('an interruption', () => {
  test('removes the lease, and is counted until the next checkpoint', () => {
    let state = running();
    for (let times = 1; times <= 2; times += 1) {
      state = grownBy(state, [orphaned(state)]);
      expect(state).toMatchObject({ status: 'interrupted', interruptions: times });
      expect(state.lease).toBeUndefined();
      state = grownBy(state, [resumed()]);
      state = grownBy(state, [claimed(state)]);
    }
    expect(state.resumeCount).toBe(2);
    expect(grownBy(state, [succeeded('a')])).toMatchObject({
      interruptions: 0,
      resumeCount: 2,
      checkpointHead: state.head + 1,
    });
  });
});

describe('a suspension', () => {
  const asking = grownBy(running(), [
    opened(waitOf('e')),
    opened(questionOf('gate')),
    opened(childOf('kid', 'run_child')),
  ]);

  test('announces all open waits if it says so, and otherwise none', () => {
    const announced = ({ waits }: RunState) => waits.map((wait) => wait.announced ?? false);
    expect(announced(grownBy(asking, [suspended({})]))).toEqual([false, false, false]);
    const once = grownBy(asking, [suspended({ announced: true })]);
    expect(announced(once)).toEqual([true, true, true]);
    const later = grownBy(once, [resumed()]);
    const more = grownBy(later, [claimed(later), opened(waitOf('e2', T0, { id: 'e2.1' }))]);
    expect(announced(more)).toEqual([true, true, true, false]);
  });

  test('releases the lease, is a checkpoint, and has the time of its end', () => {
    const state = grownBy(asking, [suspended({ until: T0 + 9 })]);
    expect(state).toMatchObject({ status: 'waiting_external', dueAt: T0 + 9, checkpointHead: state.head });
    expect(state.lease).toBeUndefined();
    expect(grownBy(asking, [suspended({})]).dueAt).toBeUndefined();
  });

  test('with a reason blocks the run until it continues', () => {
    const parked = grownBy(asking, [suspended({ reason: 'PLAN_VERSION_UNAVAILABLE', until: T0 + 9 })]);
    expect(parked.parked).toBe('PLAN_VERSION_UNAVAILABLE');
    expect(isBlocked(parked)).toBe(true);
    expect(isBlocked(grownBy(asking, [suspended({})]))).toBe(false);
    const again = grownBy(parked, [resumed()]);
    expect([again.parked, again.dueAt, isBlocked(again)]).toEqual([undefined, undefined, false]);
  });

  test('is cleared when the run ends', () => {
    const parked = grownBy(asking, [suspended({ reason: 'PLAN_VERSION_UNAVAILABLE', until: T0 + 9 })]);
    const ends = [failedRun(), bySystem('run_cancelled', { stopKind: 'user' })];
    for (const end of ends) {
      const { parked: why, dueAt, currentStep, waits } = grownBy(parked, [end]);
      expect([why, dueAt, currentStep, waits]).toEqual([undefined, undefined, undefined, []]);
    }
  });

  test('is normal: waking from it is not counted as a resume', () => {
    expect(grownBy(asking, [suspended({}), resumed()])).toMatchObject({ status: 'running', resumeCount: 0 });
  });
});

describe('the policy of a workflow', () => {
  const policyEvaluated = (stepId?: string) =>
    bySystem('policy_evaluated', {
      allowed: true,
      policySnapshotId: `p-${stepId}`,
      ...(stepId === undefined ? {} : { stepId }),
    });

  test('is due when a run begins or resumes, until it was evaluated', () => {
    const state = running();
    expect(state.policyDue).toBe(true);
    const once = grownBy(state, [policyEvaluated()]);
    expect(once).toMatchObject({ policyDue: false, policySnapshotId: 'p-undefined' });
    expect(grownBy(once, [suspended({}), resumed()]).policyDue).toBe(true);
    expect(grownBy(once, [orphaned(once), resumed()]).policyDue).toBe(true);
  });

  test('is not due again after a release, because the same dispatch would have continued', () => {
    const once = grownBy(running(), [
      policyEvaluated(),
      bySystem('run_released', { reason: 'budget', inFlight: [] }),
    ]);
    expect(grownBy(once, [claimed(once)]).policyDue).toBe(false);
  });

  test('is not affected by the policy of a step', () => {
    expect(grownBy(running(), [policyEvaluated('a')])).toMatchObject({
      policyDue: true,
      policySnapshotId: 'p-a',
    });
    expect(grownBy(running(), [policyEvaluated(), policyEvaluated('a')]).policyDue).toBe(false);
  });
});

describe('the deadline of a run', () => {
  test('is set when the run starts, and does not change', () => {
    const state = grownBy(running(), []);
    expect(state.deadlineAt).toBeUndefined();
    const { lease: _lease, startedAt: _startedAt, ...rest } = state;
    const pending: RunState = { ...rest, status: 'pending' };
    const claim = grownBy(pending, [claimed(pending)]);
    const began = grownBy(claim, [bySystem('run_started', { deadlineAt: T0 + 50 })]);
    expect(grownBy(began, [suspended({}), resumed()]).deadlineAt).toBe(T0 + 50);
  });
});

describe('compensation', () => {
  test('begins once, and has the reason if no step failed', () => {
    const state = grownBy(running(), [bySystem('compensation_started', { steps: ['b', 'a'], error: ERROR })]);
    expect(state).toMatchObject({ compensating: true, error: ERROR, status: 'running' });
    expect(running().compensating).toBe(false);
  });

  test('after a failed step keeps the error of that step', () => {
    const drafts = [failedStep('a'), bySystem('compensation_started', { steps: [], error: ERROR })];
    expect(grownBy(running(), drafts).error).toMatchObject({ code: 'STEP_FAILED', stepId: 'a' });
  });

  test('of a cancelled run sets no error', () => {
    const drafts = [
      succeeded('a'),
      bySystem('cancel_requested', { stopKind: 'user' }),
      bySystem('compensation_started', { steps: ['a'] }),
      bySystem('step_compensated', { stepId: 'a', revision: 1 }),
      bySystem('run_cancelled', { stopKind: 'user' }),
    ];
    const state = grownBy(running(), drafts);
    expect(state.error).toBeUndefined();
    expect(state).toMatchObject({ status: 'cancelled', compensationLog: [{ stepId: 'a' }] });
  });

  test('records each step, an item by its key, and a failure with its error', () => {
    const state = grownBy(
      running(),
      [
        bySystem('compensation_started', { steps: ['m', 'a'] }),
        bySystem('step_compensated', { stepId: 'm', itemKey: '1', revision: 1 }),
        bySystem('compensation_failed', { stepId: 'a', revision: 1, error: ERROR }),
      ],
      T0 + 3,
    );
    expect(state.compensationLog).toEqual([
      { stepId: 'm[1]', revision: 1, outcome: 'compensated', at: T0 + 3 },
      { stepId: 'a', revision: 1, outcome: 'failed', at: T0 + 3, error: ERROR },
    ]);
  });
});

describe('the end of a run', () => {
  test('has the data of the first of several cancel requests', () => {
    const cancel = (reason: string): EventDraft => ({
      type: 'cancel_requested',
      initiator: 'user',
      actor: reason,
      data: { stopKind: 'user', reason },
    });
    const state = grownBy(running(), [cancel('one'), cancel('two')]);
    expect(state.cancellation).toMatchObject({ reason: 'one', actor: 'one' });
    expect(state.status).toBe('running');
  });

  test('keeps the open questions of a failed run for its successor, and drops those of others', () => {
    const wait = questionOf('gate');
    const asking = grownBy(running(), [opened(wait)]);
    expect(grownBy(asking, [failedRun()])).toMatchObject({ waits: [], lastHandoff: [wait] });
    const halted = grownBy(asking, [bySystem('run_cancelled', { stopKind: 'halt' })]);
    expect(halted).toMatchObject({ waits: [], stopKind: 'halt' });
    expect(halted.lastHandoff).toBeUndefined();
  });

  test('keeps external registrations, which must be undone', () => {
    const state = grownBy(running(), [opened(waitOf('e')), opened(childOf('kid', 'run_child'))]);
    for (const end of [failedRun(), bySystem('run_completed', { result: { text: '{}' } }, '{}')]) {
      expect(grownBy(state, [end]).ties).toEqual(state.ties);
    }
    expect(state.ties).toHaveLength(2);
  });
});
