/**
 * Finds deployed functions whose queue, job or public access is missing or is not as wanted: a deployment changes the function first and may
 * fail after it. Reads only. Whatever the caller may not see counts as being there.
 */

/** Functions asked about at once: a project may have a hundred. */
const AT_ONCE = 10;
const INVOKER = 'roles/run.invoker';

/**
 * @param pairs `{ want, have }`: functions that are unchanged, as the sources have them and as they are deployed, in firebase-tools' words
 * @param tools loads modules of firebase-tools
 * @returns pairs with what the function lacks, in words
 */
async function unfinished(pairs, tools) {
  const lib = (name) => tools(`firebase-tools/lib/${name}`);
  const seen = { tasks: lib('gcp/cloudtasks'), scheduler: lib('gcp/cloudscheduler'), run: lib('gcp/run') };
  const found = [];
  for (let from = 0; from < pairs.length; from += AT_ONCE) {
    const some = pairs.slice(from, from + AT_ONCE);
    const lacks = await Promise.all(some.map((pair) => lackOf(pair, seen)));
    for (const [at, what] of lacks.entries()) if (what) found.push({ ...some[at], what });
  }
  return found;
}

async function lackOf({ want, have }, { tasks, scheduler, run }) {
  if (want.taskQueueTrigger) {
    const wanted = tasks.queueFromEndpoint(want);
    const queue = await found(() => tasks.getQueue(wanted.name));
    if (queue === 'absent') return 'its queue';
    return queue && !hasSettings(queue, wanted) ? 'the settings of its queue' : undefined;
  }
  if (want.scheduleTrigger) {
    const job = await found(() => scheduler.getJob(scheduler.jobNameForEndpoint(want, want.region)));
    if (job === 'absent') return 'its job';
    return job && !isScheduled(job.body ?? job, want) ? 'the settings of its job' : undefined;
  }
  return (await isClosed(have, run)) ? 'who may call it' : undefined;
}

/** Settings that the caller names; Google adds others. */
function hasSettings(queue, wanted) {
  return ['rateLimits', 'retryConfig'].every((part) =>
    Object.entries(wanted[part] ?? {}).every(([name, value]) => isSame(queue[part]?.[name], value)),
  );
}

/** Google writes `0.100s` for `0.1s`, and leaves out what is 0. */
function isSame(one, other) {
  return Number.parseFloat(one ?? 0) === Number.parseFloat(other ?? 0);
}

function isScheduled({ schedule, httpTarget }, { scheduleTrigger, serviceAccount }) {
  const account = httpTarget?.oidcToken?.serviceAccountEmail;
  return schedule === scheduleTrigger.schedule && (!serviceAccount || account === serviceAccount);
}

/** True if nobody may call a function that is called by HTTP. */
async function isClosed({ httpsTrigger, project, region, runServiceId }, run) {
  if (!httpsTrigger || !runServiceId) return false;
  const service = `projects/${project}/locations/${region}/services/${runServiceId}`;
  const { bindings = [] } = await run.getIamPolicy(service).catch(() => ({ bindings: [{ role: INVOKER }] }));
  return !bindings.some(({ role }) => role === INVOKER);
}

/** Undefined: it cannot be seen. firebase-tools returns some answers of 404 and throws others. */
async function found(get) {
  try {
    const answer = await get();
    return answer?.status === 404 ? 'absent' : answer?.status >= 400 ? undefined : answer;
  } catch (error) {
    return error.status === 404 ? 'absent' : undefined;
  }
}

module.exports = { unfinished };
