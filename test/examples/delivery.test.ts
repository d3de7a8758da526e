import { describe, expect, test } from '@jest/globals';
import { defineBinding } from 'cairn';
import { createTestRuntime } from 'cairn/testing';
import { delivery, MAX_CHECKS, track } from '../../examples/order/delivery.ts';
import { pretendedBindings } from '../../examples/order/payments.ts';

type Status = 'under_way' | 'delivered' | 'lost';

async function following(...statuses: Status[]) {
  const binding = defineBinding(track, {
    id: 'carrier.pretended',
    call: async () => ({ status: statuses.shift() ?? 'under_way' }),
  });
  const runtime = createTestRuntime({ workflows: [delivery], bindings: [...pretendedBindings, binding] });
  const run = await runtime.start('delivery', { parcel: 'parcel-1', chargeId: 'ch_1', customer: 'ada' });
  const tracked = () => run.steps().filter(({ id }) => id.startsWith('flow[carrier.track')).length;
  return { runtime, run, tracked };
}

describe('a delivery', () => {
  test('is tracked until the parcel arrives, even across a crash, and the customer is told once', async () => {
    const { runtime, run, tracked } = await following('under_way', 'under_way', 'delivered');
    runtime.crashAfter('flow[mail.send]');
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(await run.result()).toEqual({ output: { end: 'delivered', checks: 3 } });
    expect(tracked()).toBe(3);
    expect(run.effects().filter(({ status }) => status === 'recorded')).toHaveLength(1);
  });

  test('that is lost is refunded when a person approves', async () => {
    const { runtime, run } = await following('lost');
    await runtime.settle();
    expect(run.waits()).toMatchObject([{ step: 'flow[refund]', kind: 'approval' }]);
    await runtime.decide(run, 'approve', { by: 'u.bob' });
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(await run.result()).toEqual({ output: { end: 'refunded', by: 'u.bob' } });
  });

  test('that takes too long is asked about, and not refunded when nobody answers', async () => {
    const { runtime, run, tracked } = await following();
    await runtime.advance('30d');
    expect(run.status()).toBe('completed');
    expect(tracked()).toBe(MAX_CHECKS);
    expect(await run.result()).toEqual({ output: { end: 'kept', why: 'APPROVAL_EXPIRED' } });
    expect(run.effects()).toEqual([]);
  });
});
