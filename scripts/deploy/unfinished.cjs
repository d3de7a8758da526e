/**
 * Finds deployed functions whose queue, job or public access is missing or differs, because a deployment changes the function
 * first and may fail afterwards. Only reads. Unreadable resources count as existing.
 */

/** Concurrently checked functions; a project may have a hundred. */
const AT_ONCE = 10;
const INVOKER = 'roles/run.invoker';
/**
 * Google's defaults for absent members of a job
 * (https://cloud.google.com/scheduler/docs/reference/rest/v1/projects.locations.jobs).
 */
const ATTEMPT_DEADLINE = '180s';
const RETRY_CONFIG = {
  retryCount: 0,
  maxRetryDuration: '0s',
  minBackoffDuration: '5s',
  maxBackoffDuration: '3600s',
  maxDoublings: 5,
};

/**
 * @param pairs `{ want, have }` of unchanged functions: endpoints of the sources and of the deployment
 * @param numberOf resolves to the project number; its default account calls functions without an account
 * @param tools loads modules of firebase-tools
 * @returns pairs with a description of what the function lacks
 */
async function unfinished(pairs, numberOf, tools) {
  const lib = (name) => tools(`firebase-tools/lib/${name}`);
  const seen = {
    tasks: lib('gcp/cloudtasks'),
    scheduler: lib('gcp/cloudscheduler'),
    run: lib('gcp/run'),
    numberOf,
  };
  const found = [];
  for (let from = 0; from < pairs.length; from += AT_ONCE) {
    const some = pairs.slice(from, from + AT_ONCE);
    const lacks = await Promise.all(some.map((pair) => lackOf(pair, seen)));
    for (const [at, what] of lacks.entries()) if (what) found.push({ ...some[at], what });
  }
  return found;
}

async function lackOf({ want, have }, { tasks, scheduler, run, numberOf }) {
  if (want.taskQueueTrigger) {
    const wanted = tasks.queueFromEndpoint(want);
    const queue = await found(() => tasks.getQueue(wanted.name));
    if (queue === 'absent') return 'its queue';
    // The deletion of the function failed after its queue, and the sources have the function again.
    if (queue?.state === 'DISABLED') return 'an enabled queue';
    return queue && !hasSettings(queue, wanted) ? 'the settings of its queue' : undefined;
  }
  if (want.scheduleTrigger) {
    const wanted = await scheduler.jobFromEndpoint(want, want.region, await numberOf());
    const job = await found(() => scheduler.getJob(wanted.name));
    if (job === 'absent') return 'its job';
    return job && !isScheduled(job.body ?? job, wanted) ? 'the settings of its job' : undefined;
  }
  if (want.httpsTrigger?.invoker?.includes('private')) return undefined;
  return (await isClosed(have, run)) ? 'who may call it' : undefined;
}

/** Compares the wanted settings; Google adds others. */
function hasSettings(queue, wanted) {
  return ['rateLimits', 'retryConfig'].every((part) =>
    Object.entries(wanted[part] ?? {}).every(([name, value]) => isSame(queue[part]?.[name], value)),
  );
}

/** Google writes `0.100s` for `0.1s`, and omits zeros. */
function isSame(one, other) {
  return Number.parseFloat(one ?? 0) === Number.parseFloat(other ?? 0);
}

/** The account is the default one for functions without an account, even if they had another before. */
function isScheduled(job, wanted) {
  return (
    job.schedule === wanted.schedule &&
    job.timeZone === wanted.timeZone &&
    callerOf(job) === callerOf(wanted) &&
    isLeft(job.attemptDeadline, wanted.attemptDeadline, ATTEMPT_DEADLINE) &&
    Object.entries(RETRY_CONFIG).every(([name, standard]) =>
      isLeft(job.retryConfig?.[name], wanted.retryConfig?.[name], standard),
    )
  );
}

const callerOf = ({ httpTarget }) => httpTarget?.oidcToken?.serviceAccountEmail;

/** firebase-tools does not change undefined settings, and resets null settings to Google's default. */
function isLeft(one, wanted, standard) {
  if (wanted === undefined) return true;
  if (wanted !== null) return isSame(one, wanted);
  return isSame(one, standard) || isSame(one, 0);
}

/** True if the public may not call an HTTP function. */
async function isClosed({ httpsTrigger, project, region, runServiceId }, run) {
  if (!httpsTrigger || !runServiceId) return false;
  const service = `projects/${project}/locations/${region}/services/${runServiceId}`;
  const { bindings = [] } = await run.getIamPolicy(service).catch(() => ({ bindings: [{ role: INVOKER }] }));
  return !bindings.some(({ role }) => role === INVOKER);
}

/** Undefined if the resource cannot be read. firebase-tools returns some 404 responses and throws others. */
async function found(get) {
  try {
    const answer = await get();
    return answer?.status === 404 ? 'absent' : answer?.status >= 400 ? undefined : answer;
  } catch (error) {
    return error.status === 404 ? 'absent' : undefined;
  }
}

module.exports = { unfinished };
