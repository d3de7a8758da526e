/**
 * Serves the functions, and creates their queues, subscriptions and secrets as `firebase deploy` would. Part of the composition
 * root `cloud.ts`.
 *
 * Must not: run a function; the host does.
 */
import { existsSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { PlanFinding } from './changed-plans.ts';
import { apisAmong } from './gateway/installation.ts';
import type { AskFunction } from './host/ask-function.ts';
import type { FunctionSpec, FunctionStore } from './host/function-spec.ts';
import type { FunctionsHost } from './host/host.ts';
import { type ForFunction, subscriptionOf, topicName } from './host/pubsub/subscription-of.ts';
import { queueOf } from './host/queue-of.ts';
import { realServices } from './host/real-services.ts';
import type { Codebase, StartWorkers } from './host/served-codebase.ts';
import { workerEnv } from './host/worker-env.ts';
import { parseJsonc } from './jsonc.ts';
import { PlanReports } from './plan-reports.ts';
import type { Setting, StandIns } from './stand-ins.ts';
import { prepareStores, undeclared } from './stores.ts';

interface Serving {
  readonly setting: Setting;
  readonly servers: StandIns;
  readonly host: FunctionsHost;
  readonly region: string;
  /** Names of functions that were reported as not served, and of real services that were. */
  readonly reported: Set<string>;
}

interface Started {
  /** Secrets of the functions, by their short names. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Names of secrets with generated values. */
  readonly madeUp: readonly string[];
  /** Names of parameters without a value. */
  readonly unset: readonly string[];
  /** False if the workers of a later call already serve. */
  readonly isNewest: boolean;
}

interface DeploymentOptions extends Omit<Serving, 'reported'> {
  readonly apiKey: string;
  /** False: one module is served; if it declares no store, the default one is prepared. */
  readonly hasCodebases: boolean;
  readonly onPlanFindings?: ((findings: readonly PlanFinding[]) => void) | undefined;
  readonly onMadeUp?: ((secrets: readonly string[]) => void) | undefined;
  readonly onUnset?: ((codebase: string, parameters: readonly string[]) => void) | undefined;
  /** Epoch ms of the machine's clock, which is never moved. */
  machineNow(): number;
}

/** The codebases that a cloud serves, with their stores and secrets. */
export class Deployment {
  readonly #options: DeploymentOptions;
  readonly #serving: Serving;
  readonly #plans: PlanReports | undefined;
  readonly #stores = new Map<string, readonly FunctionStore[]>();
  #secrets: Readonly<Record<string, string>> = {};

  constructor(options: DeploymentOptions) {
    const { setting, servers, host, region, onPlanFindings } = options;
    this.#options = options;
    this.#serving = { setting, servers, host, region, reported: new Set() };
    this.#plans = onPlanFindings && new PlanReports(onPlanFindings);
  }

  /** Locations of the runs of all codebases. */
  get stores(): readonly FunctionStore[] {
    return [...this.#stores.values()].flat();
  }

  /** By short name. */
  get secrets(): Readonly<Record<string, string>> {
    return this.#secrets;
  }

  async deploy(codebase: Codebase): Promise<void> {
    const { apiKey, onMadeUp, onUnset } = this.#options;
    const started = await startFunctions(codebase, this.#serving, {
      prepare: (found) => this.#prepare(codebase, found),
      ...(this.#plans && { verify: verifying(apiKey, this.#plans) }),
    });
    this.#secrets = { ...this.#secrets, ...started.secrets };
    if (started.madeUp.length > 0) onMadeUp?.(started.madeUp);
    if (started.isNewest) onUnset?.(codebase.name, started.unset);
  }

  #prepare({ name }: Codebase, found: readonly FunctionStore[]): Promise<void> {
    const { setting, servers, hasCodebases, machineNow } = this.#options;
    if (isDeepStrictEqual(this.#stores.get(name), found)) return Promise.resolve();
    this.#stores.set(name, found);
    const { stores } = this;
    const prepared = stores.length > 0 || hasCodebases ? stores : [undeclared(setting.env)];
    return prepareStores(prepared, { setting, firestore: servers.firestore, now: machineNow() });
  }
}

/** Asks each API, which loads its workflows, and reports versions that block runs. */
function verifying(apiKey: string, plans: PlanReports) {
  const headers = { Authorization: `Bearer ${apiKey}` };
  return async (ask: AskFunction, functions: ReadonlyMap<string, FunctionSpec>): Promise<void> => {
    for (const api of apisAmong(functions)) await plans.check(api, (path) => ask(api, path, headers));
  };
}

interface Preparing {
  /** Called once, before any function serves, with the locations of the installations' runs. */
  prepare(stores: readonly FunctionStore[]): Promise<void>;
  readonly verify?: StartWorkers['verify'];
}

/**
 * A repeated call serves the current module, see {@link ServedCodebase.start}.
 *
 * @returns once all workers serve
 */
async function startFunctions(
  codebase: Codebase,
  serving: Serving,
  { prepare, verify }: Preparing,
): Promise<Started> {
  const { setting, servers, host, region } = serving;
  const { projectId, githubToken } = setting;
  const named = { ...setting.env, ...codebase.env };
  // In production a person creates the topic, and a parameter must name it before anything is published.
  const runEvents = named.RUN_EVENTS_TOPIC ?? 'run-events';
  if (runEvents !== '') servers.pubsub.local?.ensureTopic(topicName(projectId, runEvents));
  const env: Setting['env'] = {
    ...named,
    RUN_EVENTS_TOPIC: runEvents,
    CAIRN_FUNCTIONS_PREFIX: codebase.prefix,
  };

  const secrets: Record<string, string> = {};
  let madeUp: string[] = [];
  let unset: readonly string[] = [];
  let prepared: Promise<void> | undefined;
  const isNewest = await host.startWorkers(codebase.name, {
    env: workerEnv({
      projectId,
      region,
      firestore: servers.firestore.host,
      tasks: servers.tasksHost,
      pubsub: servers.pubsub.host,
      own: ownHosts(servers),
      functionsUrl: host.url,
      github: { url: servers.github.url, token: githubToken },
      slack: servers.slack.url,
      userEnv: env,
    }),
    secrets: secretsAtLoad(codebase),
    ...(verify && {
      async verify(ask, functions) {
        await prepared;
        await verify(ask, functions);
      },
    }),
    onFunctions(specs, withoutValue) {
      unset = withoutValue;
      const given = { ...env, ...codebase.secrets };
      const values = secretsOf(specs, { ...setting, env: given });
      madeUp = Object.keys(values).filter((name) => name !== 'GITHUB_TOKEN' && given[name] === undefined);
      for (const [name, value] of Object.entries(values)) secrets[shortName(name)] = value;
      for (const spec of specs) setUp(spec, serving);
      reportUnserved(specs, serving);
      reportReal(specs, serving, env);
      prepared ??= prepare(specs.flatMap(({ store }) => store ?? []));
      // Prevents an unhandled rejection: the promise is awaited below, possibly after it failed.
      prepared.catch(() => {});
      return values;
    },
  });
  await prepared;
  return { secrets, madeUp, unset, isNewest };
}

function ownHosts({ firestore, tasks, pubsub }: StandIns): string[] {
  return [firestore.local && firestore.host, tasks?.host, pubsub.local?.host].filter(
    (host) => host !== undefined,
  );
}

/** Without GitHub's token, for which the environment has that of the stand-in. */
function secretsAtLoad({ secrets = {} }: Codebase): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(secrets).filter(([name]) => name !== 'GITHUB_TOKEN'));
}

type Specs = Parameters<StartWorkers['onFunctions']>[0];

function secretsOf(specs: Specs, { env, dev, githubToken }: Setting): Record<string, string> {
  const names = [...new Set(specs.flatMap(({ secrets }) => secrets))];
  return Object.fromEntries(
    names.map((name) => [name, name === 'GITHUB_TOKEN' ? githubToken : (env[name] ?? dev.secret(name))]),
  );
}

/** Connects a function to its trigger. */
function setUp(spec: Specs[number], { setting: { projectId, log }, servers, host }: Serving): void {
  const { trigger } = spec;
  if (trigger.kind === 'task-queue') servers.tasks?.ensureQueue(queueOf(projectId, spec, trigger));
  if (trigger.kind === 'message')
    subscribe({ projectId, functionsUrl: host.url, spec, trigger }, servers, log);
}

/** Reports each function once, although its codebase is loaded again after each edit. */
function reportUnserved(specs: Specs, { reported, setting: { log } }: Serving): void {
  const unserved = specs.flatMap(({ name, trigger }) => {
    if (trigger.kind !== 'unsupported' || reported.has(name)) return [];
    reported.add(name);
    return [`${name} (${trigger.what})`];
  });
  if (unserved.length > 0) log(`not served, because nothing here sends their events: ${unserved.join(', ')}`);
}

/** Reports each service once, even if several codebases use it. */
function reportReal(specs: Specs, { reported, setting }: Serving, env: Setting['env']): void {
  const { projectId, firebaseJson, warn } = setting;
  const eventTypes = specs.flatMap(({ trigger }) => (trigger.kind === 'unsupported' ? [trigger.what] : []));
  const config = existsSync(firebaseJson) ? parseJsonc(readFileSync(firebaseJson, 'utf8')) : {};
  const found = realServices({ projectId, eventTypes, firebaseJson: Object(config), env });
  for (const [name, warning] of found) {
    if (!reported.has(name)) warn(warning);
    reported.add(name);
  }
}

function subscribe(wanted: ForFunction, { pubsub }: StandIns, log: Setting['log']): void {
  if (pubsub.local) pubsub.local.ensureSubscription(subscriptionOf(wanted));
  else
    log(`'${wanted.spec.name}' gets no messages: no subscription is created on an external Pub/Sub server`);
}

/** The short name of `GITHUB_WEBHOOK_SECRET` is `github`. */
function shortName(secret: string): string {
  return secret.toLowerCase().replace(/_(?:webhook|signing)_(?:secret|token|key)$/, '');
}
