/** Definitions of the deployed functions. Their handlers are in `http-handlers.ts` and `background-handlers.ts`, loaded by the first request. */
import { HttpsError, type HttpsOptions, onRequest } from 'firebase-functions/https';
import type { Expression } from 'firebase-functions/params';
import { onSchedule, type ScheduleOptions } from 'firebase-functions/scheduler';
import { onTaskDispatched } from 'firebase-functions/tasks';
import type { TaskRequest } from '../background-handlers.ts';
import { consoleFolder, isOfConsole } from '../console/location.ts';
import { aloneMember, type CairnInstallation, driveMember } from './installation.ts';
import { backgroundHandlers, httpHandlers } from './load-handlers.ts';
import type { DriveOptions, SecretOption } from './options.ts';
import { apiSizes, driveSizes, githubSizes, slackSizes } from './sizes.ts';

/**
 * Marks a function that uses only `method`, `url`, `headers`, `rawBody`, `body` and `header()` of its request, and the members of
 * `FunctionResponse`: the local cloud passes small requests to it without Express. Has no meaning elsewhere.
 */
const TAKES_WHOLE = Symbol.for('cairn:takes-whole-requests');

function takesWhole<F extends object>(one: F): F {
  return Object.assign(one, { [TAKES_WHOLE]: true });
}

export interface DeploymentTarget {
  readonly installation: CairnInstallation;
  readonly region: string | Expression<string>;
  /** Bound to the functions that run bodies. */
  readonly secrets: readonly SecretOption[];
}

/**
 * The HTTP API, all of `/v1`, and the console if the option is set. Public: it checks keys itself. The memory suffices for one start
 * with 32 MiB at a time.
 *
 * @throws Error if the console is enabled but its files are missing
 */
export function apiOf({ installation, region }: DeploymentTarget) {
  const hasConsole = installation.options.console === true;
  if (hasConsole) consoleFolder();
  const sizes = apiSizes(installation.options);
  const api = onRequest({ region, invoker: 'public', ...sizes }, async (request, response) => {
    if (hasConsole && isOfConsole(request.url)) {
      const { answerConsole } = await import('../console/site.ts');
      return answerConsole(request, response);
    }
    const { answerApi } = await httpHandlers();
    await answerApi(installation, request, response);
  });
  return hasConsole ? api : takesWhole(api);
}

/** GitHub's webhook. Public, because it verifies signatures itself. */
export function githubFunction(target: DeploymentTarget, secret: SecretOption) {
  return webhookOf(
    target,
    { ...githubSizes(target.installation.options), secrets: [secret] },
    'answerGithub',
  );
}

/** Slack's commands and buttons. Public, because it verifies signatures itself. */
export function slackFunction(target: DeploymentTarget, secret: SecretOption) {
  return webhookOf(target, { ...slackSizes(target.installation.options), secrets: [secret] }, 'answerSlack');
}

function webhookOf(
  { installation, region }: DeploymentTarget,
  options: HttpsOptions,
  answer: 'answerGithub' | 'answerSlack',
) {
  return takesWhole(
    onRequest({ region, invoker: 'public', memory: '512MiB', ...options }, async (request, response) =>
      (await httpHandlers())[answer](installation, request, response),
    ),
  );
}

/** The first retry is soon, because it takes over the run of a dead instance. Retries of lasting failures become rare. */
const RETRIES = { maxAttempts: 100, minBackoffSeconds: 0.1, maxBackoffSeconds: 60 };
/** Largest rate that a queue may have. */
const DISPATCHES_PER_SECOND = 500;
const ALONE_DISPATCHES_PER_SECOND = 100;

/**
 * Functions that execute one run per dispatch. The queue retries a failed dispatch; when it gives up, the scan
 * finds the run. The second function is for runs whose worker died: one at a time per instance, so that no other run dies with
 * it.
 *
 * They name no invoker: each deployment would replace the binding that lets the queue call them (`private` would remove it).
 * Without an invoker, the services are private and the binding remains.
 *
 * @param pool drive class of the workflows; absent: workflows without a class
 */
export function drivesOf(
  { installation, region, secrets }: DeploymentTarget,
  options: DriveOptions,
  pool?: string,
) {
  const { concurrency, minInstances, queuePlaces, ...sizes } = driveSizes(
    installation.options,
    options,
    pool,
  );
  const { cpu } = options;
  const rates = { maxConcurrentDispatches: queuePlaces, maxDispatchesPerSecond: DISPATCHES_PER_SECOND };
  // An instance serves one dispatch. A larger limit would cause refused dispatches; a smaller one would leave instances unused.
  const aloneRates = {
    maxConcurrentDispatches: sizes.maxInstances,
    maxDispatchesPerSecond: ALONE_DISPATCHES_PER_SECOND,
  };
  const common = {
    region,
    ...sizes,
    secrets: [...secrets],
    retryConfig: RETRIES,
    ...(cpu === undefined ? {} : { cpu }),
  };
  const dispatched = (alone: boolean) => async (request: TaskRequest) => {
    const { driveTask } = await backgroundHandlers();
    const outcome = await driveTask(installation, request, { alone, pool });
    // Neither 429 nor 5xx, which slow down the whole queue and would count as a crash of the instance.
    if (outcome === 'later') throw new HttpsError('aborted', 'the run could not be dispatched now');
  };
  return {
    [driveMember(pool)]: takesWhole(
      onTaskDispatched({ ...common, concurrency, minInstances, rateLimits: rates }, dispatched(false)),
    ),
    [aloneMember(pool)]: takesWhole(
      onTaskDispatched({ ...common, concurrency: 1, rateLimits: aloneRates }, dispatched(true)),
    ),
  };
}

/** Scheduled functions. Each run may overlap with another or be interrupted; the next run continues. */
export function ticksOf({ installation, region }: DeploymentTarget) {
  const every = (
    minutes: 1 | 30 | 60,
    options: Pick<ScheduleOptions, 'timeoutSeconds' | 'memory'>,
    tick: 'recover' | 'fireDueSchedules' | 'checkSample' | 'deleteOldRuns',
  ) =>
    takesWhole(
      onSchedule({ schedule: `every ${minutes} minutes`, region, ...options }, async () =>
        (await backgroundHandlers())[tick](installation),
      ),
    );
  return {
    /** Recovers overdue runs. The timeout leaves a minute for work in progress after a tick stops. */
    recoverRuns: every(1, { timeoutSeconds: 120, memory: '512MiB' }, 'recover'),
    /** Starts the runs of schedules that are due. */
    fireSchedules: every(1, { timeoutSeconds: 120 }, 'fireDueSchedules'),
    /** Verifies a sample of runs each hour and logs problems. Only reads. The memory suffices for one large value at a time. */
    checkRuns: every(60, { timeoutSeconds: 300, memory: '1GiB' }, 'checkSample'),
    /** Deletes runs past their retention period. */
    deleteExpired: every(30, { timeoutSeconds: 540 }, 'deleteOldRuns'),
  };
}
