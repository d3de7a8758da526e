/**
 * The functions of the project without `checkRuns`, which reads whole runs from time to time and would distort counts of reads.
 */
export {
  api,
  deleteExpired,
  drive,
  driveAlone,
  fireSchedules,
  githubWebhook,
  pubsub,
  recoverRuns,
  slackWebhook,
} from '../../functions/src/index.ts';
