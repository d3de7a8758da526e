import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { RetryAt } from '../../../packages/cairn/src/core/errors.ts';
import { degraded } from '../../../packages/cairn/src/engine/define/body-result.ts';
import type { StepContext } from '../../../packages/cairn/src/engine/define/types.ts';
import { mortal } from '../../support/mortal.ts';
import { assertStored } from '../../support/soundness.ts';
import { World } from '../../support/world.ts';
import { ran, workflowOf } from './one-run.ts';

test('a degraded result is marked as degraded, and counts as success', async () => {
  const { state, world, runId } = await ran((step) => ({
    a: step('a', () => degraded(7, 'only half was there')),
  }));
  expect(state).toMatchObject({ status: 'completed', result: { text: '{"a":7}' } });
  expect(state.steps.get('a')).toMatchObject({ outcome: 'degraded' });
  const events = await world.store.readEvents(runId, 0, 100);
  expect(events.find(({ type }) => type === 'step_degraded')?.data).toMatchObject({
    reason: 'only half was there',
  });
});

test("a body's report of its model is in its checkpoint", async () => {
  const { world, runId, state } = await ran((step) => ({
    a: step('a', ({ usage }) => {
      usage({ agent: 'reader', tokens: { input: 10, output: 1 } });
      usage({ tokens: { input: 5, output: 2 } });
      usage({ tokens: { output: 4 } });
      usage({ tokens: { input: 1 } });
      usage({});
      return 1;
    }),
  }));
  const [checkpoint] = await world.store.readCheckpoints(runId, [state.steps.get('a')?.seq ?? 0]);
  expect(checkpoint).toMatchObject({ agent: 'reader', tokensUsed: { input: 16, output: 7 } });
});

test.each<[string, (body: Pick<StepContext<object>, 'usage' | 'heartbeat'>) => void]>([
  ['a name that is not a text', ({ usage }) => usage({ agent: 7 as unknown as string })],
  ['an empty name', ({ usage }) => usage({ agent: '' })],
  [
    'an infinite number of tokens',
    ({ usage }) => usage({ tokens: { input: Number.POSITIVE_INFINITY, output: 0 } }),
  ],
  ['tokens as text', ({ usage }) => usage({ tokens: { input: '7', output: 0 } as never })],
  ['a negative number of tokens', ({ usage }) => usage({ tokens: { input: -1, output: 0 } })],
  ['a heartbeat with a function', ({ heartbeat }) => heartbeat({ done: () => 1 } as never)],
  ['a heartbeat with a lone surrogate', ({ heartbeat }) => heartbeat('\ud800')],
])('%s fails the step at once with the reason, because the journal cannot hold it', async (_, say) => {
  const { state } = await ran((step) => ({ a: step('a', (body) => say(body)) }));
  expect(state).toMatchObject({
    status: 'failed',
    error: { code: 'INVALID_INPUT', stepId: 'a', retryable: false },
  });
});

test('a memo is made once, and survives a failed attempt', async () => {
  const made: string[] = [];
  const { state } = await ran((step) => ({
    a: step('a', { retry: { initialMs: 0 } }, async ({ memo, attempt }) => {
      const one = await memo('one', () => {
        made.push(`one at ${attempt}`);
        return { n: 1 };
      });
      if (attempt === 1) throw new Error('later');
      return one.n + (await memo('two', () => 1));
    }),
  }));
  expect(state.result).toEqual({ text: '{"a":2}' });
  expect(made).toEqual(['one at 1']);
});

describe('a heartbeat', () => {
  test('passes its value to the next attempt', async () => {
    const seen: unknown[] = [];
    await ran((step) => ({
      a: step('a', { retry: { initialMs: 0 } }, ({ progress, heartbeat, attempt }) => {
        seen.push(progress);
        heartbeat({ page: attempt });
        if (attempt < 3) throw new Error('again');
      }),
    }));
    expect(seen).toEqual([undefined, { page: 1 }, { page: 2 }]);
  });

  test('passes its value to an attempt in a later dispatch', async () => {
    const seen: unknown[] = [];
    const hour = 3_600_000;
    const begun = new World({ workflows: [] }).clock.now();
    await ran((step) => ({
      a: step('a', { retry: { maxAttempts: 3 } }, ({ progress, heartbeat, attempt }) => {
        seen.push(progress);
        heartbeat({ page: attempt });
        if (attempt < 3) throw new RetryAt(begun + attempt * hour);
      }),
    }));
    expect(seen).toEqual([undefined, { page: 1 }, { page: 2 }]);
  });

  test('that is late times the attempt out', async () => {
    const { state } = await ran((step) => ({
      a: step(
        'a',
        { heartbeatTimeout: '2s', timeout: '1m', retry: { maxAttempts: 1 } },
        () => new Promise(() => {}),
      ),
    }));
    expect(state.error).toMatchObject({
      code: 'STEP_TIMEOUT',
      message: expect.stringContaining('no heartbeat'),
    });
    expect(state.durationMs).toBeLessThan(10_000);
  });
});

describe('a step that must not run twice, interrupted by a crash', () => {
  async function crashed(onDoubt: 'fail' | 'ask') {
    const runs: number[] = [];
    const workflow = workflowOf(
      (step) => {
        const a = step('a', { idempotent: false }, ({ attempt }) => {
          runs.push(attempt);
          return runs.length === 1 ? new Promise<string>(() => {}) : 'done';
        });
        return { a };
      },
      { onDoubt },
    );
    const world = new World({ workflows: [workflow] });
    const runId = await world.start('w');
    const first = mortal(world.deps, 7);
    await world.run(() => runs.length === 1, first.deps);
    first.kill();
    await world.run(() =>
      ['failed', 'awaiting_approval'].includes(world.db.runs.get(runId)?.snapshot.status ?? ''),
    );
    return { world, runId, runs, state: assertStored(world.db, runId) };
  }

  test('fails the run', async () => {
    const { state } = await crashed('fail');
    expect(state).toMatchObject({ status: 'failed', error: { code: 'RUN_ORPHANED', stepId: 'a' } });
  });

  test('asks a person if its policy says so, and waits', async () => {
    const { state, runs } = await crashed('ask');
    expect(state).toMatchObject({
      status: 'awaiting_approval',
      waits: [{ id: 'a.1.1.doubt', purpose: 'doubt', execution: { stepId: 'a', attempt: 1 } }],
    });
    expect(runs).toEqual([1]);
  });
});

test.each<[string, () => unknown, RegExp]>([
  [
    'a date',
    () => ({ rows: [{ at: new Date(0) }] }),
    /output of step 'a'\.rows\[0\]\.at is an instance of Date/,
  ],
  ['NaN', () => Number.NaN, /output of step 'a' is NaN/],
  ['a function', () => [() => 1], /output of step 'a'\[0\] is a function/],
])('%s is no output: the step fails at once, by the path', async (_, body, expected) => {
  const { state } = await ran((step) => ({ a: step('a', body) }));
  expect(state.error).toMatchObject({
    code: 'STEP_OUTPUT_INVALID',
    stepId: 'a',
    retryable: false,
    message: expect.stringMatching(expected),
  });
});

test('a value that does not match the schema of its step is refused as output', async () => {
  const output = z.object({ count: z.number() });
  const { state } = await ran((step) => ({ a: step('a', { output }, () => ({ count: 'two' }) as never) }));
  expect(state.error).toMatchObject({
    code: 'STEP_OUTPUT_INVALID',
    message: expect.stringContaining("at 'count'"),
  });
});
