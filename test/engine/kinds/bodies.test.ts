import { describe, expect, test } from '@jest/globals';
import { degraded } from '../../../functions/src/engine/define/degraded.ts';
import type { StepContext } from '../../../functions/src/engine/define/types.ts';
import { mortal } from '../../support/mortal.ts';
import { assertStored } from '../../support/soundness.ts';
import { World } from '../../support/world.ts';
import { ran, workflowOf } from './one-run.ts';

test('a result that is worth less than what was asked for says so, and counts', async () => {
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

test('what a body reports of its model stands on its checkpoint', async () => {
  const { world, runId, state } = await ran((step) => ({
    a: step('a', ({ usage }) => {
      usage({ agent: 'reader', tokens: { input: 10, output: 1 } });
      usage({ tokens: { input: 5, output: 2 } });
      return 1;
    }),
  }));
  const [checkpoint] = await world.store.readCheckpoints(runId, [state.steps.get('a')?.seq ?? 0]);
  expect(checkpoint).toMatchObject({ agent: 'reader', tokensUsed: { input: 15, output: 3 } });
});

test.each<[string, (body: Pick<StepContext<object>, 'usage' | 'heartbeat'>) => void]>([
  ['a name that is none', ({ usage }) => usage({ agent: 7 as unknown as string })],
  ['no name', ({ usage }) => usage({ agent: '' })],
  ['tokens without end', ({ usage }) => usage({ tokens: { input: Number.POSITIVE_INFINITY, output: 0 } })],
  ['tokens in words', ({ usage }) => usage({ tokens: { input: '7', output: 0 } as never })],
  ['less than no tokens', ({ usage }) => usage({ tokens: { input: -1, output: 0 } })],
  ['a function as a sign of life', ({ heartbeat }) => heartbeat({ done: () => 1 } as never)],
  ['half a character as one', ({ heartbeat }) => heartbeat('\ud800')],
])('%s fails the step at once, which says why: the journal could not carry it', async (_, say) => {
  const { state } = await ran((step) => ({ a: step('a', (body) => say(body)) }));
  expect(state).toMatchObject({
    status: 'failed',
    error: { code: 'INVALID_INPUT', stepId: 'a', retryable: false },
  });
});

test('a memo is made once, and what it holds survives a failed attempt', async () => {
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

describe('a sign of life', () => {
  test('hands what it says to the next attempt', async () => {
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

  test('that does not come in time times the attempt out', async () => {
    const { state } = await ran((step) => ({
      a: step(
        'a',
        { heartbeatTimeout: '2s', timeout: '1m', retry: { maxAttempts: 1 } },
        () => new Promise(() => {}),
      ),
    }));
    expect(state.error).toMatchObject({
      code: 'STEP_TIMEOUT',
      message: expect.stringContaining('no sign of life'),
    });
    expect(state.durationMs).toBeLessThan(10_000);
  });
});

describe('a step that must not run twice and was caught mid-flight', () => {
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

  test('or asks a person, and waits', async () => {
    const { state, runs } = await crashed('ask');
    expect(state).toMatchObject({
      status: 'awaiting_approval',
      waits: [{ id: 'a.1.1.doubt', purpose: 'doubt', execution: { stepId: 'a', attempt: 1 } }],
    });
    expect(runs).toEqual([1]);
  });
});
