/** Options of `cairnFunctions`. Unknown options are refused, because a misspelt one would otherwise be noticed late. */
import type { HttpsOptions } from 'firebase-functions/https';
import type { Expression } from 'firebase-functions/params';
import { type BudgetOptions, dayLimits } from '../../core/budget/day-limits.ts';
import { closest } from '../../core/closest.ts';
import { assertBound, byCapability } from '../../core/effects/bound.ts';
import { CairnError } from '../../core/errors.ts';
import type { CallPolicy } from '../../engine/define/call-policy.ts';
import type { Binding } from '../../engine/define/capability.ts';
import type { Names } from '../../engine/define/known-options.ts';
import type { Workflow } from '../../engine/define/steps.ts';
import { collectionNames } from '../../store/layout/collections.ts';
import { driveMaxInstances } from '../settings/parameters.ts';
import { assertDrivesFit } from './drive-classes.ts';
import {
  checkValues,
  DRIVE_RULES,
  OPTION_RULES,
  TENANT_RULES,
  WORKFLOW_TYPES,
  WORKFLOWS,
} from './option-rules.ts';

/**
 * The value itself, or a function that creates it for the first request that needs it, so that neither a deployment nor a cold
 * start loads it.
 */
export type Lazily<T> = T | (() => T | Promise<T>);

/**
 * Settings of the functions that run bodies. Defaults of `drive`: the parameters `DRIVE_…`, if `parameters` declares
 * them.
 */
export interface DriveOptions {
  /** Default: 1GiB. */
  readonly memory?: HttpsOptions['memory'];
  readonly cpu?: number | 'gcf_gen1';
  /** Default: 540, at most 1,800. A step may take about a minute and a half less, or a fifth if that is less. */
  readonly timeoutSeconds?: number;
  /** Runs that one instance executes concurrently. Default: 80. */
  readonly concurrency?: number;
  readonly minInstances?: number;
  /** Default: 100. */
  readonly maxInstances?: number;
  /** Concurrent dispatches of a queue. Default: 2,000, at most 5,000. */
  readonly queuePlaces?: number;
}

/** Separate functions and queues for some workflows. */
export interface DriveClassOptions extends DriveOptions {
  /** Types of the workflows whose runs they dispatch. */
  readonly workflows: readonly string[];
}

/** Defaults: parameters of the environment (docs/deploy.md). */
export interface GithubOptions {
  /** The format of `GITHUB_TENANTS`. */
  readonly tenants?: string;
  /** The format of `GITHUB_TENANT`. */
  readonly tenant?: string;
}

export interface SlackOptions {
  /** The format of `SLACK_TENANTS`. */
  readonly tenants?: string;
}

export type SecretOption = NonNullable<HttpsOptions['secrets']>[number];

/** All options except those that add functions. */
export interface BaseOptions {
  readonly workflows: Lazily<readonly Workflow[]>;
  /** Bindings of the capabilities that the workflows use, added to the shipped ones or replacing them. */
  readonly bindings?: Lazily<readonly Binding[]>;
  /** Called before each call with side effects: allows it, asks a person, or forbids it (docs/effects.md). */
  readonly callPolicy?: CallPolicy;
  /** Daily limits of each tenant, over all its runs (docs/budgets.md). */
  readonly budgets?: BudgetOptions;
  /** Bound to the functions that run bodies, where `STRIPE_KEY.value()` then works. */
  readonly secrets?: readonly SecretOption[];
  readonly drive?: DriveOptions;
  /** May be a parameter of the codebase. Default: the parameter `CAIRN_REGION`. */
  readonly region?: string | Expression<string>;
  /** Firestore database. Default: the parameter `FIRESTORE_DATABASE`. */
  readonly database?: string;
  /** Default: the parameter `COLLECTION_PREFIX`. */
  readonly collectionPrefix?: string;
  /** Recorded in every run. Default: the parameter `ENVIRONMENT`. */
  readonly environment?: string;
  /** Pub/Sub topic to which run events are published. Default: the parameter `RUN_EVENTS_TOPIC`. */
  readonly runEventsTopic?: string;
  /** The function `api` also serves the console, so that Hosting is not needed. */
  readonly console?: boolean;
  /** Declares the parameters to Firebase, so that a deployment asks for missing values. */
  readonly parameters?: boolean;
  /**
   * Makes `firebase deploy` create a service account with the required roles, which runs all functions of the codebase. Only for a
   * codebase without other functions: they would lose the roles of their previous account.
   */
  readonly managedAccount?: boolean;
}

export type GithubChoice = boolean | GithubOptions | undefined;
export type SlackChoice = boolean | SlackOptions | undefined;

export interface CairnOptions extends BaseOptions {
  /** Adds GitHub's webhook and the GitHub capabilities. */
  readonly github?: GithubChoice;
  /** Adds Slack's commands and buttons, and the Slack capability. */
  readonly slack?: SlackChoice;
  /** Pub/Sub topics whose messages start runs or deliver events: one function for each. */
  readonly topics?: readonly string[];
  /** By name, which becomes part of the function names: `video` gives `driveVideo` and `driveVideoAlone`. */
  readonly drives?: Readonly<Record<string, DriveClassOptions>>;
}

const DRIVE: Names<DriveOptions> = {
  memory: true,
  cpu: true,
  timeoutSeconds: true,
  concurrency: true,
  minInstances: true,
  maxInstances: true,
  queuePlaces: true,
};
const DRIVE_CLASS: Names<DriveClassOptions> = { ...DRIVE, workflows: true };
const GITHUB: Names<GithubOptions> = { tenants: true, tenant: true };
const SLACK: Names<SlackOptions> = { tenants: true };
const OPTIONS: Names<CairnOptions> = {
  workflows: true,
  bindings: true,
  callPolicy: true,
  budgets: true,
  secrets: true,
  drive: true,
  drives: true,
  region: true,
  database: true,
  collectionPrefix: true,
  environment: true,
  runEventsTopic: true,
  console: true,
  parameters: true,
  managedAccount: true,
  github: true,
  slack: true,
  topics: true,
};

/** Name of a drive class, which is part of the names of its functions. */
const CLASS_NAME = /^[a-z][A-Za-z0-9]{0,19}$/;

/** @throws TypeError with the invalid option; Error if workflows conflict with each other or exceed their dispatches */
export function checkOptions(options: CairnOptions): void {
  if (typeof options !== 'object' || options === null)
    throw new TypeError("cairnFunctions: the options are missing: { workflows: […], region: '…' }");
  known('cairnFunctions', options, OPTIONS);
  const { workflows, drive = {}, drives = {}, github, slack, collectionPrefix } = options;
  if (typeof workflows !== 'function' && !WORKFLOWS.isMet(workflows))
    throw new TypeError(`cairnFunctions: 'workflows' must be ${WORKFLOWS.what}`);
  if (options.callPolicy !== undefined && typeof options.callPolicy !== 'function')
    throw new TypeError("cairnFunctions: 'callPolicy' must be a function of a call");
  dayLimits(options.budgets);
  checkValues('', options, OPTION_RULES);
  if (collectionPrefix) checkPrefix(collectionPrefix);
  checkDrive('drive', drive, DRIVE);
  // During a deployment the value of the parameter for the most instances is unknown.
  if (!options.parameters || drive.maxInstances !== undefined) checkInstances('drive', drive);
  if (typeof github === 'object') checkTenants('github', github, GITHUB);
  if (typeof slack === 'object') checkTenants('slack', slack, SLACK);
  checkClasses(drives);
  if (typeof workflows !== 'function') checkWorkflows(workflows, options);
}

/** The same checks as by the first request, except those that are slow to load. Lazy values are checked only there. */
function checkWorkflows(workflows: readonly Workflow[], options: CairnOptions): void {
  const versions = new Set<string>();
  for (const { type, planVersion } of workflows) {
    const version = `${planVersion} ${type}`;
    if (versions.has(version))
      throw new TypeError(
        `cairnFunctions: the workflow '${type}' is given twice with version ${planVersion}`,
      );
    versions.add(version);
  }
  // During a deployment the value of the parameter for the timeout is unknown.
  if (!options.parameters || options.drive?.timeoutSeconds !== undefined) assertDrivesFit(options, workflows);
  checkBindings(workflows, options);
}

/** The first request of each function refuses a missing binding, even if no live run needs it. */
function checkBindings(
  workflows: readonly Workflow[],
  { bindings = [], github, slack }: Pick<CairnOptions, 'bindings' | 'github' | 'slack'>,
): void {
  if (typeof bindings === 'function') return;
  try {
    const given = byCapability(bindings);
    // Shipped bindings are slow to load. The first request checks that they exist.
    const isShipped = (id: string) =>
      (github && id.startsWith('github.')) || (slack && id.startsWith('slack.'));
    assertBound(workflows, (id) => given.has(id) || Boolean(isShipped(id)));
  } catch (error) {
    if (!(error instanceof CairnError)) throw error;
    throw new TypeError(`cairnFunctions: ${error.message}. ${error.help}`);
  }
}

function checkPrefix(prefix: string): void {
  try {
    collectionNames(prefix);
  } catch (error) {
    throw new TypeError(`cairnFunctions: collectionPrefix: ${(error as Error).message}`);
  }
}

function checkTenants(name: string, given: object, names: Readonly<Record<string, true>>): void {
  known(`cairnFunctions: ${name}`, given, names);
  checkValues(`${name}.`, given, TENANT_RULES);
}

function checkClasses(drives: Readonly<Record<string, DriveClassOptions>>): void {
  const claimed = new Map<string, string>();
  for (const [name, one] of Object.entries(drives)) {
    if (!CLASS_NAME.test(name) || /^alone$/i.test(name) || name.endsWith('Alone'))
      throw new TypeError(
        `cairnFunctions: '${name}' is not a valid name in drives; use letters and digits, such as video`,
      );
    checkDrive(`drives.${name}`, one, DRIVE_CLASS);
    checkInstances(`drives.${name}`, one);
    if (!WORKFLOW_TYPES.isMet(one.workflows))
      throw new TypeError(`cairnFunctions: drives.${name}.workflows must be ${WORKFLOW_TYPES.what}`);
    for (const type of one.workflows) {
      const other = claimed.get(type);
      if (other !== undefined)
        throw new TypeError(
          `cairnFunctions: the workflow '${type}' is in two drives, '${other}' and '${name}'`,
        );
      claimed.set(type, name);
    }
  }
}

function checkDrive(where: string, options: DriveOptions, names: Readonly<Record<string, true>>): void {
  known(`cairnFunctions: ${where}`, options, names);
  checkValues(`${where}.`, options, DRIVE_RULES);
}

function checkInstances(where: string, { minInstances = 0, maxInstances }: DriveOptions): void {
  const most = maxInstances ?? driveMaxInstances.default;
  if (minInstances <= most) return;
  throw new TypeError(
    `cairnFunctions: ${where}.minInstances is ${minInstances}; it must be at most ${where}.maxInstances, ${most}${maxInstances === undefined ? ' by default' : ''}`,
  );
}

function known(where: string, given: object, names: Readonly<Record<string, true>>): void {
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(names, name)) continue;
    const near = closest(name, Object.keys(names));
    const help =
      near === undefined ? `There are: ${Object.keys(names).sort().join(', ')}.` : `Did you mean '${near}'?`;
    throw new TypeError(`${where}: unknown option '${name}'. ${help}`);
  }
}
