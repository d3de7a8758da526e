/** This repository's own installation: the shipped workflows, and all that Cairn has. */
import { cairnFunctions } from 'cairn/functions';

const shipped = () => import('./shipped.ts');

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
  workflows: async () => (await shipped()).installedWorkflows(),
  bindings: async () => (await shipped()).installedBindings(),
  github: true,
  slack: true,
  topics: ['cloud-builds', 'deploy-requests'],
  parameters: true,
});
