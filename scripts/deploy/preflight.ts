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
  readonly database: DatabaseFacts;
}

/** The database that the functions store runs in. */
export interface DatabaseFacts {
  readonly name: string;
  /** Unknown if the caller may not read it. */
  readonly state: 'usable' | 'absent' | 'datastore-mode' | 'unknown';
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

/** Permissions of the deploying account, also those to read, because a deployment would fail halfway. docs/deploy.md has the roles. */
export const RIGHTS: readonly Right[] = [
  ...rights('roles/cloudfunctions.admin', 'functions', {
    'cloudfunctions.functions.list': 'lists functions',
    'cloudfunctions.functions.create': 'makes functions',
    'cloudfunctions.functions.update': 'updates functions',
    'cloudfunctions.operations.get': 'waits for functions',
  }),
  ...rights('roles/run.admin', 'functions', {
    'run.services.setIamPolicy': 'grants invoker access to functions',
  }),
  ...rights('roles/cloudtasks.admin', 'functions', {
    'cloudtasks.queues.get': 'reads queues',
    'cloudtasks.queues.create': 'creates queues',
    'cloudtasks.queues.update': 'sets rates and repetitions of the queues',
  }),
  ...rights('roles/cloudscheduler.admin', 'functions', {
    'cloudscheduler.jobs.get': 'reads scheduler jobs',
    'cloudscheduler.jobs.create': 'creates scheduler jobs',
    'cloudscheduler.jobs.update': 'updates scheduler jobs',
  }),
  ...rights('roles/iam.serviceAccountUser', 'functions', {
    'iam.serviceAccounts.actAs': 'runs functions as their service account',
  }),
  ...rights('roles/artifactregistry.admin', 'functions', {
    'artifactregistry.repositories.update': 'deletes old images',
  }),
  ...rights('roles/secretmanager.admin', 'functions', {
    'secretmanager.secrets.get': 'reads which secrets exist',
    'secretmanager.versions.get': 'reads which secrets have values',
    'secretmanager.secrets.getIamPolicy': 'reads who has access to secrets',
    'secretmanager.secrets.setIamPolicy': 'grants functions access to secrets',
  }),
  ...once('roles/resourcemanager.projectIamAdmin', {
    'resourcemanager.projects.getIamPolicy': 'reads roles of the service account',
    'resourcemanager.projects.setIamPolicy': 'grants roles to the service account',
  }),
  ...once('roles/iam.serviceAccountCreator', {
    'iam.serviceAccounts.create': 'creates the service account of the functions',
  }),
  ...once('roles/serviceusage.serviceUsageAdmin', { 'serviceusage.services.enable': 'enables APIs' }),
  ...rights('roles/datastore.indexAdmin', 'firestore', {
    'datastore.databases.getMetadata': 'reads which database exists',
    'datastore.indexes.list': 'lists indexes',
    'datastore.indexes.create': 'makes indexes',
    'datastore.indexes.update': 'sets exemptions and TTL policies',
  }),
  ...rights('roles/firebaserules.admin', 'firestore', {
    'firebaserules.rulesets.create': 'uploads rules',
    'firebaserules.releases.list': 'lists released rules',
    'firebaserules.releases.create': 'releases rules for the first time',
    'firebaserules.releases.update': 'releases rules',
  }),
  ...rights('roles/firebasehosting.admin', 'hosting', {
    'firebasehosting.sites.update': 'releases the console',
  }),
];

/** @param reasons by permission */
function rights(role: string, target: Right['target'], reasons: Readonly<Record<string, string>>): Right[] {
  return Object.entries(reasons).map(([permission, what]) => ({ permission, role, target, for: what }));
}

function once(role: string, reasons: Readonly<Record<string, string>>): Right[] {
  return rights(role, 'functions', reasons).map((right) => ({ ...right, once: true }));
}

const FIRESTORE_API = 'firestore.googleapis.com';
/** APIs that must be enabled before firebase-tools enables the others. */
export const APIS = [
  'cloudresourcemanager.googleapis.com',
  'iam.googleapis.com',
  'secretmanager.googleapis.com',
  // With the target `firestore` firebase-tools enables it.
  FIRESTORE_API,
];

/** One of these lets the build account build. */
const BUILDERS = ['roles/cloudbuild.builds.builder', 'roles/editor', 'roles/owner'];
export const BUILDER = 'roles/cloudbuild.builds.builder';

export type SetUp =
  | { readonly kind: 'builder'; readonly account: string }
  | { readonly kind: 'api'; readonly name: string }
  | { readonly kind: 'topic'; readonly name: string };

export interface Problem {
  readonly code: 'BILLING' | 'RIGHTS' | 'BUILDER' | 'API' | 'TOPIC' | 'DATABASE';
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
  /** Database that firebase-tools creates with the target `firestore`: the first one of `firebase.json`. */
  readonly createdDatabase: string | undefined;
}

/** The reasons why the deployment would fail or be incomplete. */
export function problemsOf(facts: ProjectFacts, wanted: Wanted): Problem[] {
  const { project } = facts;
  const { targets, deployedBefore } = wanted;
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
  for (const name of facts.disabledApis.filter((one) => one !== FIRESTORE_API || !targets.has('firestore')))
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
  problems.push(...databaseProblems(facts, wanted));
  return problems;
}

function databaseProblems(
  { project, database }: ProjectFacts,
  { targets, createdDatabase }: Wanted,
): Problem[] {
  const { name, state } = database;
  const other = 'or name another database: FIRESTORE_DATABASE in functions/.env';
  const create = `gcloud firestore databases create --database='${name}' --location=LOCATION --project ${project}`;
  if (state === 'datastore-mode')
    return [
      {
        code: 'DATABASE',
        message: `The database ${name} is in Datastore mode, in which no run can be stored.`,
        help: `While it is empty, change its mode: gcloud firestore databases update --database='${name}' --type=firestore-native --project ${project}\n    ${other}`,
      },
    ];
  if (state !== 'absent' || (targets.has('firestore') && createdDatabase === name)) return [];
  return [
    {
      code: 'DATABASE',
      message: `The database ${name}, in which the functions store runs, does not exist, and this deployment does not create it.`,
      help: `Create it in the region of the functions, from which it cannot be moved: ${create}\n    ${other}`,
    },
  ];
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
