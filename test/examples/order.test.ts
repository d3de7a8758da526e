import { beforeEach, describe, expect, test } from '@jest/globals';
import { createTestRuntime, expectJournal } from 'cairn/testing';
import { LARGE_CENTS, order } from '../../examples/order/order.ts';
import { DECLINED_CARD, pretendedBindings } from '../../examples/order/payments.ts';

let runtime: ReturnType<typeof createTestRuntime>;
beforeEach(() => {
  runtime = createTestRuntime({ workflows: [order], bindings: [...pretendedBindings] });
});

describe('an order', () => {
  test('without any input is a small one: it is charged, shipped and announced, and asks nobody', async () => {
    const run = await runtime.start('order', {});
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(await run.result()).toMatchObject({
      charged: { chargeId: expect.stringMatching(/^ch_/) },
      shipped: { parcel: 'parcel-stock-order-1' },
      told: { messageId: expect.stringMatching(/^mail_/) },
    });
    expectJournal(run.journal()).toHave('wait_opened', 0);
  });

  test('of a large amount waits for a person before anything is charged', async () => {
    const run = await runtime.start('order', { amountCents: LARGE_CENTS });
    await runtime.settle();
    expect(run.calls('charge')).toBe(0);
    await runtime.decide(run, 'approve', { by: 'u.ada' });
    expect(await runtime.runToEnd(run)).toBe('completed');
    expectJournal(run.journal()).toHaveDecided('agree', 'approve');
  });

  test('that cannot be shipped is refunded, and then its stock is released', async () => {
    const run = await runtime.start('order', { address: 'nowhere' });
    expect(await runtime.runToEnd(run)).toBe('failed');
    expectJournal(run.journal()).toHaveCompensated('charge', 'reserve');
  });

  test('whose card is declined is charged nothing, so nothing is refunded', async () => {
    const run = await runtime.start('order', { card: DECLINED_CARD });
    expect(await runtime.runToEnd(run)).toBe('failed');
    expectJournal(run.journal()).toHaveCompensated('reserve');
  });

  test('is charged once, although its process dies during the charge', async () => {
    const run = await runtime.start('order', {});
    runtime.crashAfter('charge');
    expect(await runtime.runToEnd(run)).toBe('completed');
    expectJournal(run.journal()).toHave('orphan_detected', 1).toHave('effect_attempted', 2);
  });
});
