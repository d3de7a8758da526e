import { describe, expect, test } from '@jest/globals';
import type { EventDraft } from '../../../../packages/cairn/src/core/run/events.ts';
import { isSuccess, type RunState } from '../../../../packages/cairn/src/core/run/state.ts';
import {
  bySystem,
  claimed,
  failedStep,
  grownBy,
  opened,
  orphaned,
  questionOf,
  resumed,
  running,
  sentBack,
  settledStep,
  succeeded,
  waitOf,
} from '../journal-drafts.ts';

describe('a step', () => {
  test('that was left in flight stays in flight until it ends', () => {
    const inFlight = [
      { stepId: 'a', revision: 1 },
      { stepId: 'b', revision: 1 },
    ];
    const state = grownBy(running(), [bySystem('run_released', { reason: 'budget', inFlight })]);
    expect(state.inFlight).toHaveLength(2);
    expect(grownBy(state, [claimed(state), succeeded('a')]).inFlight).toEqual([{ stepId: 'b', revision: 1 }]);
  });

  test('that failed leaves no checkpoint, and the first failure is the error of the run', () => {
    const before = running();
    const state = grownBy(before, [failedStep('a'), failedStep('b')]);
    expect(state.checkpointHead).toBe(before.checkpointHead);
    expect(state.error).toMatchObject({ stepId: 'a' });
  });

  test('fails the run by its own failure, not by the failure of an item', () => {
    const state = grownBy(running(), [failedStep('m', { itemKey: '0' })]);
    expect(state.error).toBeUndefined();
    expect(state.steps.get('m[0]')).toMatchObject({ phase: 'done', outcome: 'failed' });
    expect(grownBy(state, [failedStep('m')]).error).toMatchObject({ stepId: 'm' });
  });
});

/** State that late events of an old revision must not change: all but the position in the journal. */
function meaning(state: RunState): Partial<RunState> {
  const { head: _h, headHash: _hash, updatedAt: _at, checkpointHead: _cp, ...rest } = state;
  return rest;
}

test.each([
  ['succeeded', true],
  ['degraded', true],
  ['skipped', true],
  ['reused', true],
  ['failed', false],
  ['probably', false],
  ['', false],
  ['constructor', false],
])('an outcome %j counts as completed: %s', (outcome, counts) => {
  expect(isSuccess(outcome)).toBe(counts);
});

describe('an event of an old revision changes nothing', () => {
  /** `u` was completed, `c` was running without an event, two items of `m` had begun. A person sent all of them back. */
  const before = grownBy(running(), [
    succeeded('u'),
    bySystem('step_started', settledStep('m')),
    bySystem('step_started', settledStep('m', { itemKey: '0' })),
    succeeded('m', { itemKey: '1' }),
    opened(questionOf('gate')),
    sentBack('gate.1', ['u', 'm', 'c', 'gate', 'e']),
  ]);
  const { outputHash: _hash, ...execution } = settledStep('u');
  const retried = {
    ...execution,
    retryAt: 9,
    error: { code: 'STEP_FAILED', message: 'no', retryable: true },
  };
  const late: readonly [string, EventDraft][] = [
    ['a start', bySystem('step_started', execution)],
    ['a retry', bySystem('step_retry_scheduled', retried)],
    ['a success', succeeded('u')],
    ['a failure', failedStep('u')],
    ['a success of a step that had left no trace', succeeded('c')],
    ['a failure of a step that had left no trace', failedStep('c')],
    ['a success of an item', succeeded('m', { itemKey: '0' })],
    ['a failure of an item', failedStep('m', { itemKey: '0' })],
    ['a success of an item that had ended', succeeded('m', { itemKey: '1' })],
    ['a start of an item', bySystem('step_started', settledStep('m', { itemKey: '2' }))],
    ['a wait', opened(waitOf('e'))],
    ['a question about an item', opened(questionOf('m', { id: 'late' }))],
  ];
  test.each(late)('%s', (_, draft) => {
    const after = grownBy(before, [draft]);
    expect(meaning(after)).toEqual(meaning(before));
    expect(after.head).toBe(before.head + 1);
  });

  test('while the new revision is in flight, and after it has ended', () => {
    const inFlight = [{ stepId: 'u', revision: 2 }];
    const released = grownBy(before, [bySystem('run_released', { reason: 'budget', inFlight })]);
    const again = grownBy(released, [claimed(released)]);
    expect(grownBy(again, [succeeded('u')]).inFlight).toEqual(inFlight);
    const done = grownBy(again, [succeeded('u', { revision: 2 })]);
    expect(meaning(grownBy(done, [failedStep('u')]))).toEqual(meaning(done));
  });

  test('and clears no interruption', () => {
    const lost = grownBy(before, [orphaned(before), resumed()]);
    const driven = grownBy(lost, [claimed(lost)]);
    expect(driven.interruptions).toBe(1);
    expect(grownBy(driven, [succeeded('u')]).interruptions).toBe(1);
  });

  test('but an event of the new revision changes the state, item by item', () => {
    const revision = 2;
    const state = grownBy(before, [
      succeeded('u', { revision }),
      succeeded('m', { revision, itemKey: '0' }),
      opened(waitOf('e', 0, { execution: { ...waitOf('e').execution, revision } })),
    ]);
    expect(state.steps.get('u')).toMatchObject({ phase: 'done', revision });
    expect(state.steps.get('m[0]')).toMatchObject({ phase: 'done', revision });
    expect(state.steps.get('e')).toMatchObject({ phase: 'waiting', revision });
    expect(state.waits).toHaveLength(1);
  });
});

describe('a step that has ended', () => {
  const done = grownBy(running(), [succeeded('a')]);
  test.each<[string, EventDraft]>([
    ['cannot end again', succeeded('a')],
    ['cannot begin again', bySystem('step_started', settledStep('a'))],
    ['cannot wait', opened(waitOf('a'))],
  ])('%s', (_, draft) => {
    expect(() => grownBy(done, [draft])).toThrow("step 'a' revision 1 has already ended");
  });
});
