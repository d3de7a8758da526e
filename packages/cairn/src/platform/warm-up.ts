/**
 * An installation for runs that mean nothing: an idle worker of the local cloud executes them before its first request, so that V8 has compiled
 * the engine by then. Its servers are separate from those of the environment, and its lines are not written.
 *
 * Must not: touch anything that the runs of the codebase use.
 */
import { warmUpWorkflow } from '../engine/warm-up-workflow.ts';
import { apiOf, drivesOf } from './installation/deployed.ts';
import type { CairnInstallation } from './installation/installation.ts';
import { jsonLog } from './log.ts';
import { composeBeside } from './root.ts';

/** `host:port` of servers for these runs only, and the URL of the function that gets their tasks. */
export interface WarmUpServers {
  readonly firestore: string;
  readonly tasks: string;
  readonly driveUrl: string;
}

/** Handlers of requests, as the platform calls them. */
export interface WarmUpFunctions {
  readonly api: (request: never, response: never) => unknown;
  readonly drive: (request: never, response: never) => unknown;
}

/** @throws Error if the settings of `exported`, whose names and location of runs they have, are not usable */
export async function warmUpFunctions(
  exported: CairnInstallation,
  { firestore, tasks, driveUrl }: WarmUpServers,
): Promise<WarmUpFunctions> {
  const beside: CairnInstallation = { options: { workflows: [warmUpWorkflow] }, members: {} };
  const queue = { name: driveUrl.slice(driveUrl.lastIndexOf('/') + 1), targetUrl: driveUrl };
  await composeBeside(exported, beside, {
    firestoreHost: firestore,
    tasksHost: tasks,
    wireHosts: new Set(process.env.CAIRN_WIRE_HOSTS === '' ? [] : [firestore, tasks]),
    drive: { shared: queue, alone: queue },
    pools: {},
    runEventsTopic: undefined,
    otlpEndpoint: undefined,
    log: jsonLog({ least: () => 'INFO', write: () => {} }),
  });
  const target = { installation: beside, region: 'us-central1', secrets: [] };
  const { drive } = drivesOf(target, {});
  return { api: apiOf(target), drive: drive as WarmUpFunctions['drive'] };
}
