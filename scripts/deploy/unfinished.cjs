/**
 * Finds deployed functions whose queue, job or public access is missing: a deployment makes the function first and may fail after it. Reads
 * only. Whatever the caller may not see counts as being there.
 */

/** Functions asked about at once: a project may have a hundred. */
const AT_ONCE = 10;
const INVOKER = 'roles/run.invoker';

/**
 * @param endpoints deployed functions, as firebase-tools describes them
 * @param tools loads modules of firebase-tools
 * @returns functions with what they lack, in words
 */
async function unfinished(endpoints, tools) {
  const lib = (name) => tools(`firebase-tools/lib/${name}`);
  const seen = { tasks: lib('gcp/cloudtasks'), scheduler: lib('gcp/cloudscheduler'), run: lib('gcp/run') };
  const found = [];
  const current = endpoints.filter(({ platform, hash }) => platform === 'gcfv2' && hash);
  for (let from = 0; from < current.length; from += AT_ONCE) {
    const some = current.slice(from, from + AT_ONCE);
    const lacks = await Promise.all(some.map((endpoint) => lackOf(endpoint, seen)));
    for (const [at, what] of lacks.entries()) if (what) found.push({ endpoint: some[at], what });
  }
  return found;
}

async function lackOf(endpoint, { tasks, scheduler, run }) {
  if (endpoint.taskQueueTrigger) {
    const queue = tasks.queueNameForEndpoint(endpoint);
    return (await isAbsent(() => tasks.getQueue(queue))) ? 'its queue' : undefined;
  }
  if (endpoint.scheduleTrigger) {
    const job = scheduler.jobNameForEndpoint(endpoint, endpoint.region);
    return (await isAbsent(() => scheduler.getJob(job))) ? 'its job' : undefined;
  }
  return (await isClosed(endpoint, run)) ? 'who may call it' : undefined;
}

/** True if nobody may call a function that is called by HTTP. */
async function isClosed({ httpsTrigger, project, region, runServiceId }, run) {
  if (!httpsTrigger || !runServiceId) return false;
  const service = `projects/${project}/locations/${region}/services/${runServiceId}`;
  const { bindings = [] } = await run.getIamPolicy(service).catch(() => ({ bindings: [{ role: INVOKER }] }));
  return !bindings.some(({ role }) => role === INVOKER);
}

/** firebase-tools returns some answers of 404 and throws others. */
async function isAbsent(get) {
  try {
    const answer = await get();
    return answer?.status === 404;
  } catch (error) {
    return error.status === 404;
  }
}

module.exports = { unfinished };
