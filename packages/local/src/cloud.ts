/**
 * Composition root of the local cloud: starts every server in the order of their dependencies, and stops them in an order
 * that lets current requests finish. With `main.ts`, the only file of `packages/local/src/` that reads the clock, the
 * environment and random numbers.
 */
import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type MovableClock, movableClock } from '@cairn/local-kit/time/clock';
import { assertPlansUnchangedAtStart, type PlanFinding } from './changed-plans.ts';
import { CleanupStack } from './cleanup-stack.ts';
import { type ControlPort, startControlPort } from './control/control.ts';
import { controlRoutes } from './control/routes.ts';
import { writeAddress } from './data-dir/address.ts';
import { openDevValues } from './data-dir/dev-values.ts';
import { lockDataDir } from './data-dir/lock.ts';
import { DEV_CLIENT_ID } from './dev-client.ts';
import { Deployment } from './functions.ts';
import { type GatewaysOptions, openConsole, openOwnSite, openSiteWithConsole } from './gateways.ts';
import { type FunctionsHost, startFunctionsHost } from './host/host.ts';
import type { Codebase } from './host/served-codebase.ts';
import { Scheduler } from './scheduler/scheduler.ts';
import { type Setting, type StandIns, startStandIns } from './stand-ins.ts';
import { startWarmUp } from './warm-up.ts';

export interface LocalCloudOptions {
  /** `memory`, or the directory of the state, which is created if missing. */
  readonly data: string;
  /** Port of the gateway. 0 or absent: any free one. */
  readonly port?: number;
  /** Ports of the other servers. Default: free ones; the functions get their previous port if it is free. */
  readonly ports?: Ports;
  /** Processes that run task-queue functions; default: one. Other functions have their own. */
  readonly workers?: number;
  /** Keeps a loaded spare worker, which replaces one that dies; default: true. */
  readonly keepsSpare?: boolean;
  /** A worker without a heartbeat for this time, or stopped for a ninth of it, is killed; default: {@link DEFAULT_WATCHDOG_S}. */
  readonly watchdogSeconds?: number;
  /** Module whose exports are served; default: the project's own. */
  readonly functionsModule?: string;
  /** Instead of one module: each codebase has its own workers. */
  readonly codebases?: readonly Codebase[];
  /**
   * True: the gateway serves Cairn's console and the API of the installation, and the site of `firebase.json` has a port of its
   * own. Otherwise the gateway serves that site.
   */
  readonly ownConsole?: boolean;
  /** Called with a codebase that cannot be loaded at the start; absent: the cloud does not start. */
  readonly onNotLoaded?: (codebase: string, error: unknown) => void;
  /**
   * Called after each load of a codebase with the versions that block runs, except those reported unchanged at its previous
   * load. Absent: the cloud does not start if a definition changed within its version.
   */
  readonly onPlanFindings?: (findings: readonly PlanFinding[]) => void;
  /** Called with secrets that got generated values. */
  readonly onMadeUp?: (secrets: readonly string[]) => void;
  /** Called with the parameters without a value after each load of a codebase, unless a later load has replaced it. */
  readonly onUnset?: (codebase: string, parameters: readonly string[]) => void;
  /** Grace period in ms of current requests when their workers are replaced; default: that of Cloud Run. */
  readonly graceMs?: number;
  /** Runner of the functions: processes of this cloud, or firebase-tools, which builds and serves the project's own. */
  readonly functionsBy?: 'workers' | 'firebase-tools';
  /** Default: the project's own. */
  readonly firebaseJson?: string;
  readonly projectId?: string;
  /** Starts with the readable data of damaged files in the data directory; default: refuses to start. */
  readonly acceptDamage?: boolean;
  /** True: a commit is acknowledged once it is on disk; default: once the operating system has it. */
  readonly sync?: boolean;
  /** Length of the minute in `every N minutes`. */
  readonly tickSeconds?: number;
  /** Added to this process's environment for the functions. */
  readonly env?: Readonly<Record<string, string>>;
  /** Destination of the functions' output; default: standard error. */
  readonly output?: number | ((line: string, codebase: string) => void);
  /** One line of this cloud's own log. */
  readonly log?: (line: string) => void;
  /** Receives the lines of that log that a person should act on; default: `log`. */
  readonly warn?: (line: string) => void;
  /** Returns unused memory of this process to the system; called when idle. Absent: another component owns the process. */
  readonly collect?: () => void;
}

export interface Ports {
  readonly functions?: number;
  readonly site?: number;
  readonly firestore?: number;
  readonly tasks?: number;
  readonly pubsub?: number;
}

interface CloudPids {
  readonly cloud: number;
  readonly workers: readonly number[];
  /** The workers by role: `requests`, `tasks`, `alone:{function}`, `spare`, `starting`. */
  readonly roles: Readonly<Record<string, readonly number[]>>;
}

export interface LocalCloud {
  readonly gateway: string;
  readonly firestore: string;
  readonly tasks: string;
  readonly pubsub: string;
  readonly control: string;
  /** GitHub's API, as the functions know it. */
  readonly github: string;
  /** URL of the stand-in of Slack. */
  readonly slack: string;
  /** Functions are at `{functionsUrl}/{name}`. */
  readonly functionsUrl: string;
  /** Names of the functions that are currently served. */
  readonly functions: readonly string[];
  /** The project's site, if it is served apart from the gateway. */
  readonly site: string | undefined;
  readonly projectId: string;
  readonly apiKey: string;
  /** By short name: `GITHUB_WEBHOOK_SECRET` is `github`. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly pids: CloudPids;
  readonly clock: MovableClock;
  /** Resolves with the number of runs that warmed up an idle worker, once no more will follow. */
  readonly warmedUp: Promise<number>;
  /**
   * Loads the current codebase and serves it; the previous workers finish their requests.
   *
   * @throws the reason if it cannot be loaded; then the previous workers continue to serve
   */
  reload(codebase: Pick<Codebase, 'name' | 'env' | 'secrets'>): Promise<void>;
  /** Lets current requests finish (10 s at most), then stops everything. Idempotent. */
  stop(): Promise<void>;
}

export const DEFAULT_PROJECT = 'demo-cairn';
const DEFAULT_TICK_S = 5;
/** The length of a lease, so that a body that blocks for less is not killed. */
const DEFAULT_WATCHDOG_S = 90;
/** Grace period of Cloud Run after SIGTERM. */
const GRACE_MS = 10_000;
const REGION = 'us-central1';
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const FIREBASE_TOOLS_WORKER = fileURLToPath(new URL('./emulators/worker.ts', import.meta.url));

export async function startLocalCloud(options: LocalCloudOptions): Promise<LocalCloud> {
  const stack = new CleanupStack();
  try {
    return await start(options, stack);
  } catch (error) {
    await stack.close();
    throw error;
  }
}

async function start(options: LocalCloudOptions, stack: CleanupStack): Promise<LocalCloud> {
  const setting = settingOf(options, stack);
  const { projectId, clock, dir, dev, log } = setting;
  const servers = await startStandIns(
    setting,
    options.ports ?? {},
    (request) => host.dispatch(request),
    (name) => `${host.url}/${name}`,
  );
  // False for a new data directory, where no server was started yet.
  const isKnown = dev.functionsPorts.length > 0;
  // Started after the servers so that it stops before them: a function that ends needs both.
  const host = await startHost(options, setting);
  const apiKey = `cairn_${DEV_CLIENT_ID}_${dev.apiSecret}`;
  const deployment = new Deployment({
    ...options,
    setting,
    servers,
    host,
    apiKey,
    region: REGION,
    hasCodebases: options.codebases !== undefined,
    machineNow: Date.now,
  });
  await deployFirst(options, deployment);
  // The user's functions may include no API of Cairn.
  if (isKnown && !options.onPlanFindings && host.functions.has('api')) {
    const headers = { Authorization: `Bearer ${apiKey}` };
    const ask = (path: string, signal: AbortSignal) => fetch(`${host.url}/api${path}`, { headers, signal });
    for (const { message } of await assertPlansUnchangedAtStart(ask)) log(message);
  }
  servers.firestore.local?.meter.reset();

  const { gateway, site } = await openGateways(options, {
    host,
    setting,
    welcome: () => ({ github: servers.github.url, apiKey, githubSecret: deployment.secrets.github }),
  });
  if (dir !== undefined) stack.defer(writeAddress(dir, { gateway: gateway.url, apiKey }));
  const pids = () => ({ cloud: process.pid, workers: [...host.workerPids], roles: host.workerPidsByRole });
  const control = await openControl(setting, servers, pids);
  servers.tasks?.start();
  servers.pubsub.local?.start();
  const scheduler = new Scheduler({
    clock,
    dispatch: (request) => host.dispatch(request),
    functionsUrl: host.url,
    minuteMs: (options.tickSeconds ?? DEFAULT_TICK_S) * 1000,
    log,
  });
  scheduler.start(host.functions.values());
  const warmUp = startWarmUp({
    setting,
    region: REGION,
    store: deployment.stores[0],
    host,
    machineNow: Date.now,
  });

  let stopping: Promise<void> | undefined;
  return {
    gateway: gateway.url,
    firestore: servers.firestore.host,
    tasks: servers.tasksHost,
    pubsub: servers.pubsub.host,
    control: control.url,
    github: servers.github.url,
    slack: servers.slack.url,
    functionsUrl: host.url,
    get functions() {
      return [...host.functions.keys()];
    },
    site: site?.url,
    projectId,
    apiKey,
    get secrets() {
      return deployment.secrets;
    },
    get pids() {
      return pids();
    },
    clock,
    warmedUp: warmUp.ended,
    async reload({ name, env, secrets: values }) {
      const codebase = codebasesOf(options).find((one) => one.name === name);
      if (codebase === undefined) throw new Error(`no codebase named '${name}'`);
      void warmUp.stop();
      await deployment.deploy({ ...codebase, ...(env && { env }), ...(values && { secrets: values }) });
      scheduler.replace([...host.functions.values()]);
    },
    stop() {
      scheduler.stop();
      servers.tasks?.quiesce();
      servers.pubsub.local?.quiesce();
      stopping ??= Promise.all([
        warmUp.stop(),
        gateway.stop(GRACE_MS),
        site?.stop(GRACE_MS),
        host.stop(),
      ]).then(() => stack.close());
      return stopping;
    },
  };
}

/** Setting from environment, options and data directory. Its clock continues from the stored offset. */
function settingOf(options: LocalCloudOptions, stack: CleanupStack): Setting {
  const env = { ...process.env, ...options.env };
  const log = options.log ?? ((line: string) => process.stderr.write(`cairn: ${line}\n`));
  const clock = movableClock(Date.now);
  const dir = openDataDir(options.data, stack);
  const dev = openDevValues(dir && join(dir, 'dev.json'), () => randomBytes(24).toString('base64url'));
  // The clock never runs back in a data directory: stored leases and deadlines would last longer.
  clock.advance(dev.clockOffsetMs);
  clock.onAdvance((offsetMs) => dev.rememberClock(offsetMs));
  if (dev.clockOffsetMs > 0)
    log(`the clock is ${Math.round(dev.clockOffsetMs / 1000)} s ahead, as stored with this data`);
  return {
    env,
    projectId: options.projectId ?? env.GCLOUD_PROJECT ?? DEFAULT_PROJECT,
    log,
    warn: options.warn ?? log,
    clock,
    dir,
    acceptDamage: options.acceptDamage ?? false,
    sync: options.sync ?? false,
    dev,
    // Not `GITHUB_TOKEN`: a real token in the environment is not meant for the stand-in.
    githubToken: (env.CAIRN_GITHUB_API_URL && env.GITHUB_TOKEN) || dev.secret('GITHUB_TOKEN'),
    firebaseJson: resolve(options.firebaseJson ?? join(ROOT, 'firebase.json')),
    stack,
  };
}

function codebasesOf({ codebases, functionsModule }: LocalCloudOptions): readonly Codebase[] {
  const module = resolve(functionsModule ?? join(ROOT, 'functions/src/index.ts'));
  return codebases ?? [{ name: 'default', module }];
}

async function startHost(
  options: LocalCloudOptions,
  { clock, dev, log, stack }: Setting,
): Promise<FunctionsHost> {
  const host = await startFunctionsHost({
    codebases: codebasesOf(options),
    workers: options.workers ?? 1,
    keepsSpare: options.keepsSpare,
    watchdogMs: (options.watchdogSeconds ?? DEFAULT_WATCHDOG_S) * 1000,
    ...(options.functionsBy === 'firebase-tools' && { workerMain: FIREBASE_TOOLS_WORKER }),
    region: REGION,
    clock,
    output: options.output ?? 2,
    graceMs: options.graceMs,
    port: options.ports?.functions,
    formerPorts: dev.functionsPorts,
    log,
  });
  stack.defer(() => host.stop());
  dev.rememberFunctionsPort(host.port);
  return host;
}

/** Deploys all codebases for the first time. @throws the reason if one cannot be loaded and `onNotLoaded` is absent */
async function deployFirst(options: LocalCloudOptions, deployment: Deployment): Promise<void> {
  const { onNotLoaded } = options;
  const deployments = codebasesOf(options).map((codebase) =>
    deployment.deploy(codebase).catch((error: unknown) => {
      if (!onNotLoaded) throw error;
      onNotLoaded(codebase.name, error);
    }),
  );
  await Promise.all(deployments);
}

/** The gateway, and with `ownConsole` the project's site on a port of its own. */
async function openGateways(
  { ownConsole, port = 0, ports, collect }: LocalCloudOptions,
  front: Pick<GatewaysOptions, 'host' | 'setting' | 'welcome'>,
) {
  if (!ownConsole)
    return { gateway: await openSiteWithConsole({ ...front, port, collect }), site: undefined };
  const gateway = await openConsole({ ...front, port, collect });
  return { gateway, site: await openOwnSite({ ...front, port: ports?.site ?? 0 }) };
}

async function openControl(
  { clock, stack }: Setting,
  { firestore, tasks, pubsub, github, slack }: StandIns,
  pids: () => LocalCloud['pids'],
): Promise<ControlPort> {
  const control = await startControlPort({
    port: 0,
    routes: controlRoutes({
      firestore: firestore.local,
      pubsub: pubsub.local,
      github: github.local,
      slack,
      clock,
      pids,
      counts: () => ({ tasks: tasks?.counts ?? null, pubsub: pubsub.local?.counts ?? null }),
    }),
  });
  stack.defer(() => control.stop());
  return control;
}

/** The directory, created and locked; undefined in memory mode. */
function openDataDir(data: string, stack: CleanupStack): string | undefined {
  if (data === 'memory') return undefined;
  const dir = resolve(data);
  stack.defer(lockDataDir(dir, process.pid));
  return dir;
}
