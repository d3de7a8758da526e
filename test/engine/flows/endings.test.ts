import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { Flow } from '../../../packages/cairn/src/engine/define/flow/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { createTestRuntime } from '../../../packages/cairn/src/testing/index.ts';
import { assertStored } from '../../support/soundness.ts';
import { driven } from '../../support/successors.ts';
import { World } from '../../support/world.ts';
import { ended, flowWorkflow, started } from './one-flow.ts';

type AnyFlow = Flow<Record<never, never>>;

describe('the code of a flow that has changed', () => {
  const changing = (codes: readonly ((flow: AnyFlow) => Promise<unknown>)[]) => {
    let at = 0;
    const code = (flow: AnyFlow) => (codes[Math.min(at++, codes.length - 1)] as (typeof codes)[number])(flow);
    return ended(code);
  };
  const first = async (flow: AnyFlow) => {
    await flow.step('charge', () => 1, { input: { cents: 1 } });
    await flow.sleep('pause', '1h');
    return 'first';
  };

  test.each<[string, (flow: AnyFlow) => Promise<unknown>, string]>([
    [
      'without asking for what was done',
      async (flow) => {
        await flow.step('refund', () => 1);
        await flow.sleep('pause', '1h');
      },
      `the code ended without asking for 'charge', which the journal has; it asked for 'refund', which the journal does not have`,
    ],
    [
      'asks for it as something else',
      async (flow) => {
        await flow.approval('charge', 'Charge?');
      },
      `the code asks for 'charge' as an approval; in the journal it ended as a step`,
    ],
    [
      'asks for it with another request',
      async (flow) => {
        await flow.step('charge', () => 1, { input: { cents: 2 } });
      },
      `the code asks for 'charge' as a step with another request than the one in the journal`,
    ],
  ])('%s stops it', async (_, second, message) => {
    const { run } = await changing([first, second]);
    expect(run.status()).toBe('failed');
    expect(run.error()).toMatchObject({ code: 'FLOW_DIVERGED', stepId: 'main', retryable: false });
    expect(run.error()?.message).toBe(`the flow 'main' has diverged: ${message}`);
  });

  test('is stopped if it asks for something else under the name of an open wait', async () => {
    const { runtime, run } = await started(
      ((codes: number) => async (flow: AnyFlow) => {
        codes += 1;
        if (codes === 1) return Promise.race([flow.event('a', { key: 'k' }), flow.sleep('b', '1h')]);
        return Promise.race([flow.event('a', { key: 'other' }), flow.sleep('b', '1h')]);
      })(0),
    );
    await runtime.runToEnd(run);
    expect(run.error()?.message).toContain(`the code asks for 'a' as an event with another request`);
  });
});

describe('a run with a flow', () => {
  test('is cancelled while the flow waits, and while a body runs', async () => {
    const waiting = await started(async (flow) => flow.event('never', { key: 'k' }));
    await waiting.runtime.settle();
    await waiting.runtime.cancel(waiting.run, { reason: 'enough' });
    await waiting.runtime.settle();
    expect(waiting.run.status()).toBe('cancelled');
    const working = await started(
      async (flow) => flow.step('long', () => new Promise(() => {})),
      {},
      { patienceMs: 0 },
    );
    await working.runtime.settle();
    await working.runtime.cancel(working.run);
    await working.runtime.advance('5m');
    expect(working.run.status()).toBe('cancelled');
  });

  test('ends at the time limit of the run', async () => {
    const workflow = defineWorkflow({
      type: 'w',
      planVersion: 1,
      input: z.object({}),
      timeout: '1h',
      run: async (flow) => flow.event('never', { key: 'k' }),
    });
    const runtime = createTestRuntime({ workflows: [workflow] });
    const run = await runtime.start('w');
    await runtime.advance('2h');
    expect(run.error()).toMatchObject({ code: 'RUN_TIMEOUT' });
  });

  test.each(['before', 'after'] as const)('continues after a crash %s an operation', async (moment) => {
    const { runtime, run } = await started(async (flow) => {
      const a = await flow.step('a', () => 1);
      const b = await flow.step('b', () => a + 1);
      return flow.step('c', () => b + 1);
    });
    if (moment === 'before') runtime.crashBefore('main[b]');
    else runtime.crashAfter('main[b]');
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(await run.result()).toEqual({ out: 3 });
    expect(run.calls('main[a]')).toBe(1);
  });

  test("passes the flow's output on, and the flow reads its needs", async () => {
    const workflow = defineWorkflow({
      type: 'w',
      planVersion: 1,
      input: z.object({ n: z.number() }),
      steps: (step) => {
        const before = step('before', ({ input }) => input.n + 1);
        const main = step.flow('main', { needs: { before } }, async (flow, { input, before }) => {
          await flow.sleep('pause', '1m');
          return flow.step('sum', () => input.n + before);
        });
        return { after: step('after', { needs: { main } }, ({ main }) => main * 10) };
      },
    });
    const runtime = createTestRuntime({ workflows: [workflow] });
    const run = await runtime.start('w', { n: 1 });
    await runtime.runToEnd(run);
    expect(await run.result()).toEqual({ after: 30 });
  });

  test('begins the flow again when a person sends it back', async () => {
    const workflow = defineWorkflow({
      type: 'w',
      planVersion: 1,
      input: z.object({}),
      steps: (step) => {
        const main = step.flow('main', {}, async (flow) =>
          flow.step('write', () => flow.feedback ?? 'draft'),
        );
        step.approval('ok', { needs: { main }, ask: () => 'Good?' });
        return { main };
      },
    });
    const runtime = createTestRuntime({ workflows: [workflow] });
    const run = await runtime.start('w');
    await runtime.settle();
    await runtime.decide(run, 'retry_with_feedback', { feedback: 'better' });
    await runtime.settle();
    await runtime.decide(run, 'approve');
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(await run.result()).toEqual({ main: 'better' });
    expect(run.step('main[write]').revision).toBe(2);
  });

  test('is resumed after a failure with its completed operations', async () => {
    const called: string[] = [];
    let isBroken = true;
    const workflow = flowWorkflow(async (flow) => {
      await flow.step('a', () => void called.push('a'));
      try {
        await flow.step(
          'b',
          () => {
            called.push('b');
            if (isBroken) throw new Error('b is down');
          },
          { retry: { maxAttempts: 1 } },
        );
      } catch {
        await flow.step('apologise', () => void called.push('apologise'));
        throw new Error('b failed');
      }
      return flow.step('c', () => 'c');
    });
    const world = new World({ workflows: [workflow] });
    const runId = await world.start('w');
    await world.run();
    expect(assertStored(world.db, runId).error?.message).toBe('b failed');
    isBroken = false;
    const resumed = await driven(world, 'resume', runId);
    expect(resumed).toMatchObject({ status: 'completed', result: { text: '{"out":"c"}' } });
    expect(called).toEqual(['a', 'b', 'apologise', 'b']);
  });
});
