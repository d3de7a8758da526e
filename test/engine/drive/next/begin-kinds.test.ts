import { describe, expect, test } from '@jest/globals';
import type { EventDraft, StepKind } from '../../../../packages/cairn/src/core/run/events.ts';
import { MAX_OPEN_WAITS_BYTES } from '../../../../packages/cairn/src/core/run/limits.ts';
import type { StepFactory } from '../../../../packages/cairn/src/engine/define/types.ts';
import type { FlowRun } from '../../../../packages/cairn/src/engine/drive/flows/flow-run.ts';
import { resume, startReady } from '../../../../packages/cairn/src/engine/drive/next/begin.ts';
import * as build from '../../../../packages/cairn/src/engine/recording/event-builders.ts';
import {
  bySystem,
  opened,
  questionOf,
  settledStep,
  succeeded,
  timerOf,
} from '../../../core/run/journal-drafts.ts';
import { Dispatch, endless } from './dispatch.ts';

type Factory = StepFactory<Record<string, unknown>>;

const ERROR = { code: 'X', message: 'x', retryable: true };

function started(stepId: string, kind: StepKind, more: object = {}) {
  const { revision, attempt, inputsHash, startedAt } = settledStep(stepId);
  return { stepId, kind, revision, attempt, inputsHash, startedAt, ...more };
}

function itemDone(stepId: string, key: string, outputText: string): EventDraft {
  return bySystem('step_succeeded', settledStep(stepId, { kind: 'map', itemKey: key }), outputText);
}

describe('a wait', () => {
  const kinds: Record<string, (step: Factory) => Record<string, { readonly id: string }>> = {
    sleep: (step) => ({ w: step.sleep('w', { for: '1h' }) }),
    approval: (step) => ({ w: step.approval('w', { ask: () => 'Go?' }) }),
    event: (step) => ({ w: step.event('w', { event: 'e', key: () => 'k' }) }),
    child: (step) => ({ w: step.child('w', { workflow: 'other', input: () => ({}) }) }),
  };

  test.each(Object.keys(kinds))('of the kind %s is opened in the journal first', async (kind) => {
    const dispatch = await Dispatch.of(kinds[kind] as never);
    startReady(dispatch.working);
    expect(dispatch.given).toEqual(['w: wait_opened > waits']);
    const [command] = dispatch.commands;
    expect(command).toMatchObject({ change: { opening: { execution: { stepId: 'w' } } } });
  });

  test.each([
    ['the same key', { key: 'k' }, 'w: wait_opened + wait_resolved + step_succeeded > ended done'],
    ['no key', {}, 'w: wait_opened + wait_resolved + step_succeeded > ended done'],
    ['another key', { key: 'other' }, 'w: wait_opened > waits'],
  ])('is answered by an earlier signal with %s', async (_, key, given) => {
    const dispatch = await Dispatch.of(kinds.event as never);
    startReady(dispatch.working);
    // The signal comes after the decision was made, and before the commit.
    await dispatch.journal.append(() => [
      bySystem('signal_received', { signalId: 's', name: 'e', payloadText: '1', ...key }),
    ]);
    expect(dispatch.given).toEqual([given]);
  });

  test('is decided on the state at the start of its commit: another wait may have taken the signal', async () => {
    const dispatch = await Dispatch.of(kinds.event as never, {
      earlier: () => [bySystem('signal_received', { signalId: 's', name: 'e', payloadText: '1' })],
    });
    startReady(dispatch.working);
    const [command] = dispatch.commands;
    if (command?.kind !== 'record') throw new Error('nothing is recorded');
    const { state } = dispatch.journal;
    expect(command.change.decide(state).consequence.kind).toBe('ended');
    expect(command.change.decide({ ...state, unread: [] }).consequence.kind).toBe('waits');
  });

  test('is not opened if its question throws', async () => {
    const ask = () => {
      throw new Error('no');
    };
    const dispatch = await Dispatch.of((step) => ({ w: step.approval('w', { ask }) }));
    startReady(dispatch.working);
    expect(dispatch.given).toEqual(['w: step_failed > ended failed STEP_FAILED']);
  });

  test('is not opened where the snapshot has no room for it', async () => {
    const dispatch = await Dispatch.of(kinds.approval as never);
    const detailText = 'x'.repeat(MAX_OPEN_WAITS_BYTES - 700);
    dispatch.working.waits.add(questionOf('other', { detailText }));
    startReady(dispatch.working);
    expect(dispatch.given).toEqual(['w: step_failed > ended failed PAYLOAD_TOO_LARGE']);
  });
});

describe('a set', () => {
  const mapOf =
    (items: unknown, options: object = {}) =>
    (step: Factory) => ({ m: step.map('m', { over: () => items as number[], ...options }, endless) });

  test('is recorded as begun, and its items begin up to their concurrency', async () => {
    const dispatch = await Dispatch.of(mapOf([1, 2, 3], { concurrency: 2 }));
    startReady(dispatch.working);
    expect(dispatch.given).toEqual(['m: step_started > nothing']);
    expect(dispatch.begun).toEqual(['m[0]', 'm[1]']);
  });

  test('begins no more items than the dispatch has room for', async () => {
    const steps = (step: Factory) => ({ a: step('a', endless), ...mapOf([1, 2, 3])(step) });
    const dispatch = await Dispatch.of(steps, { settings: { concurrentSteps: 2 } });
    startReady(dispatch.working);
    expect(dispatch.begun).toEqual(['a', 'm[0]']);
    expect(dispatch.concluded()).toBe('wait');
  });

  test.each([
    ['of no items ends at once', [], ['m: step_started > nothing', 'm: step_succeeded > ended done']],
    ['whose items are not a list fails', 7, ['m: step_failed > ended failed STEP_FAILED']],
  ])('%s', async (_, items, given) => {
    const dispatch = await Dispatch.of(mapOf(items));
    startReady(dispatch.working);
    expect(dispatch.given).toEqual(given);
  });

  test('that an earlier dispatch began is not recorded again', async () => {
    const dispatch = await Dispatch.of(mapOf([1, 2]), {
      earlier: () => [build.started(started('m', 'map'))],
    });
    startReady(dispatch.working);
    expect(dispatch.given).toEqual([]);
    expect(dispatch.begun).toEqual(['m[0]', 'm[1]']);
  });

  test('whose list differs from its first one fails, whatever its policy', async () => {
    const dispatch = await Dispatch.of(mapOf([1, 2], { onFailure: 'skip' }), {
      earlier: () => [build.started(started('m', 'map'), { items: '3:0000000000000000' })],
    });
    startReady(dispatch.working);
    expect(dispatch.given).toEqual(['m: step_failed > ended failed SET_CHANGED']);
    expect(dispatch.begun).toEqual([]);
  });

  test('reads the results of its items, and does not end before that', async () => {
    const dispatch = await Dispatch.of(mapOf([1, 2]), {
      earlier: () => [
        build.started(started('m', 'map')),
        itemDone('m', '0', '"A"'),
        itemDone('m', '1', '"B"'),
      ],
    });
    startReady(dispatch.working);
    expect(dispatch.given).toEqual(['read_results m 0,1']);
    expect(await dispatch.carryOut()).toBe('begin');
    startReady(dispatch.working);
    expect(dispatch.given).toEqual(['m: step_succeeded > ended done']);
    expect(dispatch.working.outputs.value('m')).toEqual(['A', 'B']);
  });

  test('continues items that are resting or failed, and begins the others', async () => {
    const failed = { ...settledStep('m', { kind: 'map', itemKey: '1' }), error: ERROR };
    const dispatch = await Dispatch.of(mapOf([1, 2, 3], { completion: { tolerate: 1 } }), {
      earlier: (now) => [
        build.started(started('m', 'map')),
        build.retryScheduled(started('m', 'map', { itemKey: '0' }), { at: now + 60_000, error: ERROR }),
        bySystem('step_failed', failed),
      ],
    });
    startReady(dispatch.working);
    expect(dispatch.begun).toEqual(['m[2]']);
    expect(dispatch.working.resting.has('m[0]')).toBe(true);
    expect(dispatch.given).toEqual([]);
  });

  test('of children opens a wait for each, without taking room of bodies', async () => {
    const dispatch = await Dispatch.of(
      (step) => ({
        c: step.child('c', { workflow: 'other', over: () => [1, 2, 3], input: () => ({}) }),
      }),
      { settings: { concurrentSteps: 1 } },
    );
    startReady(dispatch.working);
    expect(dispatch.given).toEqual([
      'c: step_started > nothing',
      'c[0]: wait_opened > waits',
      'c[1]: wait_opened > waits',
      'c[2]: wait_opened > waits',
    ]);
  });
});

test('items of a set open no waits while the budget is asked about', async () => {
  const dispatch = await Dispatch.of(
    (step) => ({
      a: step('a', endless),
      c: step.child('c', { workflow: 'other', over: () => [1, 2], input: () => ({}) }),
      b: step('b', endless),
    }),
    { budget: { operations: 1 }, earlier: () => [succeeded('a', { spent: {} })] },
  );
  startReady(dispatch.working);
  expect(dispatch.given).toEqual(['c: step_started > nothing', 'b: wait_opened > waits']);
});

describe('a flow', () => {
  const steps = (step: Factory) => ({
    f: step.flow('f', {}, async (flow) => {
      await flow.step('x', endless);
    }),
  });

  test.each([
    ['is recorded as begun', [], ['f: step_started > nothing']],
    ['that an earlier dispatch began is not recorded again', [build.started(started('f', 'flow'))], []],
  ])('%s, and its code runs', async (_, earlier, given) => {
    const dispatch = await Dispatch.of(steps, { earlier: () => earlier });
    startReady(dispatch.working);
    expect(dispatch.given).toEqual(given);
    await dispatch.settle();
    expect(dispatch.mailbox).toEqual([{ kind: 'moved' }]);
    startReady(dispatch.working);
    expect(dispatch.begun).toEqual(['f[x]']);
  });

  test('that begins again drops its earlier code', async () => {
    const dispatch = await Dispatch.of(steps);
    let isDropped = false;
    const before = { isBusy: false, next: () => undefined, mark() {}, ended() {} };
    const drop = () => {
      isDropped = true;
    };
    dispatch.working.flows.set('f', { ...before, drop } as unknown as FlowRun);
    startReady(dispatch.working);
    expect(isDropped).toBe(true);
  });

  test('delays its operations until there is room', async () => {
    const dispatch = await Dispatch.of((step) => ({ ...steps(step), a: step('a', endless) }), {
      settings: { concurrentSteps: 1 },
    });
    startReady(dispatch.working);
    await dispatch.settle();
    startReady(dispatch.working);
    expect(dispatch.begun).toEqual(['a']);
  });
});

describe('a wait of an earlier dispatch', () => {
  const steps = (step: Factory) => ({
    a: step('a', endless),
    w: step.sleep('w', { for: '1h' }),
    e: step.event('e', { event: 'e', key: () => 'k' }),
    c: step.child('c', { workflow: 'other', over: () => [1], input: () => ({}) }),
  });

  test('rests until its time', async () => {
    const dispatch = await Dispatch.of(steps, {
      earlier: (now) => [build.retryScheduled(started('a', 'step'), { at: now + 2_000, error: ERROR })],
    });
    resume(dispatch.working);
    expect(dispatch.working.resting.earliest).toBe(dispatch.now + 2_000);
    dispatch.world.clock.fireNext();
    expect(dispatch.mailbox).toEqual([{ kind: 'due', key: 'a' }]);
  });

  test('rests until there is room for its question', async () => {
    const dispatch = await Dispatch.of(steps, {
      earlier: (now) => [build.retryWhenRoom(started('a', 'step'), { at: now, error: ERROR })],
    });
    resume(dispatch.working);
    expect(dispatch.working.resting.has('a')).toBe(false);
    expect(dispatch.working.question).toBe('a');
    startReady(dispatch.working);
    expect(dispatch.begun).toEqual(['a']);
    expect(dispatch.working.question).toBeUndefined();
  });

  test('is announced unless it was, and waits on', async () => {
    const event = { ...started('e', 'event') };
    const dispatch = await Dispatch.of(steps, {
      earlier: (now) => [
        opened(timerOf('w', { dueAt: now + 1_000 })),
        opened({ id: 'e.1', kind: 'event', name: 'e', key: 'k', openedAt: now, execution: event }),
      ],
    });
    resume(dispatch.working);
    expect(dispatch.given).toEqual(['announce w', 'announce e']);
    expect(dispatch.working.waits.size).toBe(2);
    expect(dispatch.working.resting.earliest).toBe(dispatch.now + 1_000);
  });

  test('of a set is continued with its set', async () => {
    const execution = started('c', 'child', { itemKey: '0' });
    const child = { runId: 'run_child', onParentEnd: 'cancel' } as const;
    const dispatch = await Dispatch.of(steps, {
      earlier: (now) => [
        build.started(started('c', 'child')),
        opened({ id: 'c[0].1', kind: 'child', child, openedAt: now, execution }),
      ],
    });
    resume(dispatch.working);
    expect(dispatch.given).toEqual([]);
    startReady(dispatch.working);
    expect(dispatch.given).toContain('announce c[0]');
    expect(dispatch.given.filter((one) => one.startsWith('c'))).toEqual([]);
  });
});

test('questions that do not fit are retried before other items, and none of these begins meanwhile', async () => {
  const dispatch = await Dispatch.of(
    (step) => ({
      a: step('a', endless),
      m: step.map('m', { over: () => [1, 2] }, endless),
    }),
    { earlier: () => [build.started(started('m', 'map'))] },
  );
  const { working } = dispatch;
  working.tracker.settle('a', 'open');
  working.withoutRoom.add('a', MAX_OPEN_WAITS_BYTES + 1);
  startReady(working);
  expect(dispatch.begun).toEqual([]);
  working.withoutRoom.add('a', 1_000);
  startReady(working);
  expect(dispatch.begun).toEqual(['a', 'm[0]', 'm[1]']);
});
