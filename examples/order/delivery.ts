/**
 * The delivery of an order, as a flow: it asks the carrier twice a day until the parcel has arrived. If the parcel is lost or takes too
 * long, the order is refunded if a person agrees. The number of questions is not known in advance.
 */
import { defineBinding, defineCapability, defineWorkflow, OperationFailed } from 'cairn';
import { z } from 'zod';
import { refund, sendMail } from './payments.ts';

export const track = defineCapability({
  id: 'carrier.track',
  sideEffects: 'read',
  idempotency: 'not_supported',
  request: z.object({ parcel: z.string() }),
  response: z.object({ status: z.enum(['under_way', 'delivered', 'lost']) }),
});

/** A simulated carrier. A parcel with `lost` in its name is lost; one with `slow` never arrives. */
export const pretendedCarrier = defineBinding(track, {
  id: 'carrier.pretended',
  async call({ parcel }) {
    if (parcel.includes('lost')) return { status: 'lost' as const };
    return { status: parcel.includes('slow') ? ('under_way' as const) : ('delivered' as const) };
  },
});

/** Twice a day for two weeks. */
export const MAX_CHECKS = 28;

const Delivery = z.object({
  /** `parcel-lost` is lost; `parcel-slow` takes longer than the flow waits. */
  parcel: z.string().default('parcel-1'),
  chargeId: z.string().default('ch_1'),
  customer: z.string().default('ada@example.com'),
});

export const delivery = defineWorkflow({
  type: 'delivery',
  planVersion: 1,
  input: Delivery,
  uses: [track, refund, sendMail],
  run: async (flow, { parcel, chargeId, customer }) => {
    for (let check = 1; check <= MAX_CHECKS; check += 1) {
      const { status } = await flow.perform(track, { parcel });
      if (status === 'delivered') {
        await flow.perform(sendMail, { to: customer, text: `${parcel} is there.` });
        return { end: 'delivered' as const, checks: check };
      }
      if (status === 'lost') break;
      await flow.sleep('until-next', '12h');
    }
    try {
      const { by } = await flow.approval('refund', `${parcel} did not arrive. Refund ${customer}?`, {
        timeout: '3d',
      });
      await flow.perform(refund, { chargeId });
      await flow.perform(sendMail, {
        to: customer,
        text: `${parcel} did not arrive. You get your money back.`,
      });
      return { end: 'refunded' as const, by: by ?? null };
    } catch (error) {
      // A person rejected the refund, or nobody answered in time.
      if (error instanceof OperationFailed) return { end: 'kept' as const, why: error.code };
      throw error;
    }
  },
});
