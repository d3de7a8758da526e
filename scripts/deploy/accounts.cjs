/**
 * Corrects the handling of the service account that firebase-tools creates for a codebase (`managedAccount`). If every function
 * of the first deployment fails, firebase-tools deletes the account although existing functions may use it, and later deployments
 * fail. If the first deployment is interrupted before it creates a function, the next one creates another account. It also leaves
 * scheduler jobs with the previous account, does not restore roles that were removed from the account, and does not remove roles
 * if the deployment that should have removed them failed.
 */

const MANAGED = /^firebase-fn-/;
/** Label of functions: a hash of the roles that they were deployed with. */
const ETAG = 'firebase-declarative-security-etag';

/**
 * Removes a deleted account from deployed functions, so that a new one is created and gets its roles.
 *
 * @param endpoints deployed functions, as firebase-tools describes them
 * @returns the accounts
 */
async function forgetDeletedAccounts(endpoints, tools) {
  const iam = tools('firebase-tools/lib/gcp/iam');
  const accounts = new Set(
    endpoints.map(({ serviceAccount }) => serviceAccount).filter((one) => MANAGED.test(one)),
  );
  const gone = [];
  for (const account of accounts) {
    const own = endpoints.filter(({ serviceAccount }) => serviceAccount === account);
    if (!(await isGone(iam, own[0].project, account))) continue;
    gone.push(account);
    for (const endpoint of own) {
      delete endpoint.serviceAccount;
      delete endpoint.hash;
      delete endpoint.labels?.[ETAG];
    }
  }
  return gone;
}

/**
 * True if functions use the account: functions created by a deployment that failed later, or by a concurrent one. Also true if
 * functions cannot be listed.
 */
async function isInUse(project, account, tools) {
  const { functions, unreachable } = await tools('firebase-tools/lib/gcp/cloudfunctionsv2').listAllFunctions(
    project,
  );
  return (
    unreachable.length > 0 || functions.some((one) => one.serviceConfig?.serviceAccountEmail === account)
  );
}

/**
 * Name of an account that a deployment of the codebase created before it was interrupted: no function uses it. Undefined if there
 * is none, or if accounts cannot be listed. That of another codebase has other roles.
 */
async function unusedAccount(project, codebase, tools) {
  const { Client } = tools('firebase-tools/lib/apiv2');
  const client = new Client({ urlPrefix: 'https://iam.googleapis.com', apiVersion: 'v1', auth: true });
  // 100 is the maximum of a page, and the number of accounts that a project may have by default.
  const response = await client
    .get(`projects/${project}/serviceAccounts?pageSize=100`)
    .catch(unlessForbidden);
  const created = `Managed by Firebase CLI for codebase ${codebase}`;
  for (const { email, description, disabled } of response?.body.accounts ?? [])
    if (MANAGED.test(email) && !disabled && description === created)
      if (!(await isInUse(project, email, tools))) return email.split('@')[0];
  return undefined;
}

/** False if the caller may not read the account. */
async function isGone(iam, project, account) {
  try {
    await iam.getServiceAccount(project, account.split('@')[0]);
    return false;
  } catch (error) {
    return error.status === 404;
  }
}

/**
 * Compares roles of the account with those that the plan of firebase-tools takes for granted, because it knows only the roles of
 * the last deployment. The account may have a lost role still through a folder, a group or a single service.
 *
 * @param plan input of a deployment plan of firebase-tools
 * @returns `lost`: required roles that the project no longer grants; `left`: roles that a deployment did not remove because it
 *   failed, after which some functions still have the label of the earlier roles
 */
async function roleDifferences({ projectId, wantBackend, haveBackend, haveRoles, existingManagedSA }, tools) {
  const { requiredRoles } = wantBackend;
  // A codebase that lost all its functions has no roles to compare.
  if (!requiredRoles || !existingManagedSA || !haveRoles) return { lost: [], left: [] };
  const resources = tools('firebase-tools/lib/gcp/resourceManager');
  const actual = await resources.getServiceAccountRoles(projectId, existingManagedSA).catch(unlessForbidden);
  if (!actual) return { lost: [], left: [] };
  const { allEndpoints } = tools('firebase-tools/lib/deploy/functions/backend');
  const etags = new Set(allEndpoints(haveBackend).flatMap(({ labels }) => labels?.[ETAG] ?? []));
  return {
    lost: requiredRoles.filter((role) => haveRoles.includes(role) && !actual.includes(role)),
    left:
      etags.size > 1
        ? actual.filter((role) => !requiredRoles.includes(role) && !haveRoles.includes(role))
        : [],
  };
}

/** Also false if the permission cannot be tested, because firebase-tools fails a deployment if a grant is refused. */
async function mayGrantRoles(projectId, tools) {
  const iam = tools('firebase-tools/lib/gcp/iam');
  const tested = await iam
    .testIamPermissions(projectId, ['resourcemanager.projects.setIamPolicy'])
    .catch(unlessForbidden);
  return tested?.passed === true;
}

function unlessForbidden(error) {
  if (error.status !== 403) throw error;
}

/**
 * Sets the account of an existing job to that of its function. `job` is the wanted job; firebase-tools updates its other
 * settings.
 */
async function updateJobAccount(job, tools) {
  const scheduler = tools('firebase-tools/lib/gcp/cloudscheduler');
  const { Client } = tools('firebase-tools/lib/apiv2');
  const { status, body } = await scheduler.getJob(job.name);
  const wanted = job.httpTarget?.oidcToken?.serviceAccountEmail;
  if (status !== 200 || !wanted || body.httpTarget?.oidcToken?.serviceAccountEmail === wanted) return;
  const client = new Client({
    urlPrefix: 'https://cloudscheduler.googleapis.com',
    apiVersion: 'v1',
    auth: true,
  });
  const { httpTarget } = job;
  await client.patch(`/${job.name}`, { httpTarget }, { queryParams: { updateMask: 'httpTarget' } });
}

module.exports = {
  forgetDeletedAccounts,
  isInUse,
  mayGrantRoles,
  roleDifferences,
  unusedAccount,
  updateJobAccount,
};
