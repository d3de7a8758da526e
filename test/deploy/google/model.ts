/** Plain data of a pretended Google: one project, as firebase-tools and the roles of its accounts see it. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json | undefined };
export type Fields = { [key: string]: Json | undefined };

export interface Binding {
  role: string;
  members: string[];
}

export interface Policy {
  bindings: Binding[];
  etag: string;
}

export interface RunService {
  policy: Policy;
  spec: Fields;
}

export interface Secret {
  labels: Fields;
  /** Values of the versions, the first is version 1. */
  versions: string[];
  policy: Policy;
}

export interface Call {
  method: string;
  host: string;
  path: string;
  status: number;
  body: Json;
}

/** An error of Google; or no answer at all to a call that was not done (`cut`), or was (`lost`). */
export type Failure =
  | 'cut'
  | 'lost'
  | { status: number; reason: string; message?: string; headers?: Record<string, string> };

/** Failures among calls of one kind: of the next `times` after the first `skip`. */
export interface BrokenCall {
  skip: number;
  times: number;
  /** Default: 500. A function is called, and then the call is answered as ever. */
  how?: Failure | (() => void);
}

export interface Google {
  project: string;
  number: string;
  /** Names of the APIs that are enabled, such as `run.googleapis.com`. */
  apis: string[];
  /** False: the project is on the free plan. */
  billing: boolean;
  /** Permissions that the caller lacks. */
  denied: string[];
  /** Calls that fail, by the permission that they need; those that need none by their host. */
  broken: Record<string, BrokenCall>;
  policy: Policy;
  /** Service accounts by e-mail address, with the policy on each. */
  accounts: Record<string, Policy & { description?: string }>;
  functions: Record<string, Fields>;
  /** Cloud Run services by resource name. */
  services: Record<string, RunService>;
  queues: Record<string, Fields>;
  jobs: Record<string, Fields>;
  secrets: Record<string, Secret>;
  topics: Record<string, Fields>;
  databases: Record<string, Fields>;
  indexes: Record<string, Fields>;
  fields: Record<string, Fields>;
  repositories: Record<string, Fields>;
  rulesets: Record<string, Fields>;
  releases: Record<string, Fields>;
  /** Versions and releases of Hosting. */
  hosting: { versions: Record<string, Fields>; releases: Fields[] };
  operations: Record<string, Fields>;
  calls: Call[];
  /** Calls that nothing here answers: a test that meets one has to fail. */
  unanswered: string[];
  serial: number;
}

export const emptyPolicy = (): Policy => ({ bindings: [], etag: 'BwY=' });

/** APIs that a deployment of functions uses. Enabling one takes firebase-tools ten seconds, so a test begins with them. */
const APIS = [
  'artifactregistry',
  'cloudbilling',
  'cloudbuild',
  'cloudfunctions',
  'cloudresourcemanager',
  'cloudscheduler',
  'cloudtasks',
  'compute',
  'eventarc',
  'firebase',
  'firebaseextensions',
  'firebasehosting',
  'firebaserules',
  'firestore',
  'iam',
  'pubsub',
  'run',
  'secretmanager',
  'storage',
].map((name) => `${name}.googleapis.com`);

/** A project made since 2024: its default accounts have no roles, and there is no database. */
export function newProject(project = 'new-project'): Google {
  const number = '123456789012';
  return {
    project,
    number,
    apis: APIS,
    billing: true,
    denied: [],
    broken: {},
    policy: { ...emptyPolicy(), bindings: [{ role: 'roles/owner', members: ['user:owner@example.com'] }] },
    accounts: {
      [`${number}-compute@developer.gserviceaccount.com`]: emptyPolicy(),
      [`${project}@appspot.gserviceaccount.com`]: emptyPolicy(),
    },
    functions: {},
    services: {},
    queues: {},
    jobs: {},
    secrets: {},
    topics: {},
    databases: {},
    indexes: {},
    fields: {},
    repositories: {},
    rulesets: {},
    releases: {},
    hosting: { versions: {}, releases: [] },
    operations: {},
    calls: [],
    unanswered: [],
    serial: 0,
  };
}

/** A project that functions can be deployed to: builds have their role, and there is a database. */
export function preparedProject(): Google {
  const google = newProject();
  const member = `serviceAccount:${defaultAccount(google)}`;
  google.policy.bindings.push({ role: 'roles/cloudbuild.builds.builder', members: [member] });
  const name = `projects/${google.project}/databases/(default)`;
  google.databases[name] = { name, locationId: 'us-central1', type: 'FIRESTORE_NATIVE' };
  return google;
}

export const defaultAccount = ({ number }: Google): string =>
  `${number}-compute@developer.gserviceaccount.com`;

/** True if the account has the role on the project or by the policy given. */
export function hasRole(google: Google, account: string, role: string, ...policies: Policy[]): boolean {
  return [google.policy, ...policies].some(({ bindings }) =>
    bindings.some((one) => one.role === role && one.members.includes(`serviceAccount:${account}`)),
  );
}
