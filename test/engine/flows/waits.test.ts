import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { OperationFailed } from '../../../packages/cairn/src/core/errors.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { ended, started } from './one-flow.ts';

describe('a wait of a flow', () => {
  test('for an event occupies no worker, and returns the data of the event', async () => {
    const { runtime, run } = await started(async (flow) => {
      const paid = await flow.event<{ cents: number }>('paid', { key: 'order-1' });
      return flow.step('book', () => paid.cents);
    });
    await runtime.settle();
    expect(run.state()).toMatchObject({ status: 'waiting_external' });
    expect(run.waits()).toMatchObject([{ step: 'main[paid]', kind: 'event' }]);
    await runtime.deliver({ event: 'paid', key: 'order-1', data: { cents: 7 } });
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(await run.result()).toEqual({ out: 7 });
  });

  test('for an event receives one that was sent before', async () => {
    const { runtime, run } = await started(async (flow) => {
      await flow.sleep('pause', '1h');
      return flow.event('paid', { key: 'k' });
    });
    await runtime.settle();
    await runtime.deliver({ event: 'paid', key: 'k', data: 'early' });
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(await run.result()).toEqual({ out: 'early' });
  });

  test('that times out throws, and a late event changes nothing', async () => {
    const { runtime, run } = await started(async (flow) => {
      try {
        return await flow.event('paid', { key: 'k', timeout: '1h' });
      } catch (error) {
        return (error as OperationFailed).code;
      }
    });
    await runtime.advance('2h');
    expect(run.status()).toBe('completed');
    await runtime.deliver({ event: 'paid', key: 'k', data: 'late' });
    await runtime.settle();
    expect(await run.result()).toEqual({ out: 'STEP_TIMEOUT' });
  });

  test('for a person returns the answer, or throws on a rejection', async () => {
    const code = async (flow: Parameters<Parameters<typeof started>[0]>[0]) => {
      try {
        const { decision, by } = await flow.approval('release', {
          question: 'Release?',
          details: { to: 'all' },
        });
        return { decision, by };
      } catch (error) {
        return (error as OperationFailed).code;
      }
    };
    const yes = await started(code);
    await yes.runtime.settle();
    expect(yes.run.status()).toBe('awaiting_approval');
    await yes.runtime.decide(yes.run, 'approve', { by: 'ann' });
    await yes.runtime.runToEnd(yes.run);
    expect(await yes.run.result()).toEqual({ out: { decision: 'approve', by: 'ann' } });
    const no = await started(code);
    await no.runtime.settle();
    await no.runtime.decide(no.run, 'reject', { note: 'not today' });
    await no.runtime.runToEnd(no.run);
    expect(await no.run.result()).toEqual({ out: 'APPROVAL_REJECTED' });
  });

  test('for a person expires as its options say', async () => {
    const { runtime, run } = await started(async (flow) =>
      flow.approval('release', 'Release?', { timeout: '1h', onExpiry: 'approve' }),
    );
    await runtime.advance('2h');
    expect(await run.result()).toEqual({ out: { decision: 'approve' } });
    const halted = await started(async (flow) =>
      flow.approval('release', 'Release?', { timeout: '1h', onExpiry: 'halt' }),
    );
    await halted.runtime.advance('2h');
    expect(halted.run.status()).toBe('cancelled');
  });

  test('that lost a race is closed when the flow ends, and the run continues', async () => {
    let codes = 0;
    const { runtime, run } = await started(async (flow) => {
      codes += 1;
      return Promise.race([
        flow.event<string>('answer', { key: 'k' }),
        flow.sleep('patience', '1h').then(() => 'nobody came'),
      ]);
    });
    await runtime.settle();
    expect(run.waits()).toHaveLength(2);
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(await run.result()).toEqual({ out: 'nobody came' });
    expect(run.state().waits).toEqual([]);
    expect(run.step('main[answer]').status).toBe('skipped');
    expect(codes).toBe(2);
  });

  test('beside a body keeps the worker until the body has ended', async () => {
    const { runtime, run } = await started(async (flow) => {
      const [slept, worked] = await Promise.all([flow.sleep('s', '1h'), flow.step('b', () => 'worked')]);
      return [slept, worked];
    });
    await runtime.settle();
    expect(run.status()).toBe('waiting_external');
    expect(run.step('main[b]').status).toBe('succeeded');
    await runtime.runToEnd(run);
    expect(await run.result()).toEqual({ out: [null, 'worked'] });
  });

  test('receives recorded ends in the order in which they came', async () => {
    const orders: string[][] = [];
    const { runtime, run } = await started(async (flow) => {
      const order: string[] = [];
      orders.push(order);
      const wait = async (name: string) => {
        await flow.event(name, { key: 'k' });
        order.push(name);
        await flow.step('then', () => name);
      };
      await Promise.all([wait('a'), wait('b'), wait('c')]);
      return order;
    });
    await runtime.settle();
    for (const event of ['c', 'a', 'b']) {
      await runtime.deliver({ event, key: 'k' });
      await runtime.settle();
    }
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(await run.result()).toEqual({ out: ['c', 'a', 'b'] });
    expect(run.calls('main')).toBe(3);
  });

  const child = defineWorkflow({
    type: 'child',
    planVersion: 1,
    input: z.object({ n: z.number() }),
    run: async (flow, { n }) => {
      await flow.sleep('nap', '1h');
      if (n < 0) throw new Error('negative');
      return flow.step('double', () => n * 2);
    },
  });

  test('for a child returns its result, or throws its failure', async () => {
    const good = await ended(
      async (flow) => (await flow.child('c', child, { n: 4 })).output,
      {},
      { workflows: [child] },
    );
    expect(await good.run.result()).toEqual({ out: 8 });
    const bad = await ended(async (flow) => flow.child('c', child, { n: -1 }), {}, { workflows: [child] });
    expect(bad.run.error()).toMatchObject({ code: 'CHILD_FAILED' });
  });

  test('for a child that lost a race cancels the child', async () => {
    const { runtime, run } = await started(
      async (flow) => {
        const first = await Promise.race([
          flow.child('c', child, { n: 1 }).then(() => 'child'),
          flow.sleep('short', '1m').then(() => 'time'),
        ]);
        await flow.step('more', () => first);
        return first;
      },
      {},
      { workflows: [child] },
    );
    expect(await runtime.runToEnd(run)).toBe('completed');
    await runtime.advance('10m');
    expect(await run.result()).toEqual({ out: 'time' });
    const [, other] = runtime.runs();
    expect(other?.status()).toBe('cancelled');
  });
});
