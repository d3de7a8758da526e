/**
 * The functions that are deployed, nothing else. Everything heavy is loaded by the first request, so that this module
 * stays cheap to read for `firebase deploy` and on a cold start.
 */
import { HttpsError, onRequest } from 'firebase-functions/https';
import { onSchedule } from 'firebase-functions/scheduler';
import { onTaskDispatched } from 'firebase-functions/tasks';
import { messageFunctions, SHIPPED_TOPICS } from './platform/message-functions.ts';
import { githubToken, githubWebhookSecret, region, slackSigningSecret } from './platform/params.ts';

/** The HTTP API, all of `/v1`. Open to everybody: it checks keys itself. Memory for one start with 32 MiB at a time. */
export const api = onRequest({ region, invoker: 'public', memory: '1GiB' }, async (request, response) => {
  const { answerApi } = await import('./platform/doors.ts');
  await answerApi(request, response);
});

/** GitHub's webhook. Open to everybody: it checks signatures itself. */
export const githubWebhook = onRequest(
  { region, invoker: 'public', memory: '512MiB', secrets: [githubWebhookSecret] },
  async (request, response) => {
    const { answerGithub } = await import('./platform/doors.ts');
    await answerGithub(request, response);
  },
);

/** Slack's commands and buttons. Open to everybody: it checks signatures itself. */
export const slackWebhook = onRequest(
  { region, invoker: 'public', memory: '512MiB', secrets: [slackSigningSecret] },
  async (request, response) => {
    const { answerSlack } = await import('./platform/doors.ts');
    await answerSlack(request, response);
  },
);

/**
 * Moves one run. A failed dispatch is repeated by the queue; when that gives up, the scan finds the run. Rates are the
 * most a queue may have.
 */
export const drive = onTaskDispatched(
  {
    region,
    invoker: 'private',
    memory: '1GiB',
    timeoutSeconds: 540,
    concurrency: 80,
    secrets: [githubToken],
    retryConfig: { maxAttempts: 100, minBackoffSeconds: 1, maxBackoffSeconds: 60 },
    rateLimits: { maxConcurrentDispatches: 1_000, maxDispatchesPerSecond: 500 },
  },
  async ({ data }) => {
    const { driveTask } = await import('./platform/doors.ts');
    const outcome = await driveTask(data);
    if (outcome === 'later') throw new HttpsError('unavailable', 'the run could not be moved now');
  },
);

/** Finds runs that nobody touched in time. Safe to run twice at once. */
export const recoverRuns = onSchedule(
  { schedule: 'every 1 minutes', region, timeoutSeconds: 60 },
  async () => {
    const { recover } = await import('./platform/doors.ts');
    await recover();
  },
);

/** Starts the runs of schedules that are due. Safe to run twice at once, and to be cut off: the next minute goes on. */
export const fireSchedules = onSchedule(
  { schedule: 'every 1 minutes', region, timeoutSeconds: 120 },
  async () => {
    const { fireDueSchedules } = await import('./platform/doors.ts');
    await fireDueSchedules();
  },
);

/** Looks at some runs each hour, and logs what is wrong with them. Reads only. Memory for one large value at a time. */
export const checkRuns = onSchedule(
  { schedule: 'every 60 minutes', region, timeoutSeconds: 300, memory: '1GiB' },
  async () => {
    const { checkSample } = await import('./platform/doors.ts');
    await checkSample();
  },
);

/** Deletes runs that have been kept long enough. Safe to run twice at once, and to be cut off: the next one goes on. */
export const deleteExpired = onSchedule(
  { schedule: 'every 30 minutes', region, timeoutSeconds: 540 },
  async () => {
    const { deleteOldRuns } = await import('./platform/doors.ts');
    await deleteOldRuns();
  },
);

/** One function for each Pub/Sub topic whose messages the shipped workflows take. */
export const pubsub = messageFunctions(SHIPPED_TOPICS);
