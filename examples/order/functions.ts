/** Functions that `npm start` serves: this repository's own installation, with the order and its delivery added. */
import { cairnFunctions } from 'cairn/functions';
import { installation } from '../../functions/src/installation.ts';
import { delivery, pretendedCarrier } from './delivery.ts';
import { order } from './order.ts';
import { pretendedBindings } from './payments.ts';

export const {
  api,
  githubWebhook,
  slackWebhook,
  drive,
  driveAlone,
  recoverRuns,
  fireSchedules,
  checkRuns,
  deleteExpired,
  pubsub,
} = cairnFunctions({
  ...installation,
  workflows: async () => [...(await installation.workflows()), order, delivery],
  bindings: async () => [...(await installation.bindings()), ...pretendedBindings, pretendedCarrier],
});
