/** The functions of Cairn, with the shop's own workflow and secret in place of the example. */
import { cairnFunctions } from 'cairn/functions';
import { chargeOrder, STRIPE_KEY } from './workflows/charge-order.js';

export const cairn = cairnFunctions({
  workflows: [chargeOrder],
  secrets: [STRIPE_KEY],
  database: 'cairn',
  managedAccount: true,
});
