import { describe, expect, test } from '@jest/globals';
import type { StepExecution, StepKind } from '../../../../packages/cairn/src/core/run/events.ts';
import type { StepFactory } from '../../../../packages/cairn/src/engine/define/types.ts';
import { startReady } from '../../../../packages/cairn/src/engine/drive/next/begin.ts';
import { succeeded, timerOf } from '../../../core/run/journal-drafts.ts';
import { Dispatch, endless } from './dispatch.ts';

type Factory = StepFactory<Record<string, unknown>>;

const fails = () => {
  throw new Error('no');
};

describe('steps without needs', () => {
  test.each([1, 2, 3, 4])('begin in their order, %i at a time at most', async (concurrentSteps) => {
    const dispatch = await Dispatch.of(
      (step) => ({ a: step('a', endless), b: step('b', endless), c: step('c', endless) }),
      { settings: { concurrentSteps } },
    );
    startReady(dispatch.working);
    expect(dispatch.begun).toEqual(['a', 'b', 'c'].slice(0, concurrentSteps));
  });

  test('begin one at a time in a run that is dispatched alone', async () => {
    const steps = (step: Factory) => ({ a: step('a', endless), b: step('b', endless) });
    const dispatch = await Dispatch.of(steps, { alone: true });
    startReady(dispatch.working);
    expect(dispatch.begun).toEqual(['a']);
  });

  test('begin after a wait, which takes no room', async () => {
    const dispatch = await Dispatch.of(
      (step) => ({ rest: step.sleep('rest', { for: '1h' }), a: step('a', endless) }),
      { settings: { concurrentSteps: 1 } },
    );
    startReady(dispatch.working);
    expect(dispatch.begun).toEqual(['a']);
    expect(dispatch.given).toEqual(['rest: wait_opened > waits']);
  });

  test('begin once, however often they are ready', async () => {
    const dispatch = await Dispatch.of((step) => ({
      a: step('a', endless),
      rest: step.sleep('rest', { for: '1h' }),
    }));
    for (let time = 0; time < 3; time += 1) startReady(dispatch.working);
    expect(dispatch.begun).toEqual(['a']);
    expect(dispatch.given).toHaveLength(1);
  });
});

describe('more steps than there is room for', () => {
  const ids = ['a', 'b', 'c', 'd', 'e'];
  /** Bodies that end once they are told to, with a result or an error. */
  async function full(options: { readonly concurrentSteps: number; readonly alone?: boolean }) {
    const ends = new Map(ids.map((id) => [id, Promise.withResolvers<number>()]));
    const dispatch = await Dispatch.of(
      (step) => Object.fromEntries(ids.map((id) => [id, step(id, () => ends.get(id)?.promise)])),
      { settings: { concurrentSteps: options.concurrentSteps }, alone: options.alone ?? false },
    );
    startReady(dispatch.working);
    const end = async (id: string, how: 'well' | 'badly' = 'well') => {
      if (how === 'well') ends.get(id)?.resolve(1);
      else ends.get(id)?.reject(new Error('no'));
      await dispatch.settle();
      const follows = dispatch.next(dispatch.take('body_ended'));
      if (follows === 'begin') startReady(dispatch.working);
      return follows;
    };
    return { dispatch, end };
  }

  test('begin when a body ends, before its end is in the journal', async () => {
    const { dispatch, end } = await full({ concurrentSteps: 2 });
    expect(await end('a')).toBe('begin');
    expect(dispatch.begun).toEqual(['b', 'c']);
    expect(dispatch.given).toEqual(['a: step_succeeded > ended done']);
  });

  test('wait for the journal when as many ends are uncommitted as may run', async () => {
    const { dispatch, end } = await full({ concurrentSteps: 2 });
    await end('a');
    await end('b');
    expect(dispatch.begun).toEqual(['c', 'd']);
    expect(await end('c')).toBe('end');
    expect(dispatch.begun).toEqual(['d']);
    expect(await dispatch.carryOut()).toBe('begin');
    startReady(dispatch.working);
    expect(dispatch.begun).toEqual(['d', 'e']);
  });

  test('do not begin after a failure that is not yet in the journal', async () => {
    const { dispatch, end } = await full({ concurrentSteps: 2 });
    expect(await end('a', 'badly')).not.toBe('begin');
    expect(dispatch.begun).toEqual(['b']);
  });

  test('begin one by one in a run that is dispatched alone, each after the end of the one before is in the journal', async () => {
    const { dispatch, end } = await full({ concurrentSteps: 2, alone: true });
    // The begin of the body is recorded first.
    await dispatch.settle();
    expect(await end('a')).toBe('end');
    expect(dispatch.working.room).toBe(0);
    await dispatch.carryOutAll();
    startReady(dispatch.working);
    expect(dispatch.begun).toEqual(['b']);
  });
});

describe('no step begins', () => {
  const steps = (step: Factory) => {
    const no = step('no', { when: () => false }, endless);
    return {
      a: step('a', endless),
      after: step('after', { needs: { no } }, endless),
      rest: step.sleep('rest', { for: '1h' }),
      m: step.map('m', { over: () => [1] }, endless),
    };
  };
  const started = (stepId: string, kind: StepKind): StepExecution => ({
    stepId,
    kind,
    revision: 1,
    attempt: 1,
    inputsHash: '0'.repeat(64),
    startedAt: 0,
  });

  test('in a dispatch that is stopping', async () => {
    const dispatch = await Dispatch.of(steps);
    dispatch.isStopped = true;
    startReady(dispatch.working);
    expect([dispatch.begun, dispatch.given]).toEqual([[], []]);
  });

  test('in a failing run, and none is skipped', async () => {
    const dispatch = await Dispatch.of(steps);
    dispatch.working.tracker.settle('no', 'skipped');
    dispatch.working.failure = { code: 'X', message: 'x', retryable: false };
    startReady(dispatch.working);
    expect([dispatch.begun, dispatch.given]).toEqual([[], []]);
  });

  test('after a step that failed before its body', async () => {
    const dispatch = await Dispatch.of((step) => ({
      a: step('a', { when: fails }, endless),
      b: step('b', endless),
      rest: step.sleep('rest', { for: '1h' }),
    }));
    startReady(dispatch.working);
    expect(dispatch.begun).toEqual([]);
    expect(dispatch.given).toEqual(['a: step_failed > ended failed STEP_FAILED']);
  });

  test('that needs more time than the dispatch has, except the first', async () => {
    const dispatch = await Dispatch.of(
      (step) => ({
        a: step('a', { timeout: '1m' }, endless),
        b: step('b', { timeout: '1m' }, endless),
        c: step('c', { timeout: '5s' }, endless),
      }),
      { timeMs: 10_000 },
    );
    startReady(dispatch.working);
    expect(dispatch.begun).toEqual(['a', 'c']);
    expect(dispatch.working.progress()).toMatchObject({ active: 2, canStart: true });
  });

  test('that must wait for others to release budget', async () => {
    const dispatch = await Dispatch.of((step) => ({ a: step('a', endless), b: step('b', endless) }), {
      budget: { operations: 1 },
    });
    startReady(dispatch.working);
    expect([dispatch.begun, dispatch.given]).toEqual([['a'], []]);
  });

  test('while the question about the budget is being committed', async () => {
    const dispatch = await Dispatch.of(
      (step) => ({
        a: step('a', endless),
        b: step('b', endless),
        m: step.map('m', { over: () => [1, 2] }, endless),
        c: step('c', endless),
      }),
      { budget: { operations: 1 }, earlier: () => [succeeded('a', { spent: {} })] },
    );
    startReady(dispatch.working);
    expect([dispatch.begun, dispatch.given]).toEqual([[], ['b: wait_opened > waits']]);
    startReady(dispatch.working);
    expect([dispatch.begun, dispatch.given]).toEqual([[], ['b: wait_opened > waits']]);
  });

  test('while the question about the budget is open', async () => {
    const dispatch = await Dispatch.of((step) => ({ a: step('a', endless), b: step('b', endless) }), {
      budget: { operations: 9 },
      earlier: () => [
        {
          type: 'wait_opened',
          initiator: 'system',
          data: {
            wait: {
              ...timerOf('a'),
              execution: started('a', 'step'),
              kind: 'approval',
              purpose: 'budget',
              detailText: '{"question":"?"}',
              reached: [],
            } as never,
          },
        },
      ],
    });
    startReady(dispatch.working);
    expect([dispatch.begun, dispatch.given]).toEqual([[], []]);
  });
});

describe('a condition', () => {
  const at =
    (options: { when: () => boolean; onFailure?: 'skip' | { degradeTo: unknown } }) => (step: Factory) => ({
      a: step('a', options, endless),
    });

  test.each([
    ['that is false skips its step', at({ when: () => false }), 'a: step_skipped > ended skipped'],
    ['that throws fails it', at({ when: fails }), 'a: step_failed > ended failed STEP_FAILED'],
    [
      'that throws skips it by policy',
      at({ when: fails, onFailure: 'skip' }),
      'a: step_skipped > ended skipped',
    ],
    [
      'that throws degrades it by policy',
      at({ when: fails, onFailure: { degradeTo: 1 } }),
      'a: step_degraded > ended done',
    ],
  ] as const)('%s', async (_, steps, given) => {
    const dispatch = await Dispatch.of(steps);
    startReady(dispatch.working);
    expect(dispatch.begun).toEqual([]);
    expect(dispatch.given).toEqual([given]);
  });

  test('is evaluated first for each kind of step', async () => {
    const when = () => false;
    const dispatch = await Dispatch.of((step) => ({
      map: step.map('map', { when, over: fails }, endless),
      sleep: step.sleep('sleep', { when, until: fails }),
      approval: step.approval('approval', { when, ask: fails }),
      event: step.event('event', { when, event: 'e', key: fails }),
      flow: step.flow('flow', { when }, fails),
    }));
    startReady(dispatch.working);
    expect(dispatch.given.toSorted()).toEqual(
      ['approval', 'event', 'flow', 'map', 'sleep'].map((id) => `${id}: step_skipped > ended skipped`),
    );
  });

  test('of a set is not evaluated again for its items', async () => {
    let requestCount = 0;
    const when = () => {
      requestCount += 1;
      return true;
    };
    const dispatch = await Dispatch.of((step) => ({
      m: step.map('m', { when, over: () => [1, 2] }, endless),
    }));
    startReady(dispatch.working);
    expect([dispatch.begun, requestCount]).toEqual([['m[0]', 'm[1]'], 1]);
  });
});

describe('dependents', () => {
  const chain = (step: Factory) => {
    const a = step('a', { when: () => false }, endless);
    const b = step('b', { needs: { a } }, endless);
    const c = step('c', { needs: { b } }, endless);
    const d = step('d', { needs: { c }, ifSkipped: 'run' }, endless);
    return { d, e: step('e', { needs: { d } }, endless) };
  };

  test('of a skipped step are skipped together, once that is in the journal', async () => {
    const dispatch = await Dispatch.of(chain);
    startReady(dispatch.working);
    expect(dispatch.given).toEqual(['a: step_skipped > ended skipped']);
    expect(await dispatch.carryOut()).toBe('begin');
    startReady(dispatch.working);
    expect(dispatch.given).toEqual(['b', 'c'].map((id) => `${id}: step_skipped > ended skipped`));
  });

  test('that run nevertheless begin before the permanent skip is in the journal', async () => {
    const dispatch = await Dispatch.of(chain);
    startReady(dispatch.working);
    await dispatch.carryOut();
    startReady(dispatch.working);
    expect(dispatch.begun).toEqual(['d']);
    expect(dispatch.working.unsettled).toBe(2);
  });
});
