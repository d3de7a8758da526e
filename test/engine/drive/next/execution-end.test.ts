import { describe, expect, test } from '@jest/globals';
import type { Wait } from '../../../../packages/cairn/src/core/run/events.ts';
import type { StepFactory } from '../../../../packages/cairn/src/engine/define/types.ts';
import type { Consequence, ExecutionEnd } from '../../../../packages/cairn/src/engine/drive/messages.ts';
import { startReady } from '../../../../packages/cairn/src/engine/drive/next/begin.ts';
import * as settling from '../../../../packages/cairn/src/engine/drive/next/execution-end.ts';
import { type Outcome, outputFrom } from '../../../../packages/cairn/src/engine/recording/output.ts';
import { questionOf } from '../../../core/run/journal-drafts.ts';
import { Dispatch, endless } from './dispatch.ts';

type Factory = StepFactory<Record<string, unknown>>;

const FAILED: Outcome = { kind: 'failed', error: { code: 'X', message: 'x', retryable: false } };
const DONE: Outcome = { kind: 'done', output: outputFrom('1') };

const pair = (step: Factory) => {
  const a = step('a', endless);
  return { b: step('b', { needs: { a } }, endless) };
};

/** A dispatch that has begun all possible executions. */
async function begun(steps: (step: Factory) => Record<string, { readonly id: string }>) {
  const dispatch = await Dispatch.of(steps as never);
  startReady(dispatch.working);
  await dispatch.carryOutAll();
  return dispatch;
}

function endingOf(dispatch: Dispatch, key: string, outcome: Outcome): ExecutionEnd {
  const unit = dispatch.unit(key);
  return { unit, execution: dispatch.working.nextExecution(unit), outcome, events: [] };
}

/** Reports that the journal has a change of the execution. */
function record(dispatch: Dispatch, key: string, consequence: Consequence, more: object = {}) {
  const unit = dispatch.unit(key);
  const execution = dispatch.working.nextExecution(unit);
  const change = { unit, execution, decide: () => ({ events: [], consequence }), otherwise: consequence };
  dispatch.next({ kind: 'recorded', change: { ...change, ...more }, consequence });
}

describe('an end', () => {
  test('counts at once, and its dependents begin when it is in the journal', async () => {
    const dispatch = await begun(pair);
    const { working } = dispatch;
    settling.endExecution(working, endingOf(dispatch, 'a', DONE));
    expect(working.unsettled).toBe(1);
    expect(working.outputs.value('a')).toBe(1);
    startReady(working);
    expect(dispatch.begun).toEqual(['a']);
    await dispatch.carryOutAll();
    startReady(working);
    expect(dispatch.begun).toEqual(['a', 'b']);
    expect(working.unsettled).toBe(1);
  });

  test('that is a failure stops the dispatch before it is in the journal', async () => {
    const dispatch = await begun(pair);
    settling.endExecution(dispatch.working, endingOf(dispatch, 'a', FAILED));
    expect(dispatch.working.failure).toMatchObject({ code: 'X' });
    expect(dispatch.working.isStopped).toBe(true);
  });

  test('that is a second failure leaves the first as the reason', async () => {
    const dispatch = await begun((step) => ({ a: step('a', endless), b: step('b', endless) }));
    settling.endExecution(dispatch.working, endingOf(dispatch, 'a', FAILED));
    const error = { code: 'Y', message: 'y', retryable: false };
    settling.endExecution(dispatch.working, endingOf(dispatch, 'b', { kind: 'failed', error }));
    expect(dispatch.working.failure).toMatchObject({ code: 'X' });
  });

  test('that is a skip gives no output to dependents that run nevertheless', async () => {
    const dispatch = await begun((step) => {
      const a = step('a', endless);
      return { b: step('b', { needs: { a }, ifSkipped: 'run' }, endless) };
    });
    settling.endExecution(dispatch.working, endingOf(dispatch, 'a', { kind: 'skipped' }));
    expect(dispatch.working.outputs.value('a')).toBeUndefined();
    await dispatch.carryOutAll();
    startReady(dispatch.working);
    expect(dispatch.begun).toEqual(['a', 'b']);
  });

  test('releases outputs that no step needs any more', async () => {
    const dispatch = await begun((step) => {
      const a = step('a', endless);
      const b = step('b', { needs: { a } }, endless);
      return { c: step('c', { needs: { b } }, endless) };
    });
    settling.endedInJournal(dispatch.working, dispatch.unit('a'), DONE);
    expect(dispatch.working.outputs.value('a')).toBe(1);
    settling.endedInJournal(dispatch.working, dispatch.unit('b'), DONE);
    expect(dispatch.working.outputs.get('a')).toBeUndefined();
    expect(dispatch.working.outputs.value('b')).toBe(1);
  });

  test('that is already in the journal counts once', async () => {
    const dispatch = await begun(pair);
    settling.endedInJournal(dispatch.working, dispatch.unit('a'), DONE);
    expect(dispatch.working.unsettled).toBe(1);
    expect(dispatch.working.tracker.stateOf('a')).toBe('done');
    expect(dispatch.given).toEqual([]);
  });
});

describe('a change in the journal', () => {
  const wait: Wait = { ...questionOf('a'), announced: true };
  const rows: [string, Consequence, (dispatch: Dispatch) => unknown, unknown][] = [
    ['nothing', { kind: 'nothing' }, ({ working }) => working.tracker.stateOf('a'), 'open'],
    ['an end', { kind: 'ended', outcome: DONE }, ({ working }) => working.tracker.stateOf('a'), 'done'],
    ['an end', { kind: 'ended', outcome: DONE }, ({ working }) => working.unsettled, 1],
    ['a rest', { kind: 'rests', at: 7 }, ({ working }) => working.resting.earliest, 7],
    [
      'a rest until there is room',
      { kind: 'rests_without_room', bytes: 9 },
      ({ working }) => [working.withoutRoom.fitting(8), working.withoutRoom.fitting(9)],
      [undefined, 'a'],
    ],
    ['a wait', { kind: 'waits', wait }, ({ working }) => working.waits.of('a')?.id, 'a.1'],
    [
      'the end of a wait',
      { kind: 'wait_ended', wait, outcome: DONE },
      ({ working }) => working.tracker.stateOf('a'),
      'done',
    ],
    [
      'a wait that others ended',
      { kind: 'wait_ended', wait },
      ({ working }) => working.tracker.stateOf('a'),
      'open',
    ],
  ];

  test.each(rows)('%s', async (_, consequence, seen, expected) => {
    const dispatch = await begun(pair);
    record(dispatch, 'a', consequence);
    expect(seen(dispatch)).toEqual(expected);
  });

  test('releases whatever was kept for its execution', async () => {
    for (const [, consequence] of rows) {
      const dispatch = await begun(pair);
      const { working } = dispatch;
      working.withoutRoom.add('a', 600_000);
      working.withoutRoom.tried('a');
      working.withoutRoom.add('b', 1);
      const bodies: string[] = [];
      const budget: string[] = [];
      const { bodies: running, budget: gate } = working;
      Object.defineProperty(running, 'recorded', { value: (key: string) => bodies.push(key) });
      Object.defineProperty(gate, 'settled', { value: (key: string) => budget.push(key) });
      expect(working.withoutRoom.fitting(500_000)).toBeUndefined();
      record(dispatch, 'a', consequence);
      if (consequence.kind !== 'rests_without_room') expect(working.withoutRoom.fitting(500_000)).toBe('b');
      expect(bodies).toEqual(['a']);
      expect(budget).toContain('a');
    }
  });

  test('that ends a wait counts for the first observer', async () => {
    const dispatch = await begun((step) => ({ a: step('a', endless), b: step('b', endless) }));
    record(dispatch, 'a', { kind: 'wait_ended', wait, outcome: DONE });
    record(dispatch, 'a', { kind: 'wait_ended', wait, outcome: DONE });
    expect(dispatch.working.unsettled).toBe(1);
  });

  test('returns the commands that follow, and not before', async () => {
    const dispatch = await begun(pair);
    const after = [{ kind: 'cancel_children', runIds: ['run_x'] }];
    record(dispatch, 'a', { kind: 'ended', outcome: DONE }, { after });
    expect(dispatch.given).toEqual(['cancel_children run_x']);
  });

  test('that was counted before is not counted again', async () => {
    const dispatch = await begun(pair);
    record(dispatch, 'a', { kind: 'ended', outcome: DONE }, { isKnown: true });
    expect(dispatch.working.unsettled).toBe(2);
    expect(dispatch.working.tracker.stateOf('a')).toBe('done');
  });
});

describe('a set', () => {
  const mapOf = (options: object) => (step: Factory) => ({
    m: step.map('m', { over: () => [1, 2, 3], ...options }, endless),
  });

  test('ends directly after its last item, before that is in the journal', async () => {
    const dispatch = await begun(mapOf({}));
    for (const key of ['m[2]', 'm[0]'])
      settling.endExecution(dispatch.working, endingOf(dispatch, key, DONE));
    expect(dispatch.given).toHaveLength(2);
    settling.endExecution(dispatch.working, endingOf(dispatch, 'm[1]', DONE));
    expect(dispatch.given.slice(2)).toEqual(['m[1]:  > ended done', 'm: step_succeeded > ended done']);
    expect(dispatch.working.unsettled).toBe(0);
    expect(dispatch.working.tracker.stateOf('m')).toBe('open');
  });

  test('whose outcome is decided waits for its running items', async () => {
    const dispatch = await begun(mapOf({}));
    settling.endExecution(dispatch.working, endingOf(dispatch, 'm[1]', FAILED));
    expect(dispatch.given).toEqual(['m[1]:  > ended failed X']);
    for (const key of ['m[0]', 'm[2]'])
      settling.endExecution(dispatch.working, endingOf(dispatch, key, DONE));
    expect(dispatch.given.at(-1)).toBe('m: step_failed > ended failed ITEMS_FAILED');
  });

  test('whose outcome is decided leaves resting items unstarted', async () => {
    const dispatch = await begun(mapOf({ completion: { atLeast: 1 } }));
    record(dispatch, 'm[0]', { kind: 'rests', at: dispatch.now + 1_000 });
    record(dispatch, 'm[2]', { kind: 'rests_without_room', bytes: 9 });
    settling.endExecution(dispatch.working, endingOf(dispatch, 'm[1]', DONE));
    expect(dispatch.given.at(-1)).toBe('m: step_succeeded > ended done');
    expect(dispatch.working.resting.earliest).toBeUndefined();
    expect(dispatch.working.withoutRoom.size).toBe(0);
    expect(dispatch.working.outputs.value('m')).toEqual([null, 1, null]);
  });

  test('that fails is skipped where its step says so', async () => {
    const dispatch = await begun(mapOf({ onFailure: 'skip' }));
    for (const key of ['m[0]', 'm[1]', 'm[2]'])
      settling.endExecution(dispatch.working, endingOf(dispatch, key, FAILED));
    expect(dispatch.given.at(-1)).toBe('m: step_skipped > ended skipped');
    expect(dispatch.working.failure).toBeUndefined();
  });

  test('ends once, also while its large output is being stored', async () => {
    const dispatch = await begun((step) => ({ m: step.map('m', { over: () => [1, 2] }, endless) }));
    const large: Outcome = { kind: 'done', output: outputFrom(JSON.stringify('x'.repeat(200_000))) };
    for (const key of ['m[0]', 'm[1]'])
      settling.endExecution(dispatch.working, endingOf(dispatch, key, large));
    startReady(dispatch.working);
    expect(dispatch.given.filter((one) => one === 'keep m')).toHaveLength(1);
    expect(dispatch.concluded('shutdown')).toBe('wait');
  });

  test('ends once', async () => {
    const dispatch = await begun(mapOf({ completion: { atLeast: 1 }, concurrency: 1 }));
    settling.endExecution(dispatch.working, endingOf(dispatch, 'm[0]', DONE));
    const set = dispatch.working.sets.get('m');
    expect(set).toBeUndefined();
    startReady(dispatch.working);
    expect(dispatch.begun).toEqual(['m[0]']);
    expect(dispatch.given.filter((one) => one.startsWith('m:'))).toHaveLength(1);
  });
});

describe('an operation of a flow', () => {
  test('that has ended is answered when it is in the journal', async () => {
    const ended: string[] = [];
    const dispatch = await begun((step) => ({
      f: step.flow('f', {}, async (flow) => {
        ended.push(await flow.step('x', () => 'value'));
        await endless();
      }),
    }));
    await dispatch.settle();
    startReady(dispatch.working);
    await dispatch.settle();
    dispatch.next(dispatch.take('body_ended'));
    await dispatch.settle();
    expect(ended).toEqual([]);
    await dispatch.carryOutAll();
    await dispatch.settle();
    expect(ended).toEqual(['value']);
    expect(dispatch.working.operations.size).toBe(0);
    expect(dispatch.working.unsettled).toBe(1);
  });
});
