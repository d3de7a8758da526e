/** Functions that `npm start -- --functions` serves: this repository's own installation, with the agent added. */
import { cairnFunctions } from 'cairn/functions';
import { installation } from '../../functions/src/installation.ts';
import { pretendedPublisher, research } from './agent.ts';

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
  workflows: async () => [...(await installation.workflows()), research],
  bindings: async () => [...(await installation.bindings()), pretendedPublisher],
});
