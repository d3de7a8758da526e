import { describe, expect, test } from '@jest/globals';
import type { OnFailure, Policy, WorkflowOptions } from '../../../packages/cairn/src/engine/define/types.ts';
import { ran } from './one-run.ts';

describe('the final failure of a step', () => {
  test.each<[string, OnFailure<string>, string, unknown]>([
    ['ends the run', 'fail', 'failed', undefined],
    ['lets the step be skipped', 'skip', 'completed', '{"after":"without","risky":null}'],
    [
      'puts a value in its place',
      { degradeTo: 'plain' },
      'completed',
      '{"after":"with plain","risky":"plain"}',
    ],
  ])('%s', async (_, onFailure, status, result) => {
    const { state } = await ran((step) => {
      const risky = step('risky', { onFailure, retry: { maxAttempts: 2, initialMs: 0 } }, (): string => {
        throw new Error('no');
      });
      const after = step('after', { needs: { risky }, ifSkipped: 'run' }, ({ risky }) =>
        risky === undefined ? 'without' : `with ${risky}`,
      );
      return { risky, after };
    });
    expect(state.status).toBe(status);
    if (result !== undefined) expect(state.result).toEqual({ text: result });
  });

  test('of one class of errors comes after the attempts of that class', async () => {
    class Busy extends Error {}
    const tried: string[] = [];
    const { state } = await ran((step) => {
      const busy = step(
        'busy',
        { retry: { maxAttempts: 2, initialMs: 0, perError: [{ match: Busy, maxAttempts: 5 }] } },
        ({ attempt }) => {
          tried.push(`busy ${attempt}`);
          if (attempt < 5) throw new Busy();
          return 1;
        },
      );
      const coded = step(
        'coded',
        { needs: { busy }, retry: { initialMs: 0, perError: [{ match: 'E_NO', maxAttempts: 1 }] } },
        () => {
          tried.push('coded');
          throw Object.assign(new Error('no'), { code: 'E_NO' });
        },
      );
      return { coded };
    });
    expect(tried).toEqual(['busy 1', 'busy 2', 'busy 3', 'busy 4', 'busy 5', 'coded']);
    expect(state.status).toBe('failed');
  });
});

describe('a policy', () => {
  const asked: string[] = [];
  const policyThat =
    (allows: (at: string) => boolean): Policy<object> =>
    ({ at, stepId }) => {
      asked.push(stepId ?? at);
      return {
        allowed: allows(stepId ?? at),
        policySnapshotId: `rules-${asked.length}`,
        reason: 'by the rules',
      };
    };
  const steps: WorkflowOptions<object>['steps'] = (step) => {
    const rest = step.sleep('rest', { for: '1h' });
    return { a: step('a', { needs: { rest } }, () => 1) };
  };

  test('is asked at the start and on each resume, and the facts it used are recorded', async () => {
    asked.length = 0;
    const { state } = await ran(steps, { policy: policyThat(() => true) });
    expect(asked).toEqual(['start', 'resume']);
    expect(state).toMatchObject({ status: 'completed', policySnapshotId: 'rules-2' });
  });

  test.each(['start', 'resume'])('that refuses at %s ends the run', async (at) => {
    asked.length = 0;
    const { state } = await ran(steps, { policy: policyThat((where) => where !== at) });
    expect(state).toMatchObject({
      status: 'cancelled',
      stopKind: 'policy',
      cancellation: { stopKind: 'policy', reason: 'by the rules' },
    });
  });

  test('of a step prevents its body from running', async () => {
    asked.length = 0;
    let ran1 = false;
    const policy = policyThat(() => false);
    const { state } = await ran((step) => ({
      a: step('a', { policy }, () => {
        ran1 = true;
      }),
    }));
    expect({ ran1, asked, status: state.status }).toEqual({ ran1: false, asked: ['a'], status: 'cancelled' });
  });

  test('that throws is asked again later, and nothing runs before it answers', async () => {
    let calls = 0;
    const policy: Policy<object> = () => {
      calls += 1;
      if (calls < 5) throw new Error('unreachable');
      return { allowed: true, policySnapshotId: 'p' };
    };
    const { state } = await ran((step) => ({ a: step('a', () => calls) }), { policy });
    expect(state).toMatchObject({ status: 'completed', result: { text: '{"a":5}' } });
  });
});

test('a run that exceeds its time limit fails, wherever it waits', async () => {
  const { state } = await ran((step) => ({ rest: step.sleep('rest', { for: '3d' }) }), { timeout: '1d' });
  expect(state).toMatchObject({ status: 'failed', error: { code: 'RUN_TIMEOUT' } });
  expect(state.durationMs).toBe(24 * 3_600_000);
});

test('a time that cannot be stored fails its step by name', async () => {
  const { state } = await ran((step) => ({ a: step.sleep('a', { until: 9e15 }) }));
  expect(state).toMatchObject({
    status: 'failed',
    error: { stepId: 'a', message: expect.stringContaining('10000') },
  });
});
