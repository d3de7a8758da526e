import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { createTestRuntime } from '../../../packages/cairn/src/testing/index.ts';
import { ended } from './one-flow.ts';

describe('an operation that the code of a flow does not await', () => {
  test('is not opened if it is a wait that has not begun when the code returns', async () => {
    const workflow = defineWorkflow({
      type: 'w',
      planVersion: 1,
      input: z.object({}),
      steps: (step) => {
        const main = step.flow('main', {}, async (flow) => {
          void flow.approval('question', 'Really?');
          void flow.sleep('pause', '1h');
          return 'done';
        });
        return { next: step.event('next', { needs: { main }, event: 'next', key: () => 'k' }) };
      },
    });
    const runtime = createTestRuntime({ workflows: [workflow] });
    const run = await runtime.start('w');
    await runtime.settle();
    expect(run.step('main').status).toBe('succeeded');
    expect(run.status()).toBe('waiting_external');
    expect(run.waits()).toMatchObject([{ step: 'next' }]);
    const { head } = run.state();
    await runtime.advance('2h');
    expect(run.state().head).toBe(head);
  });

  test('ends before the flow if it is a body, and its failure does not fail the flow', async () => {
    const { run } = await ended(async (flow) => {
      void flow.step('done', () => 1);
      void flow.step('failing', () => Promise.reject(new Error('no')), { retry: { maxAttempts: 1 } });
      await flow.sleep('pause', '1h');
      return 'over';
    });
    expect(await run.result()).toEqual({ out: 'over' });
    expect(run.step('main[done]').status).toBe('succeeded');
    expect(run.step('main[failing]').status).toBe('failed');
  });

  test('stops at the wait that was open when the code returned', async () => {
    const { run } = await ended(async (flow) => {
      const branch = async () => {
        await flow.sleep('patience', '1h');
        await flow.step('later', () => 1);
      };
      void branch();
      await flow.step('now', () => 1);
      return 'over';
    });
    expect(await run.result()).toEqual({ out: 'over' });
    expect(run.steps().map(({ id }) => id)).not.toContain('main[later]');
    expect(run.step('main[now]').status).toBe('succeeded');
  });

  test('fails the flow only where it is awaited, also in a map', async () => {
    const { run } = await ended(async (flow) => {
      const failing = flow.map('all', [1], () => Promise.reject(new Error('no')), {
        retry: { maxAttempts: 1 },
      });
      await flow.sleep('pause', '1h');
      return failing.catch(() => 'caught');
    });
    expect(await run.result()).toEqual({ out: 'caught' });
  });
});

test('code that catches each refusal and repeats its operation is stopped', async () => {
  const { run } = await ended(async (flow) => {
    for (;;) {
      try {
        await flow.step('no name', () => 1);
      } catch {}
    }
  });
  expect(run.error()).toMatchObject({ code: 'INVALID_INPUT', stepId: 'main' });
});
