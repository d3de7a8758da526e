/**
 * The project's own functions but for `checkRuns`, for who counts what runs read: it reads whole runs, now and then, and its
 * reads come in between.
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
