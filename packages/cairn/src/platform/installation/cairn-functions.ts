/**
 * The functions of an installation, for the module that a codebase exports. All large modules are loaded by the first request, so
 * that this module loads fast for `firebase deploy` and on a cold start.
 */
import type { CloudEvent, CloudFunction } from 'firebase-functions';
import type { HttpsFunction } from 'firebase-functions/https';
import { requiresRole } from 'firebase-functions/options';
import { type MessagePublishedData, onMessagePublished } from 'firebase-functions/pubsub';
import type { ScheduleFunction } from 'firebase-functions/scheduler';
import type { TaskQueueFunction } from 'firebase-functions/tasks';
import { declareParameters, region as regionParameter } from '../settings/parameters.ts';
import {
  declareGithubToken,
  declareGithubWebhookSecret,
  declareSlackSigningSecret,
} from '../settings/secrets.ts';
import { packageVersion } from '../version.ts';
import {
  apiOf,
  type DeploymentTarget,
  drivesOf,
  githubFunction,
  slackFunction,
  ticksOf,
} from './deployed-functions.ts';
import { type InProcess, inProcess } from './in-process.ts';
import { type CairnInstallation, register } from './installation.ts';
import { backgroundHandlers } from './load-handlers.ts';
import {
  type BaseOptions,
  type CairnOptions,
  checkOptions,
  type DriveClassOptions,
  type GithubChoice,
  type GithubOptions,
  type SlackChoice,
  type SlackOptions,
} from './options.ts';
import { startServing } from './serving.ts';
import { locateStore } from './store-location.ts';

interface CoreFunctions {
  readonly api: HttpsFunction;
  readonly drive: TaskQueueFunction;
  readonly driveAlone: TaskQueueFunction;
  readonly recoverRuns: ScheduleFunction;
  readonly fireSchedules: ScheduleFunction;
  readonly checkRuns: ScheduleFunction;
  readonly deleteExpired: ScheduleFunction;
}

type Off = false | undefined;
type If<Choice, Functions> = [Choice] extends [Off] ? unknown : Functions;

/** Refuses unknown member names in an object type that the compiler infers. */
type Only<Given, Known> = Given extends object
  ? Given & Readonly<Record<Exclude<keyof Given, keyof Known>, never>>
  : Given;

type DriveClasses = Readonly<Record<string, DriveClassOptions>>;
type ClassFunctions<D> = {
  readonly [K in keyof D & string as
    | `drive${Capitalize<K>}`
    | `drive${Capitalize<K>}Alone`]: TaskQueueFunction;
};

/** The functions of an installation. Some exist only with certain options. */
export type CairnFunctions<
  G extends GithubChoice = GithubChoice,
  S extends SlackChoice = SlackChoice,
  T extends readonly string[] | undefined = readonly string[] | undefined,
  D extends DriveClasses = DriveClasses,
> = CoreFunctions &
  InProcess &
  If<G, { readonly githubWebhook: HttpsFunction }> &
  If<S, { readonly slackWebhook: HttpsFunction }> &
  If<T, { readonly pubsub: MessageFunctions }> &
  ClassFunctions<D>;

/**
 * Export its result under any name. `export const cairn = cairnFunctions(…)` deploys `cairn-api`, `cairn-drive` and so
 * on; `export const { api, drive, … } = cairnFunctions(…)` deploys `api`, `drive` and so on.
 *
 * @throws TypeError with the unknown option or invalid value; Error in a bundle that contains this package
 */
export function cairnFunctions<
  const G extends GithubChoice = undefined,
  const S extends SlackChoice = undefined,
  const T extends readonly string[] | undefined = undefined,
  const D extends DriveClasses = Record<never, never>,
>(
  options: BaseOptions & {
    readonly github?: Only<G, GithubOptions>;
    readonly slack?: Only<S, SlackOptions>;
    readonly topics?: T;
    readonly drives?: D & { readonly [K in keyof D]: Only<D[K], DriveClassOptions> };
  },
): CairnFunctions<G, S, T, D> {
  const given = options as CairnOptions;
  // Throws early in a bundle, where every request would fail.
  packageVersion();
  checkOptions(given);
  const members: Record<string, object> = {};
  const installation: CairnInstallation = { options: given, members };
  const functions = functionsOf(installation);
  for (const [name, one] of Object.entries(functions)) {
    if (name === 'pubsub') for (const [topic, each] of Object.entries(one)) members[`pubsub.${topic}`] = each;
    else members[name] = one;
  }
  // Firebase ignores functions that are not endpoints.
  Object.assign(functions, inProcess(installation));
  register(installation);
  locateStore(installation);
  startServing();
  return functions as unknown as CairnFunctions<G, S, T, D>;
}

function functionsOf(installation: CairnInstallation): Readonly<Record<string, object>> {
  const { options } = installation;
  const { github, slack, topics = [], drive = {}, drives = {} } = options;
  const region = options.region ?? regionParameter.declare();
  if (options.parameters) declareParameters(options);
  if (options.managedAccount) declareRoles(options);
  const place = { installation, region, secrets: options.secrets ?? [] };
  const bodies = { ...place, secrets: [...place.secrets, ...(github ? [declareGithubToken()] : [])] };
  const pools = Object.entries(drives).flatMap(([pool, own]) => Object.entries(drivesOf(bodies, own, pool)));
  return {
    api: apiOf(place),
    ...(github ? { githubWebhook: githubFunction(place, declareGithubWebhookSecret()) } : {}),
    ...(slack ? { slackWebhook: slackFunction(place, declareSlackSigningSecret()) } : {}),
    ...drivesOf(bodies, drive),
    ...Object.fromEntries(pools),
    ...ticksOf(place),
    ...(topics.length > 0 ? { pubsub: messageFunctions(place, topics) } : {}),
  };
}

type MessageFunctions = Readonly<Record<string, CloudFunction<CloudEvent<MessagePublishedData>>>>;

/**
 * The functions are named `pubsub-{topic in camel case}`. Their deployment creates the topics. If a function fails,
 * its subscription redelivers the message.
 *
 * @throws Error if two topics have the same function name
 */
function messageFunctions(
  { installation, region }: DeploymentTarget,
  topics: readonly string[],
): MessageFunctions {
  const functions: Record<string, MessageFunctions[string]> = {};
  for (const topic of topics) {
    const name = functionNameOf(topic);
    if (functions[name]) throw new Error(`two topics map to the function name '${name}'`);
    functions[name] = onMessagePublished(
      { topic, region, retry: true, memory: '512MiB', timeoutSeconds: 60 },
      async ({ data }) => {
        const { takeTopicMessage } = await backgroundHandlers();
        await takeTopicMessage(installation, topic, data);
      },
    );
  }
  return functions;
}

/** Converts `deploy-requests` to `deployRequests`, because function names contain only letters and digits. */
function functionNameOf(topic: string): string {
  const [first = '', ...rest] = topic.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  return first + rest.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

type RequiredRole = Parameters<typeof requiresRole>[0];

/** Roles on the project that every installation requires (docs/deploy.md explains each). */
const ALWAYS: readonly RequiredRole[] = [
  'roles/datastore.user',
  'roles/cloudtasks.enqueuer',
  'roles/cloudtasks.viewer',
  'roles/iam.serviceAccountUser',
  'roles/run.invoker',
  'roles/logging.logWriter',
  'roles/monitoring.metricWriter',
];

export function rolesOf({ runEventsTopic, topics = [] }: CairnOptions): readonly RequiredRole[] {
  return [
    ...ALWAYS,
    // Without the option a parameter decides. Its value is unknown while functions are read for a deployment.
    ...(runEventsTopic === '' ? [] : (['roles/pubsub.publisher'] as const)),
    ...(topics.length > 0 ? (['roles/eventarc.eventReceiver'] as const) : []),
  ];
}

/** Makes `firebase deploy` create an account with these roles, which runs every function of the codebase. */
function declareRoles(options: CairnOptions): void {
  for (const role of rolesOf(options)) requiresRole(role);
}
