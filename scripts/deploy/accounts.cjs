/**
 * The service account that firebase-tools makes for a codebase (`managedAccount`). If every function of its first deployment fails, it deletes
 * the account, although functions may be there that run as it; each later deployment by it fails for want of the account. And it leaves
 * jobs with the account that the functions had before, and an account without roles that somebody took from it.
 */

const MANAGED = /^firebase-fn-/;

/**
 * Removes from deployed functions an account that is gone, so that the next one is made and gets its roles.
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
      delete endpoint.labels?.['firebase-declarative-security-etag'];
    }
  }
  return gone;
}

/**
 * True if functions run as the account: those of a deployment that failed after it made them, or of another deployment at the same time,
 * whose functions this one could not make. Functions that cannot be listed count as some.
 */
async function isInUse(project, account, tools) {
  const { functions, unreachable } = await tools('firebase-tools/lib/gcp/cloudfunctionsv2').listAllFunctions(
    project,
  );
  return (
    unreachable.length > 0 || functions.some((one) => one.serviceConfig?.serviceAccountEmail === account)
  );
}

/** An account that may not be seen counts as being there. */
async function isGone(iam, project, account) {
  try {
    await iam.getServiceAccount(project, account.split('@')[0]);
    return false;
  } catch (error) {
    return error.status === 404;
  }
}

/**
 * Roles that the account needs and the project does not grant it any more. firebase-tools compares only with the roles of the last
 * deployment. The account may have such a role in another way: through a folder or a group, or on the services only.
 *
 * @param plan what a plan of firebase-tools is made of
 */
async function lostRoles({ projectId, wantBackend, haveRoles, existingManagedSA }, tools) {
  const { requiredRoles } = wantBackend;
  if (!requiredRoles || !existingManagedSA) return [];
  const resources = tools('firebase-tools/lib/gcp/resourceManager');
  const actual = await resources.getServiceAccountRoles(projectId, existingManagedSA).catch(unlessForbidden);
  return actual ? requiredRoles.filter((role) => haveRoles?.includes(role) && !actual.includes(role)) : [];
}

/** False also if the permission cannot be tested: firebase-tools fails a deployment whose grant is refused. */
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

/** Gives an existing job the account of its function. `job` is as wanted; the other settings are firebase-tools' to update. */
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

module.exports = { forgetDeletedAccounts, isInUse, lostRoles, mayGrantRoles, updateJobAccount };
