/** The shop's own workflow: charges an order that its function `orders` accepted, and records this in the order. */
import { createHmac } from 'node:crypto';
import { defineWorkflow, Fatal } from 'cairn';
import { getApps, initializeApp } from 'firebase-admin/app';
import { FieldValue, getFirestore } from 'firebase-admin/firestore';
import { defineSecret } from 'firebase-functions/params';
import { z } from 'zod';

export const STRIPE_KEY = defineSecret('STRIPE_KEY');

/** The order is in the shop's database, not in Cairn's. */
const orderOf = ({ orderId }) =>
  getFirestore(getApps()[0] ?? initializeApp())
    .collection('orders')
    .doc(orderId);

export const chargeOrder = defineWorkflow({
  type: 'charge-order',
  planVersion: 1,
  input: z.object({ orderId: z.string() }),
  steps(step) {
    const order = step('order', async ({ input }) => {
      const found = await orderOf(input).get();
      if (!found.exists) throw new Fatal(`there is no order ${input.orderId}`);
      return { amountCents: found.get('amountCents') };
    });
    const charge = step('charge', { needs: { order } }, ({ input, order }) => ({
      signature: createHmac('sha256', STRIPE_KEY.value()).update(input.orderId).digest('hex'),
      paidCents: order.amountCents,
    }));
    const paid = step('paid', { needs: { charge } }, async ({ input, charge }) => {
      await orderOf(input).update({ state: 'paid', paidAt: FieldValue.serverTimestamp() });
      const state = (await orderOf(input).get()).get('state');
      return { state, ...charge };
    });
    return { paid };
  },
});
