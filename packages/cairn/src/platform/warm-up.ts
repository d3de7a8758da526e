/**
 * An installation for no-op runs. An idle worker of the local cloud executes them before its first request, so that V8 has compiled the
 * engine by then. Its servers are separate from those of the environment, and its log lines are discarded.
 *
 * Must not: use anything that the runs of the codebase use, or call code of the codebase.
 */
import type { Request } from 'firebase-functions/https';
import { drive } from '../engine/drive/drive.ts';
import { warmUpWorkflow } from '../engine/warm-up-workflow.ts';
import type { FunctionResponse } from './http.ts';
import { answerApi } from './http-handlers.ts';
import type { CairnInstallation } from './installation/installation.ts';
import { jsonLog } from './log.ts';
import { compose, composeBeside } from './root.ts';

/** Servers for these runs only. */
export interface WarmUpServers {
  /** `host:port` of a server that is called by frames, like that of `tasks`. */
  readonly firestore: string;
  readonly tasks: string;
  /** Region of the queue. May differ from the installation's. */
  readonly region: string;
  readonly database: string;
  readonly collectionPrefix: string;
  /** URL of the function that gets the tasks. */
  readonly driveUrl: string;
}

/** Handlers of requests, in the form that the platform calls. */
export interface WarmUpFunctions {
  readonly api: (request: Request, response: FunctionResponse) => Promise<void>;
  readonly drive: (request: Request, response: FunctionResponse) => Promise<void>;
}

/** @throws Error if the settings of `exported`, which these runs share, are invalid */
export async function warmUpFunctions(
  exported: CairnInstallation,
  { firestore, tasks, driveUrl, ...store }: WarmUpServers,
): Promise<WarmUpFunctions> {
  const beside: CairnInstallation = { options: { workflows: [warmUpWorkflow] }, members: {} };
  const queue = { name: driveUrl.slice(driveUrl.lastIndexOf('/') + 1), targetUrl: driveUrl };
  await composeBeside(exported, beside, {
    ...store,
    firestoreHost: firestore,
    tasksHost: tasks,
    wireHosts: new Set([firestore, tasks]),
    drive: { shared: queue, alone: queue },
    pools: {},
    runEventsTopic: undefined,
    otlpEndpoint: undefined,
    log: jsonLog({ least: () => 'INFO', write: () => {} }),
  });
  const { engineOf } = await compose(beside);
  // A process remembers admitted bodies by name, and a workflow of the codebase may use the same names.
  const engine = { ...engineOf(undefined), admitBody: undefined };
  return {
    api: (request, response) => answerApi(beside, request, response),
    // Not called as a task function, because that would count as the first dispatch of the process.
    async drive(request, response) {
      const { runId } = (request.body as { readonly data: { readonly runId: string } }).data;
      await drive(engine, { runId, alone: false, pool: undefined, skipsBackoff: false, trace: undefined });
      response.writeHead(204, {});
      response.end();
    },
  };
}
