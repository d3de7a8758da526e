/** This repository's own installation: the shipped workflows, with all features of Cairn enabled. */
import { cairnFunctions } from 'cairn/functions';
import { installation } from './installation.ts';

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
} = cairnFunctions(installation);
