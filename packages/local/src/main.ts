/**
 * `npm start`: starts the local cloud, prints its addresses, and stops it on SIGTERM or Ctrl-C. Owns the output and
 * the exit code: 0 stopped on request, 1 could not start, 2 invalid flags.
 */
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { ArgumentsError, readArguments, type StartArguments, USAGE } from './arguments.ts';
import type { LocalCloudOptions } from './cloud.ts';
import { isShortLived } from './node-flags.ts';

enableCompileCache();
const DEFAULT_PORT = 8080;

const flags = flagsOrExit();
if (flags.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}
// Loaded after the flags were checked, so that an invalid flag is reported at once.
const { startLocalCloud } = await import('./cloud.ts');
const { storageError } = await import('@cairn/local-kit/sqlite/storage-full');
const { collectAll } = await import('./idle-gc.ts');
type Cloud = Awaited<ReturnType<typeof startLocalCloud>>;

/** Errors with a self-explanatory message; others are logged with their stack. */
const SELF_EXPLANATORY = new Set([
  'ApiFailedError',
  'DamagedDataError',
  'DataDirBusyError',
  'DataDirUnusableError',
  'FunctionsNotLoadedError',
  'NewerDataError',
  'PlansChangedError',
  'StorageFullError',
]);

// Saves 4 to 13 MB per worker, which glibc would keep in the separate arenas of V8's threads.
process.env.MALLOC_ARENA_MAX ??= '1';

let stopAsked = false;
let cloud: Cloud | undefined;
/** Stop functions of servers beside the cloud. */
const others: (() => Promise<void>)[] = [];
process.on('SIGTERM', stop);
process.on('SIGINT', stop);

const isInteractive = !flags.json && !flags.emulators;
const terminal = {
  write: (text: string) => void process.stderr.write(text),
  now: () => cloud?.clock.now() ?? Date.now(),
};
try {
  const interactive = isInteractive ? await import('./dev/terminal.ts') : undefined;
  const started = interactive?.printProgress(terminal);
  try {
    cloud = await start(interactive?.readableLog(terminal));
  } finally {
    started?.();
  }
  if (interactive) others.push(interactive.reloadOnChange(cloud, flags.functionsModule, terminal));
  if (stopAsked) await end();
  else if (flags.json) process.stdout.write(`${JSON.stringify(readyLine(cloud))}\n`);
  else process.stdout.write(await greeting(cloud));
} catch (error) {
  process.stderr.write(`cairn: ${await messageOf(error)}\n`);
  await stopOthers();
  process.exit(1);
}

function flagsOrExit(): StartArguments {
  try {
    return readArguments(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof ArgumentsError)) throw error;
    process.stderr.write(`cairn: ${error.message}\n\n${USAGE}`);
    process.exit(2);
  }
}

async function start(log: Pick<LocalCloudOptions, 'output' | 'log' | 'warn'> = {}): Promise<Cloud> {
  const { data, workers, keepsSpare, watchdogSeconds, tickSeconds, projectId, functionsModule, emulators } =
    flags;
  const options = {
    data,
    workers,
    keepsSpare,
    tickSeconds,
    acceptDamage: flags.acceptDamage,
    sync: flags.sync,
    ...(!isShortLived(process.env) && { collect: collectAll }),
    ...log,
    ...(watchdogSeconds !== undefined && { watchdogSeconds }),
    ...(projectId !== undefined && { projectId }),
    ...(functionsModule !== undefined && { functionsModule }),
    ...(emulators && { functionsBy: 'firebase-tools' as const }),
    ...(flags.official && { env: { FIRESTORE_EMULATOR_HOST: await officialFirestore() } }),
  };
  if (flags.port !== undefined || flags.json) return startLocalCloud({ ...options, port: flags.port ?? 0 });
  const { isFree } = await import('./dev/ports.ts');
  return startLocalCloud({ ...options, port: (await isFree(DEFAULT_PORT)) ? DEFAULT_PORT : 0 });
}

async function officialFirestore(): Promise<string> {
  const { startOfficialFirestore } = await import('./emulators/official-firestore.ts');
  const { DEFAULT_PROJECT } = await import('./cloud.ts');
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const projectId = flags.projectId ?? process.env.GCLOUD_PROJECT ?? DEFAULT_PROJECT;
  const { host, stop } = await startOfficialFirestore({ root, projectId, env: process.env });
  others.push(stop);
  return host;
}

function stop(): void {
  if (stopAsked) return;
  stopAsked = true;
  if (cloud !== undefined) void end();
}

async function stopOthers(): Promise<void> {
  await Promise.all(others.map((stopOne) => stopOne()));
}

async function end(): Promise<void> {
  await cloud?.stop();
  await stopOthers();
  process.exit(0);
}

function readyLine(cloud: Cloud) {
  const { gateway, firestore, tasks, pubsub, control, github, slack, projectId, apiKey, secrets, pids } =
    cloud;
  const servers = { gateway, firestore, tasks, pubsub, control, github, slack };
  return { ready: true, ...servers, projectId, apiKey, secrets, pids };
}

async function greeting({
  gateway,
  firestore,
  tasks,
  pubsub,
  control,
  github,
  slack,
  apiKey,
  secrets,
}: Cloud): Promise<string> {
  const { commandsToTry } = await import('./gateway/welcome.ts');
  const commands = commandsToTry({ gateway, github, apiKey, githubSecret: secrets.github });
  return `Cairn's local cloud is ready.

  console    ${gateway}   (open it in a browser)
  gateway    ${gateway}
  API key    ${apiKey}
  Firestore  ${firestore}   (FIRESTORE_EMULATOR_HOST)
  Tasks      ${tasks}   (CLOUD_TASKS_EMULATOR_HOST)
  Pub/Sub    ${pubsub}   (PUBSUB_EMULATOR_HOST)
  GitHub     ${github}   (stands in for api.github.com: reviews post here)
  Slack      ${slack}   (stands in for hooks.slack.com)
  control    ${control}
  state      ${flags.data}

Functions scheduled 'every 1 minutes' run every ${flags.tickSeconds} s here (--tick). ${isInteractive ? 'An edit of the functions is served at once. ' : ''}Ctrl-C stops everything; runs continue after the next start.

Try it:

${commands.join('\n\n')}
`;
}

async function messageOf(thrown: unknown): Promise<string> {
  const error = storageError(thrown);
  if (!(error instanceof Error)) return String(error);
  if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') {
    return `port ${flags.port ?? DEFAULT_PORT} is in use; choose another with --port, or omit it`;
  }
  if (error.name === 'FunctionsNotLoadedError' && !flags.verbose) {
    const { readableError } = await import('./dev/readable-error.ts');
    const reason = readableError(error.message, process.cwd(), '(--verbose)');
    return `the functions could not be loaded:\n${reason}`;
  }
  return SELF_EXPLANATORY.has(error.name) ? error.message : (error.stack ?? error.message);
}
