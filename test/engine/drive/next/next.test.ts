import { describe, expect, test } from '@jest/globals';
import { Fatal, RetryAt } from '../../../../packages/cairn/src/core/errors.ts';
import type { StepFactory } from '../../../../packages/cairn/src/engine/define/types.ts';
import { startReady } from '../../../../packages/cairn/src/engine/drive/next/begin.ts';
import { outputFrom } from '../../../../packages/cairn/src/engine/recording/output.ts';
import { Outside } from '../../../support/outside.ts';
import { Dispatch, endless } from './dispatch.ts';

type Factory = StepFactory<Record<string, unknown>>;
type Steps = (step: Factory) => Record<string, { readonly id: string }>;
type Options = NonNullable<Parameters<typeof Dispatch.of>[1]>;

const throws = (error: Error) => () => {
  throw error;
};

/** The dispatch in which the body of the step `a` has just ended. */
async function atEndOf(steps: Steps, options?: Options) {
  const dispatch = await Dispatch.of(steps as never, options);
  startReady(dispatch.working);
  await dispatch.settle();
  return { dispatch, message: dispatch.take('body_ended') };
}

describe('the end of a body', () => {
  const ends: [string, Steps, 'end' | 'nothing', string][] = [
    ['with a value', (step) => ({ a: step('a', () => 1) }), 'end', 'a: step_succeeded > ended done'],
    ['with a large value', (step) => ({ a: step('a', () => 'x'.repeat(600_000)) }), 'end', 'keep a'],
    [
      'that may be tried again',
      (step) => ({ a: step('a', throws(new Error('no'))) }),
      'nothing',
      'a: step_retry_scheduled > rests',
    ],
    [
      'without attempts left',
      (step) => ({ a: step('a', { retry: { maxAttempts: 1 } }, throws(new Error('no'))) }),
      'end',
      'a: step_failed > ended failed STEP_FAILED',
    ],
    [
      'for good',
      (step) => ({ a: step('a', throws(new Fatal('no'))) }),
      'end',
      'a: step_failed > ended failed STEP_FAILED',
    ],
    [
      'for good, of a step that may be left out',
      (step) => ({ a: step('a', { onFailure: 'skip' }, throws(new Fatal('no'))) }),
      'end',
      'a: step_skipped > ended skipped',
    ],
    [
      'that polls',
      (step) => ({ a: step('a', { poll: { within: '1h' } }, throws(new RetryAt(0))) }),
      'nothing',
      'a: step_retry_scheduled > rests',
    ],
    [
      'of a poll whose time is over',
      (step) => ({ a: step('a', { poll: { within: 0 } }, throws(new RetryAt(0))) }),
      'end',
      'a: step_failed > ended failed STEP_TIMEOUT',
    ],
  ];

  test.each(ends)('%s', async (_, steps, follows, given) => {
    const { dispatch, message } = await atEndOf(steps);
    expect(dispatch.next(message)).toBe(follows);
    expect(dispatch.given).toEqual([given]);
  });

  test('with a large value counts as running until its record is queued', async () => {
    const { dispatch, message } = await atEndOf((step) => ({ a: step('a', () => 'x'.repeat(600_000)) }));
    dispatch.next(message);
    for (const stop of [undefined, 'budget', 'shutdown', 'paused'] as const)
      expect(dispatch.concluded(stop)).toBe('wait');
    expect(await dispatch.carryOut()).toBe('end');
    expect(dispatch.given).toEqual(['a: step_succeeded > ended done']);
    expect(dispatch.working.progress().active).toBe(0);
  });

  test('that rests does not conclude the dispatch before it is in the journal', async () => {
    const { dispatch, message } = await atEndOf((step) => ({ a: step('a', throws(new Error('no'))) }));
    dispatch.next(message);
    expect(dispatch.concluded()).toBe('wait');
    expect(dispatch.working.resting.has('a')).toBe(false);
    await dispatch.carryOut();
    expect(dispatch.working.resting.has('a')).toBe(true);
  });

  test('of a step that may have run before the restore asks a person', async () => {
    const steps: Steps = (step) => ({ a: step('a', { idempotent: false }, endless) });
    const { dispatch, message } = await atEndOf(steps, { restoredAt: 1 });
    const notRun: unknown[] = [];
    Object.defineProperty(dispatch.working.budget, 'notRun', { value: (unit: unknown) => notRun.push(unit) });
    expect(dispatch.next(message)).toBe('nothing');
    expect(notRun).toEqual([dispatch.unit('a')]);
    expect(dispatch.given).toEqual(['a: wait_opened > waits']);
  });

  test('whose call needs a confirmation asks first', async () => {
    const { capability, binding } = new Outside({ requiresConfirmation: true });
    const { dispatch, message } = await atEndOf(
      (step) => ({
        a: step('a', { uses: [capability] }, ({ perform }) => perform(capability, { text: 'x' })),
      }),
      { bindings: [binding] },
    );
    expect(dispatch.next(message)).toBe('nothing');
    expect(dispatch.given).toEqual(['a: effect_settled + wait_opened > waits']);
  });

  test('at the limit of the budget opens its question', async () => {
    const { capability, binding } = new Outside();
    const { dispatch, message } = await atEndOf(
      (step) => ({
        a: step('a', { uses: [capability] }, async ({ perform }) => {
          await perform(capability, { text: 'x' });
          await perform(capability, { text: 'y' });
        }),
      }),
      { bindings: [binding], budget: { effects: 1 } },
    );
    expect(dispatch.next(message)).toBe('nothing');
    expect(dispatch.given).toEqual(['a: effect_settled + wait_opened > waits']);
    expect(dispatch.working.budget.isAsking).toBe(true);
  });
});

describe('the due time of an execution', () => {
  test('begins it again', async () => {
    const { dispatch, message } = await atEndOf((step) => ({ a: step('a', throws(new Error('no'))) }));
    dispatch.next(message);
    await dispatch.carryOut();
    startReady(dispatch.working);
    expect(dispatch.begun).toEqual([]);
    dispatch.world.clock.fireNext();
    expect(dispatch.next(dispatch.take('due'))).toBe('begin');
    startReady(dispatch.working);
    expect(dispatch.begun).toEqual(['a']);
  });

  test('begins an item again, in its set', async () => {
    const steps: Steps = (step) => ({ m: step.map('m', { over: () => [1] }, throws(new Error('no'))) });
    const { dispatch, message } = await atEndOf(steps);
    dispatch.next(message);
    await dispatch.carryOutAll();
    expect(dispatch.working.sets.get('m')?.stateOf(0)).toBe('open');
    dispatch.next({ kind: 'due', key: 'm[0]' });
    expect(dispatch.working.sets.get('m')?.stateOf(0)).toBe('idle');
    startReady(dispatch.working);
    expect(dispatch.begun).toEqual(['m[0]']);
  });

  test('begins nothing in a dispatch that is stopping', async () => {
    const { dispatch, message } = await atEndOf((step) => ({ a: step('a', throws(new Error('no'))) }));
    dispatch.next(message);
    await dispatch.carryOut();
    dispatch.isStopped = true;
    expect(dispatch.next({ kind: 'due', key: 'a' })).toBe('begin');
    expect(dispatch.working.tracker.stateOf('a')).toBe('open');
  });

  test('ends a wait, unless it was extended meanwhile', async () => {
    const dispatch = await Dispatch.of((step) => ({ w: step.sleep('w', { for: '1s' }) }));
    startReady(dispatch.working);
    await dispatch.carryOutAll();
    dispatch.world.clock.fireNext();
    expect(dispatch.next(dispatch.take('due'))).toBe('begin');
    expect(dispatch.given).toEqual(['w: wait_resolved + step_succeeded > wait_ended done']);
    expect(dispatch.working.tracker.stateOf('w')).toBe('open');
    await dispatch.carryOutAll();
    expect(dispatch.working.tracker.stateOf('w')).toBe('done');
  });
});

describe('an announcement', () => {
  async function waiting() {
    const dispatch = await Dispatch.of((step) => ({ e: step.event('e', { event: 'e', key: () => 'k' }) }));
    startReady(dispatch.working);
    await dispatch.carryOut();
    const [wait] = dispatch.journal.state.waits;
    if (!wait) throw new Error('the wait is not open');
    return { dispatch, wait };
  }

  test('follows once the wait is in the journal, and the run is suspended only afterwards', async () => {
    const { dispatch } = await waiting();
    expect(dispatch.given).toEqual(['announce e']);
    expect(dispatch.concluded()).toBe('wait');
    expect(await dispatch.carryOut()).toBe('begin');
    expect(dispatch.concluded()).toBe('suspend');
  });

  test('that found an answer records it, and leaves the mailbox once the record is in the journal', async () => {
    const { dispatch, wait } = await waiting();
    const place = { tenantId: 't1', event: 'e', key: 'k', runId: wait.id, waitId: wait.id };
    const { working } = dispatch;
    const { step } = dispatch.unit('e');
    const answer = { stepId: 'e', step, execution: wait.execution, now: dispatch.now };
    const { done } = await import('../../../../packages/cairn/src/engine/recording/event-builders.ts');
    const facts = [done(answer, outputFrom('7'), {})];
    expect(
      dispatch.next({ kind: 'announced', wait, announcement: { kind: 'ended', events: facts, place } }),
    ).toBe('begin');
    expect(dispatch.given).toEqual(['announce e', 'e: step_succeeded > wait_ended done']);
    expect(working.waits.size).toBe(0);
    const [, record] = dispatch.commands;
    expect(record).toMatchObject({ change: { after: [{ kind: 'leave_mailbox', place }] } });
  });

  test('that failed is repeated by a later dispatch, at the earliest due time of all that are open', async () => {
    const dispatch = await Dispatch.of((step) => ({
      e: step.event('e', { event: 'e', key: () => 'k' }),
      f: step.event('f', { event: 'f', key: () => 'k' }),
    }));
    startReady(dispatch.working);
    await dispatch.carryOut();
    await dispatch.carryOut();
    const { waits } = dispatch.working;
    const [recent, second] = dispatch.journal.state.waits;
    if (!recent || !second) throw new Error('the waits are not open');
    const old = { ...second, openedAt: dispatch.now - 3_600_000 };
    const announcement = { kind: 'lost', error: new Error('unknown') } as const;
    for (const wait of [old, recent]) dispatch.next({ kind: 'announced', wait, announcement });
    const soonAt = waits.announceAgain?.at ?? 0;
    expect(soonAt).toBeGreaterThan(dispatch.now);
    waits.drop(recent);
    expect(waits.announceAgain?.at).toBeGreaterThan(soonAt);
    waits.drop(old);
    expect(waits.announceAgain).toBeUndefined();
  });
});

describe('a message that only makes room', () => {
  test.each(['moved', 'outcome_read', 'results_read'] as const)('%s', async (kind) => {
    const dispatch = await Dispatch.of((step) => ({
      a: step('a', endless),
      m: step.map('m', { over: () => [1] }, endless),
    }));
    startReady(dispatch.working);
    const { sets } = dispatch.working;
    const set = sets.get('m');
    if (!set) throw new Error('the set has not begun');
    set.loading = true;
    const unit = dispatch.unit('a');
    const executed = { unit, execution: dispatch.working.nextExecution(unit) };
    expect(dispatch.next({ kind, set, executed, outcome: undefined } as never)).toBe('begin');
    expect(set.loading).toBe(kind !== 'results_read');
    expect(dispatch.working.tracker.stateOf('a')).toBe('open');
    expect(dispatch.given).toEqual(['m: step_started > nothing']);
  });

  test('the outcome of a step that others ended counts like its own', async () => {
    const dispatch = await Dispatch.of((step) => {
      const a = step('a', endless);
      return { b: step('b', { needs: { a } }, endless) };
    });
    startReady(dispatch.working);
    const unit = dispatch.unit('a');
    const executed = { unit, execution: dispatch.working.nextExecution(unit) };
    const outcome = { kind: 'done', output: outputFrom('1') } as const;
    expect(dispatch.next({ kind: 'outcome_read', executed, outcome })).toBe('begin');
    startReady(dispatch.working);
    expect(dispatch.begun).toEqual(['a', 'b']);
  });
});

describe('the code of a flow', () => {
  const flowOf =
    (code: () => Promise<unknown>): Steps =>
    (step) => ({ f: step.flow('f', { retry: { maxAttempts: 2 } }, code) });
  async function ended(code: () => Promise<unknown>) {
    const dispatch = await Dispatch.of(flowOf(code) as never);
    startReady(dispatch.working);
    await dispatch.carryOutAll();
    await dispatch.settle();
    expect(dispatch.next(dispatch.take('flow_ended'))).toBe('begin');
    return dispatch;
  }

  test('that returned closes its waits before the flow ends', async () => {
    const dispatch = await ended(async () => 7);
    expect(dispatch.given).toEqual(['f:  > waits_closed']);
    expect(await dispatch.carryOut()).toBe('begin');
    expect(dispatch.given).toEqual(['f: step_succeeded > ended done']);
  });

  test('that threw is retried', async () => {
    const dispatch = await ended(() => Promise.reject(new Error('no')));
    expect(dispatch.given).toEqual(['f: step_retry_scheduled > rests']);
  });

  test('that threw Fatal fails the step', async () => {
    const dispatch = await ended(() => Promise.reject(new Fatal('no')));
    expect(dispatch.given).toEqual(['f: step_failed > ended failed STEP_FAILED']);
  });
});
