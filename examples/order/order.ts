/**
 * An order of a shop: stock is reserved, a person agrees to a large amount, the card is charged, the parcel leaves, the customer is
 * told. What fails after the charge is undone in reverse order. The input `{}` is a small order that needs nobody.
 */
import { defineWorkflow, Fatal } from 'cairn';
import { z } from 'zod';
import { charge, refund, sendMail } from './payments.ts';

/** From this amount a person must agree. */
export const LARGE_CENTS = 50_000;

const Order = z.object({
  orderId: z.string().default('order-1'),
  amountCents: z.number().int().positive().default(4_900),
  customer: z.string().default('ada@example.com'),
  /** `card-declined` is declined. */
  card: z.string().default('card-1'),
  /** Nothing can be sent to `nowhere`. */
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
      // The parcel is on its way, whether or not the mail is.
      { needs: { shipped }, uses: [sendMail], onFailure: 'skip' },
      ({ input, shipped, perform }) =>
        perform(sendMail, { to: input.customer, text: `${shipped.parcel} is on its way` }),
    );
    return { charged, shipped, told };
  },
});
