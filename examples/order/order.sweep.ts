/**
 * Crashes the order at every call: `npm run cairn -- sweep examples/order/order.sweep.ts`. The stand-ins act once per key, like the real
 * provider, and record their actions.
 */

import { defineBinding } from 'cairn';
import { type Arranged, defineSweep, type TestRuntime } from 'cairn/testing';
import { LARGE_CENTS, order } from './order.ts';
import { charge, refund, sendMail } from './payments.ts';

function arrange(perform: (runtime: TestRuntime) => Promise<void>): Arranged {
  const done = new Map<string, string>();
  const once = (key: string, action: string) => {
    done.set(key, action);
    return key.slice(0, 12);
  };
  return {
    workflows: [order],
    bindings: [
      defineBinding(charge, {
        id: 'payments.recorded',
        call: async ({ cents }, { idempotencyKey }) => ({
          chargeId: once(idempotencyKey, `charge ${cents}`),
        }),
      }),
      defineBinding(refund, {
        id: 'payments.recorded-refund',
        call: async (_request, { idempotencyKey }) => ({ refundId: once(idempotencyKey, 'refund') }),
      }),
      defineBinding(sendMail, {
        id: 'mail.recorded',
        call: async ({ to }, { idempotencyKey }) => ({ messageId: once(idempotencyKey, `mail to ${to}`) }),
      }),
    ],
    perform,
    actions: () => [...done.values()],
  };
}

export const largeOrder = defineSweep({
  name: 'a large order',
  arrange: () =>
    arrange(async (runtime) => {
      const run = await runtime.start('order', { amountCents: LARGE_CENTS });
      await runtime.runUntilBlocked(run);
      await runtime.decide(run, 'approve');
      await runtime.runToEnd(run);
    }),
});

export const undoneOrder = defineSweep({
  name: 'an order that cannot be shipped',
  arrange: () =>
    arrange(async (runtime) => {
      await runtime.runToEnd(await runtime.start('order', { address: 'nowhere' }));
    }),
});
