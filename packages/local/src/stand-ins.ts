/**
 * Starts the servers that stand in for Google's and for external services, each with its own state. Part of the
 * composition root `cloud.ts`; owns the file of each server's state.
 */
import { join } from 'node:path';
import type { FirestoreServer } from '@cairn/local-firestore/server';
import type { StorageChoice } from '@cairn/local-kit/sqlite/grouped-database';
import type { MovableClock } from '@cairn/local-kit/time/clock';
import type { PubsubServer } from '@cairn/local-pubsub/server';
import type { Dispatch } from '@cairn/local-tasks/attempt';
import { randomTaskId, startTasksServer, type TasksServer } from '@cairn/local-tasks/server';
import type { CleanupStack } from './cleanup-stack.ts';
import type { ControlledFirestore } from './control/routes.ts';
import type { DevValues } from './data-dir/dev-values.ts';
import type { StandInServer } from './stand-in/server.ts';

interface ServerContext {
  readonly dir: string | undefined;
  readonly acceptDamage: boolean;
  readonly sync: boolean;
  readonly clock: MovableClock;
  readonly stack: CleanupStack;
  /** Default: any free one. */
  readonly port?: number;
}

interface FirestoreChoice {
  /** `host:port` of a running server; then none is started. */
  readonly external: string | undefined;
}

/** Setting shared by all parts of a cloud. */
export interface Setting extends Omit<ServerContext, 'port'> {
  /** The environment, and what was added to it for the functions. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly projectId: string;
  readonly dev: DevValues;
  readonly githubToken: string;
  /** Its sites are served and its indexes created, if it exists. */
  readonly firebaseJson: string;
  readonly log: (line: string) => void;
  /** A line that a person should act on. */
  readonly warn: (line: string) => void;
}

export type StandIns = Awaited<ReturnType<typeof startStandIns>>;

/** Starts all servers, except those whose address the environment gives. They stop with the stack. */
export async function startStandIns(
  setting: Setting,
  ports: { readonly firestore?: number; readonly tasks?: number; readonly pubsub?: number },
  dispatch: Dispatch,
  functionUrl: (name: string) => string,
) {
  const { env, githubToken: token } = setting;
  const { dir, acceptDamage, sync, clock, stack } = setting;
  const context: ServerContext = { dir, acceptDamage, sync, clock, stack };
  const at = (port: number | undefined) => (port === undefined ? {} : { port });
  const [firestore, tasks, pubsub, github, slack] = await Promise.all([
    startFirestore({
      ...context,
      ...at(ports.firestore),
      external: env.FIRESTORE_EMULATOR_HOST,
    }),
    env.CAIRN_TASKS_HOST ? undefined : startTasks({ ...context, ...at(ports.tasks), dispatch, functionUrl }),
    startPubsub({
      ...context,
      ...at(ports.pubsub),
      dispatch,
      external: env.PUBSUB_EMULATOR_HOST,
      notice: setting.log,
    }),
    startGithub({ ...context, token, external: env.CAIRN_GITHUB_API_URL }),
    startSlack(context),
  ]);
  const tasksHost = env.CAIRN_TASKS_HOST ?? tasks?.host ?? '';
  return { firestore, tasks, tasksHost, pubsub, github, slack };
}

const storageIn = ({ dir, acceptDamage, sync }: ServerContext, file: string): StorageChoice =>
  dir === undefined ? { kind: 'memory' } : { kind: 'sqlite', file: join(dir, file), acceptDamage, sync };

/** Starts the Firestore server, or returns the address of an external one. It stops with the stack. */
async function startFirestore(context: ServerContext & FirestoreChoice) {
  const { clock, stack, external } = context;
  if (external) return { host: external, local: undefined };
  const { startFirestoreServer } = await import('@cairn/local-firestore/server');
  const server = await startFirestoreServer({
    storage: storageIn(context, 'firestore.sqlite'),
    clock: clock.now,
    // An injected fault must end the process without any clean-up.
    crash: () => process.kill(process.pid, 'SIGKILL'),
    ...(context.port !== undefined && { port: context.port }),
    awaitsIndexes: true,
  });
  stack.defer(() => server.stop());
  const local: ControlledFirestore & Pick<FirestoreServer, 'useIndexes'> = server;
  return { host: server.host, local };
}

/** Starts the Cloud Tasks server, which dispatches once `start()` is called, and stops with the stack. */
async function startTasks(
  context: ServerContext & Pick<Parameters<typeof startTasksServer>[0], 'dispatch' | 'functionUrl'>,
): Promise<TasksServer> {
  const { clock, dispatch, functionUrl, stack } = context;
  const server = await startTasksServer({
    storage: storageIn(context, 'tasks.sqlite'),
    clock,
    dispatch,
    ...(context.port !== undefined && { port: context.port }),
    ...(functionUrl && { functionUrl }),
    freshTaskId: randomTaskId,
  });
  stack.defer(() => server.stop());
  return server;
}

/** Starts the Pub/Sub server, or returns the address of an external one. It pushes once `start()` is called, and stops with the stack. */
async function startPubsub(
  context: ServerContext & {
    readonly dispatch: Dispatch;
    readonly external: string | undefined;
    readonly notice: (line: string) => void;
  },
): Promise<{ readonly host: string; readonly local: PubsubServer | undefined }> {
  const { clock, dispatch, stack, external, notice } = context;
  if (external) return { host: external, local: undefined };
  const { randomGeneration, startPubsubServer } = await import('@cairn/local-pubsub/server');
  const server = await startPubsubServer({
    storage: storageIn(context, 'pubsub.sqlite'),
    clock,
    dispatch,
    notice,
    ...(context.port !== undefined && { port: context.port }),
    freshGeneration: randomGeneration,
    crash: () => process.kill(process.pid, 'SIGKILL'),
  });
  stack.defer(() => server.stop());
  return { host: server.host, local: server };
}

/** Starts the stand-in of GitHub's API, or returns the address of an external one. It stops with the stack. */
async function startGithub(
  context: ServerContext & { readonly external: string | undefined; readonly token: string },
): Promise<{ readonly url: string; readonly local: StandInServer | undefined }> {
  const { clock, stack, external, token } = context;
  if (external) return { url: external, local: undefined };
  const { startGithubServer } = await import('./github/server.ts');
  const server = await startGithubServer({ storage: storageIn(context, 'github.sqlite'), clock, token });
  stack.defer(() => server.stop());
  return { url: server.url, local: server };
}

/** Starts the stand-in of Slack. It stops with the stack. */
async function startSlack(context: ServerContext): Promise<StandInServer> {
  const { clock, stack } = context;
  const { startSlackServer } = await import('./slack/server.ts');
  const server = await startSlackServer({ storage: storageIn(context, 'slack.sqlite'), clock });
  stack.defer(() => server.stop());
  return server;
}
