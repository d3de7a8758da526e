/** Decides before a deployment whether it can succeed, because a partial one is worse than none. Pure. */

/** State of a project before the deployment. */
export interface ProjectFacts {
  readonly project: string;
  readonly number: string;
  readonly billing: boolean;
  /** Permissions of `RIGHTS` that the caller lacks. */
  readonly missing: readonly string[];
  /** Account that builds run as. */
  readonly buildAccount: string;
  /** Undefined if the caller may not read them. */
  readonly buildRoles: readonly string[] | undefined;
  /** Disabled APIs among `APIS`. */
  readonly disabledApis: readonly string[];
  /** Topic of run events that does not exist, if one is named. */
  readonly absentTopic: string | undefined;
}

export interface Right {
  readonly permission: string;
  /** A role with this permission. */
  readonly role: string;
  readonly for: string;
  /** Targets of the deployment that need it. */
  readonly target: 'functions' | 'firestore' | 'hosting';
  /** Only the first deployment needs it, or one with other roles. */
  readonly once?: true;
}

/** Permissions of the deploying account. docs/deploy.md has the same table. */
export const RIGHTS: readonly Right[] = [
  right('cloudfunctions.functions.create', 'roles/cloudfunctions.admin', 'functions', 'makes functions'),
  right('cloudfunctions.functions.update', 'roles/cloudfunctions.admin', 'functions', 'updates functions'),
  right('run.services.setIamPolicy', 'roles/run.admin', 'functions', 'grants invoker access to functions'),
  right('cloudtasks.queues.create', 'roles/cloudtasks.admin', 'functions', 'creates queues'),
  right(
    'cloudtasks.queues.update',
    'roles/cloudtasks.admin',
    'functions',
    'sets rates and repetitions of the queues',
  ),
  right('cloudscheduler.jobs.create', 'roles/cloudscheduler.admin', 'functions', 'creates scheduler jobs'),
  right('cloudscheduler.jobs.update', 'roles/cloudscheduler.admin', 'functions', 'updates scheduler jobs'),
  right(
    'iam.serviceAccounts.actAs',
    'roles/iam.serviceAccountUser',
    'functions',
    'runs functions as their service account',
  ),
  right(
    'artifactregistry.repositories.update',
    'roles/artifactregistry.admin',
    'functions',
    'deletes old images',
  ),
  right(
    'secretmanager.secrets.setIamPolicy',
    'roles/secretmanager.admin',
    'functions',
    'grants functions access to secrets',
  ),
  {
    ...right(
      'resourcemanager.projects.setIamPolicy',
      'roles/resourcemanager.projectIamAdmin',
      'functions',
      'grants roles to the service account',
    ),
    once: true,
  },
  {
    ...right(
      'iam.serviceAccounts.create',
      'roles/iam.serviceAccountCreator',
      'functions',
      'creates the service account of the functions',
    ),
    once: true,
  },
  {
    ...right(
      'serviceusage.services.enable',
      'roles/serviceusage.serviceUsageAdmin',
      'functions',
      'enables APIs',
    ),
    once: true,
  },
  right('datastore.indexes.create', 'roles/datastore.indexAdmin', 'firestore', 'makes indexes'),
  right('firebaserules.releases.update', 'roles/firebaserules.admin', 'firestore', 'releases rules'),
  right('firebasehosting.sites.update', 'roles/firebasehosting.admin', 'hosting', 'releases the console'),
];

function right(permission: string, role: string, target: Right['target'], what: string): Right {
  return { permission, role, target, for: what };
}

/** APIs that must be enabled before firebase-tools enables the others. */
export const APIS = [
  'cloudresourcemanager.googleapis.com',
  'iam.googleapis.com',
  'secretmanager.googleapis.com',
];

/** One of these lets the build account build. */
const BUILDERS = ['roles/cloudbuild.builds.builder', 'roles/editor', 'roles/owner'];
export const BUILDER = 'roles/cloudbuild.builds.builder';

export type SetUp =
  | { readonly kind: 'builder'; readonly account: string }
  | { readonly kind: 'api'; readonly name: string }
  | { readonly kind: 'topic'; readonly name: string };

export interface Problem {
  readonly code: 'BILLING' | 'RIGHTS' | 'BUILDER' | 'API' | 'TOPIC';
  readonly message: string;
  /** Commands or pages that fix the problem. */
  readonly help: string;
  /** Present if `--set-up` fixes the problem. */
  readonly setUp?: SetUp;
}

export interface Wanted {
  readonly targets: ReadonlySet<string>;
  /** True if functions of this installation were deployed before. */
  readonly deployedBefore: boolean;
}

/** The reasons why the deployment would fail or be incomplete. */
export function problemsOf(facts: ProjectFacts, { targets, deployedBefore }: Wanted): Problem[] {
  const { project } = facts;
  const problems: Problem[] = [];
  if (targets.has('functions') && !facts.billing)
    problems.push({
      code: 'BILLING',
      message: `The project ${project} is on the free plan, which has no functions and no queues.`,
      help: `Upgrade it: https://console.firebase.google.com/project/${project}/usage/details`,
    });
  const lacking = RIGHTS.filter(
    ({ permission, target, once }) =>
      facts.missing.includes(permission) && targets.has(target) && !(once && deployedBefore),
  );
  if (lacking.length > 0) problems.push(lackingRights(project, lacking));
  if (!targets.has('functions')) return problems;
  const { buildAccount, buildRoles, absentTopic } = facts;
  if (buildRoles !== undefined && !buildRoles.some((role) => BUILDERS.includes(role)))
    problems.push({
      code: 'BUILDER',
      message: `Builds run as ${buildAccount}, which lacks the permission to build: in projects created since 2024 it has no roles.`,
      help: grant(project, `serviceAccount:${buildAccount}`, BUILDER),
      setUp: { kind: 'builder', account: buildAccount },
    });
  for (const name of facts.disabledApis)
    problems.push({
      code: 'API',
      message: `The API ${name} is off, and firebase-tools does not enable it by itself.`,
      help: `gcloud services enable ${name} --project ${project}`,
      setUp: { kind: 'api', name },
    });
  if (absentTopic !== undefined)
    problems.push({
      code: 'TOPIC',
      message: `RUN_EVENTS_TOPIC names the topic ${absentTopic}, which does not exist.`,
      help: `gcloud pubsub topics create ${absentTopic} --project ${project}`,
      setUp: { kind: 'topic', name: absentTopic },
    });
  return problems;
}

function lackingRights(project: string, lacking: readonly Right[]): Problem {
  const roles = [...new Set(lacking.map(({ role }) => role))];
  return {
    code: 'RIGHTS',
    message: `You lack permissions on ${project}:\n${lacking
      .map(({ permission, for: what }) => `    ${permission} (${what})`)
      .join('\n')}`,
    help: `An owner can grant them; YOU is user:NAME@EXAMPLE.COM:\n${roles
      .map((role) => `    ${grant(project, 'YOU', role)}`)
      .join('\n')}`,
  };
}

const grant = (project: string, member: string, role: string) =>
  `gcloud projects add-iam-policy-binding ${project} --member=${member} --role=${role} --condition=None`;
