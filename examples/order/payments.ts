/** Capabilities of an order: charges, refunds and mails. The bindings below are simulated; a shop replaces them with its provider's. */
import { type Binding, defineBinding, defineCapability, NotApplied } from 'cairn';
import { z } from 'zod';

const Charge = z.object({ orderId: z.string(), cents: z.number().int().positive(), card: z.string() });

export const charge = defineCapability({
  id: 'payments.charge',
  sideEffects: 'external_action',
  idempotency: 'required',
  request: Charge,
  response: z.object({ chargeId: z.string() }),
});

export const refund = defineCapability({
  id: 'payments.refund',
  sideEffects: 'external_action',
  idempotency: 'required',
  request: z.object({ chargeId: z.string() }),
  response: z.object({ refundId: z.string() }),
});

export const sendMail = defineCapability({
  id: 'mail.send',
  sideEffects: 'external_action',
  idempotency: 'required',
  request: z.object({ to: z.string(), text: z.string() }),
  response: z.object({ messageId: z.string() }),
});

/** The card that the simulated provider declines. */
export const DECLINED_CARD = 'card-declined';

/** The key determines the id, because a receiver that acts once per key repeats its first response. */
const named = (kind: string, key: string) => `${kind}_${key.slice(0, 12)}`;

export const pretendedBindings: readonly Binding[] = [
  defineBinding(charge, {
    id: 'payments.pretended',
    async call({ card }, { idempotencyKey }) {
      // Nothing was charged, and retrying is useless.
      if (card === DECLINED_CARD) throw new NotApplied('the card was declined', { final: true });
      return { chargeId: named('ch', idempotencyKey) };
    },
  }),
  defineBinding(refund, {
    id: 'payments.pretended-refund',
    call: async (_request, { idempotencyKey }) => ({ refundId: named('re', idempotencyKey) }),
  }),
  defineBinding(sendMail, {
    id: 'mail.pretended',
    call: async (_request, { idempotencyKey }) => ({ messageId: named('mail', idempotencyKey) }),
  }),
];
