/**
 * Runs firebase-tools for `npm run deploy` with safer defaults.
 *
 * - It skips an unchanged function, even if an earlier deployment failed at the queue, job or access of that function. Here
 *   such a function is deployed again.
 * - It deletes the account of existing functions, leaves unused accounts and jobs with an earlier account, and does not detect
 *   roles that were removed by hand, or that a failed deployment did not remove (accounts.cjs).
 * - It silently retries for half an hour to create a function that a concurrent deployment has created. Here it reports this
 *   and ends. Retries of other calls are reported.
 * - Two deployments at once each change some functions last. Here one of them reports the functions of the other.
 * - It resumes the queue of each function that it updates. Here a paused queue stays paused.
 * - Its `--force`, which is necessary without a terminal, also deletes functions that the sources no longer have. Here only
 *   CAIRN_DEPLOY_DELETES=1 allows that.
 * - It deletes every index that is not in `firestore.indexes.json`. Here never.
 * - It reports a missing permission for every error at the account of functions, and hides other causes too. Here they are told.
 * - It reports Ctrl-C at a question as an unexpected error (exit code 2). Here the program ends as interrupted.
 * - Without a terminal it refuses to deploy if a secret has no value. With CAIRN_DEPLOY_SET_UP=1 the secrets of the shipped
 *   webhooks get placeholders, with which all requests are refused and nothing is posted.
 *
 * The replaced functions are internal. `test/deploy` runs this with the version pinned in `emulators/package.json`.
 */
const { randomBytes } = require('node:crypto');
const { createRequire } = require('node:module');
const { join } = require('node:path');

const tools = createRequire(join(__dirname, '../../emulators/package.json'));
const tasks = tools('firebase-tools/lib/gcp/cloudtasks');
const prompts = tools('firebase-tools/lib/deploy/functions/prompts');
const secrets = tools('firebase-tools/lib/gcp/secretManager');
const { FirebaseError } = tools('firebase-tools/lib/error');
const { getProjectNumber } = tools('firebase-tools/lib/getProjectNumber');
const { FirestoreApi } = tools('firebase-tools/lib/firestore/api');
const backend = tools('firebase-tools/lib/deploy/functions/backend');
const scheduler = tools('firebase-tools/lib/gcp/cloudscheduler');
const {
  forgetDeletedAccounts,
  isInUse,
  mayGrantRoles,
  roleDifferences,
  unusedAccount,
  updateJobAccount,
} = require('./accounts.cjs');
const { causesOf, isForbidden } = require('./causes.cjs');
const { unfinished } = require('./unfinished.cjs');
const { overtaken } = require('./overtaken.cjs');

const CODEBASES = (process.env.CAIRN_DEPLOY_CODEBASES ?? '').split(',');

replace(tasks, 'updateQueue', (update) => async (queue) => {
  const { state, ...rest } = queue;
  const isPaused = state === 'RUNNING' && (await tasks.getQueue(queue.name)).state === 'PAUSED';
  if (isPaused) report(`the queue ${queue.name.split('/').at(-1)} is paused, and stays so`);
  return update(isPaused ? rest : queue);
});

/** By context of a deployment, which calls this several times. */
const loaded = new WeakMap();
replace(backend, 'existingBackend', (load) => (context, forceRefresh) => {
  if (forceRefresh || !loaded.has(context)) loaded.set(context, withAccounts(load(context, forceRefresh)));
  return loaded.get(context);
});

async function withAccounts(loading) {
  const existing = await loading;
  const own = backend.allEndpoints(existing).filter(({ codebase }) => CODEBASES.includes(codebase));
  for (const account of await forgetDeletedAccounts(own, tools))
    report(`the account ${account} of deployed functions is gone, so another one is made`);
  return existing;
}

replace(
  tools('firebase-tools/lib/deploy/functions/deploy'),
  'deploy',
  (deploy) => async (context, options, payload) => {
    const pairs = Object.values(payload.functions ?? {}).flatMap(({ wantBackend, haveBackend }) =>
      backend.allEndpoints(wantBackend).flatMap((want) => {
        const have = haveBackend.endpoints[want.region]?.[want.id];
        return have?.hash && have.hash === want.hash && have.platform === 'gcfv2' ? [{ want, have }] : [];
      }),
    );
    const numberOf = () => getProjectNumber(options);
    for (const { have, what } of await unfinished(pairs, numberOf, tools)) {
      delete have.hash;
      report(`${have.id} lacks ${what}, so it counts as changed`);
    }
    return deploy(context, options, payload);
  },
);

replace(
  tools('firebase-tools/lib/deploy/functions/release/planner'),
  'createDeploymentPlan',
  (plan) => async (given) => {
    const { lost, left } = await roleDifferences(given, tools);
    if (lost.length + left.length === 0) return plan(given);
    const account = given.existingManagedSA;
    const isAllowed = await mayGrantRoles(given.projectId, tools);
    const lacking = `${account} seems to lack roles on ${given.projectId}, and you lack the permission to grant them`;
    const kept = `${account} has roles that an incomplete deployment did not remove`;
    if (lost.length > 0)
      report(`${isAllowed ? `${account} lost roles, which it gets again` : lacking}: ${lost.join(', ')}`);
    if (left.length > 0)
      report(`${kept}${isAllowed ? '' : ', and you lack the permission to remove them'}: ${left.join(', ')}`);
    if (!isAllowed) return plan(given);
    return plan({
      ...given,
      haveRoles: [...given.haveRoles.filter((role) => !lost.includes(role)), ...left],
    });
  },
);

/** False while an existing function is being changed, because waiting helps. */
const isTaken = ({ original }) => original?.context?.body?.error?.status === 'ALREADY_EXISTS';

replace(
  tools('firebase-tools/lib/gcp/cloudfunctionsv2'),
  'createFunction',
  (create) => async (wanted) =>
    create(wanted).catch((error) => {
      if (!isTaken(error)) throw error;
      throw new FirebaseError(
        `${wanted.name.split('/').at(-1)} cannot be created, because there is one meanwhile: ${error.original.message}. ` +
          'If another deployment is under way, wait until it has ended.',
      );
    }),
);

/** Updates that the user declined: these functions stay as they are. */
const declined = new Set();
replace(prompts, 'promptForUnsafeMigration', (ask) => async (updates, options) => {
  const accepted = await ask(updates, options);
  for (const update of updates) if (!accepted.includes(update)) declined.add(update.endpoint);
  return accepted;
});

replace(
  tools('firebase-tools/lib/deploy/functions/release'),
  'release',
  (release) =>
    async (context, ...rest) => {
      await release(context, ...rest);
      const [, payload] = rest;
      const other = await overtaken({ context, payload, declined }, tools);
      if (other.length > 0)
        throw new FirebaseError(
          `Another deployment at the same time changed ${other.join(', ')} last, so functions of two versions are deployed. ` +
            'Wait until it has ended.',
        );
    },
);

const reported = new Set();
replace(
  tools('firebase-tools/lib/deploy/functions/release/executor'),
  'isTransientError',
  (isTransient) => (error) => {
    const isRepeated = isTransient(error);
    if (isRepeated && !reported.has(error.message)) {
      reported.add(error.message);
      report(`${error.message}: tried again for up to 50 minutes`);
    }
    return isRepeated;
  },
);

const iam = tools('firebase-tools/lib/gcp/iam');

/** The codebase that needs an account: firebase-tools checks and names the accounts of one codebase after the other. */
let enrolled;
replace(
  tools('firebase-tools/lib/deploy/functions/ensure'),
  'checkDeclarativeSecurityApisEnabled',
  (check) => (project, codebase) => {
    enrolled = codebase;
    return check(project, codebase);
  },
);

/** Accounts of interrupted deployments that this one uses. */
const reused = new Set();
replace(iam, 'generateManagedServiceAccountName', (generate) => async (project, prefix) => {
  const unused = await unusedAccount(project, enrolled, tools);
  if (unused === undefined) return generate(project, prefix);
  reused.add(unused);
  report(`the account ${unused} of an interrupted deployment is used`);
  return unused;
});

replace(iam, 'createServiceAccount', (create) => async (project, account, ...rest) => {
  try {
    return await create(project, account, ...rest);
  } catch (error) {
    if (error.status === 409 && reused.has(account)) return;
    throw error;
  }
});

replace(iam, 'deleteServiceAccount', (remove) => async (project, account) => {
  if (!(await isInUse(project, account, tools))) return remove(project, account);
  report(`the account ${account} stays, because functions run as it`);
});

replace(
  tools('firebase-tools/lib/gcp/resourceManager'),
  'removeServiceAccountRoles',
  (remove) => async (project, account, roles) => {
    try {
      return await remove(project, account, roles);
    } catch (error) {
      // The functions have the label of the new roles, so the next deployment does not find these.
      for (const role of roles)
        report(
          `${role} could not be removed: gcloud projects remove-iam-policy-binding ${project} --member=serviceAccount:${account} --role=${role}`,
        );
      throw error;
    }
  },
);

replace(scheduler, 'createOrReplaceJob', (set) => async (job) => {
  await updateJobAccount(job, tools);
  return set(job);
});

replace(prompts, 'promptForFunctionDeletion', (ask) => (functions, options) => {
  const force = process.env.CAIRN_DEPLOY_DELETES === '1';
  if (functions.length > 0 && options.nonInteractive && !force)
    report('functions are deleted only with --delete-functions');
  return ask(functions, { ...options, force });
});

replace(
  FirestoreApi.prototype,
  'deploy',
  (deploy) =>
    function (options, ...rest) {
      return deploy.call(this, { ...options, force: false }, ...rest);
    },
);

/** Placeholder values of secrets: requests are refused, and nothing is posted (docs/deploy.md). */
const PLACEHOLDERS = {
  GITHUB_TOKEN: { value: () => 'none', effect: 'no review is posted' },
  GITHUB_WEBHOOK_SECRET: {
    value: () => randomBytes(32).toString('hex'),
    effect: 'all deliveries of GitHub are refused',
  },
  SLACK_SIGNING_SECRET: {
    value: () => randomBytes(32).toString('hex'),
    effect: 'all requests of Slack are refused',
  },
};

replace(secrets, 'getSecretMetadata', (get) => async (project, name, version) => {
  const found = await get(project, name, version);
  const placeholder = PLACEHOLDERS[name];
  if (process.env.CAIRN_DEPLOY_SET_UP !== '1' || found.secretVersion || !placeholder) return found;
  if (!found.secret) await secrets.createSecret(project, name, secrets.labels());
  await secrets.addVersion(project, name, placeholder.value());
  report(
    `the secret ${name} has a placeholder value: ${placeholder.effect} until you set your own (docs/deploy.md)`,
  );
  return get(project, name, version);
});

replace(tools('firebase-tools/lib/errorOut'), 'errorOut', (end) => (error) => {
  if (error?.name === 'ExitPromptError') return end(new FirebaseError('Interrupted.', { exit: 1 }));
  end(error);
  for (const cause of causesOf(error)) report(`the cause: ${cause}`);
  if (isForbidden(error))
    report('you lack a permission; step 3 of docs/deploy.md lists the roles of the deploying account');
});

tools('firebase-tools/lib/bin/firebase.js');

function replace(owner, name, by) {
  const original = owner[name];
  if (typeof original !== 'function')
    throw new Error(
      `firebase-tools has no ${name} any more: scripts/deploy/firebase.cjs is for another version of it`,
    );
  owner[name] = by(original);
}

function report(line) {
  process.stderr.write(`cairn: ${line}\n`);
}
