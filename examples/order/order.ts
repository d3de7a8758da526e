/**
 * An order of a shop: it reserves stock, asks a person to approve a large amount, charges the card, ships the parcel and notifies the
 * customer. If a step fails after the charge, the earlier steps are undone in reverse order. The input `{}` is a small order without approval.
 */
import { defineWorkflow, Fatal } from 'cairn';
import { z } from 'zod';
import { charge, refund, sendMail } from './payments.ts';

/** Amount from which a person must approve. */
export const LARGE_CENTS = 50_000;

const Order = z.object({
  orderId: z.string().default('order-1'),
  amountCents: z.number().int().positive().default(4_900),
  customer: z.string().default('ada@example.com'),
  /** `card-declined` is declined. */
  card: z.string().default('card-1'),
  /** Shipping to `nowhere` fails. */
  address: z.string().default('1 Main Street'),
});

const euros = (cents: number) => `${(cents / 100).toFixed(2)} EUR`;

export const order = defineWorkflow({
  type: 'order',
  planVersion: 1,
  input: Order,
  timeout: '7d',
  steps(step) {
    const reserved = step(
      'reserve',
      {
        output: z.object({ reservation: z.string() }),
        compensate: ({ log, output }) => log(`${output.reservation} is free again`),
      },
      ({ input }) => ({ reservation: `stock-${input.orderId}` }),
    );
    const agreed = step.approval('agree', {
      needs: { reserved },
      when: ({ input }) => input.amountCents >= LARGE_CENTS,
      ask: ({ input }) => ({
        question: `Charge ${input.customer} ${euros(input.amountCents)}?`,
        details: { order: input.orderId, card: input.card },
      }),
      timeout: '2d',
    });
    const charged = step(
      'charge',
      {
        needs: { agreed },
        ifSkipped: 'run',
        uses: [charge, refund],
        output: charge.response,
        timeout: '30s',
        async compensate({ output, perform }) {
          await perform(refund, { chargeId: output.chargeId });
        },
      },
      ({ input, perform }) =>
        perform(charge, { orderId: input.orderId, cents: input.amountCents, card: input.card }),
    );
    const shipped = step('ship', { needs: { reserved, charged } }, ({ input, reserved }) => {
      if (input.address === 'nowhere') throw new Fatal(`nothing can be sent to '${input.address}'`);
      return { parcel: `parcel-${reserved.reservation}` };
    });
    const told = step(
      'tell-customer',
      // A failed mail does not matter: the parcel is on its way.
      { needs: { shipped }, uses: [sendMail], onFailure: 'skip' },
      ({ input, shipped, perform }) =>
        perform(sendMail, { to: input.customer, text: `${shipped.parcel} is on its way` }),
    );
    return { charged, shipped, told };
  },
});
