/**
 * Main of the worker process that runs the functions by firebase-tools: exchanges the messages of a worker
 * (`host/workers/messages.ts`), builds the functions, starts firebase-tools as its child and relays requests to it. It ends
 * with the cloud process, and firebase-tools ends with it. Owns this process's signals and exit.
 */
import { fileURLToPath } from 'node:url';
import { drainable } from '@cairn/local-kit/http/drain';
import { listenOnLoopback } from '@cairn/local-kit/http/listen';
import { type FromWorker, reasonOf, type ToWorker } from '../host/workers/messages.ts';
import { type Discovered, discovered, functionsAt } from './discovery.ts';
import { type FirebaseTools, isInstalled, NOT_INSTALLED, startFirebaseTools } from './firebase-tools.ts';
import { freePorts } from './free-ports.ts';
import { relay } from './relay.ts';
import { makeStagingFolder, type StagingFolder } from './staging-folder.ts';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
/** Shorter than the grace period of a worker, so that firebase-tools can end its functions afterwards. */
const GRACE_MS = 4_000;
const HEARTBEAT_MS = 1_000;

const functions = new Map<string, Discovered>();
let staging: StagingFolder | undefined;
let tools: FirebaseTools | undefined;
let emulatorPort = 0;
let drain: (graceMs: number) => Promise<void> = async () => {};
let ending: Promise<void> | undefined;

/** Ignored once the cloud process is gone, so that the worker still ends in order. */
const send = (message: FromWorker) => process.connected && process.send?.(message, () => {});

process.on('disconnect', () => void end(1));
// Ctrl-C reaches the whole process group, but the cloud process decides when this one ends.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => void end(0));
process.on('message', (message: ToWorker) => {
  handle(message).catch((error: unknown) => {
    send({ kind: 'failed', error: reasonOf(error) });
    void end(1);
  });
});

async function handle(message: ToWorker): Promise<void> {
  switch (message.kind) {
    case 'load':
      return load(message);
    case 'serve':
      return serve(message.env);
    case 'are-you-alive':
      send({ kind: 'alive' });
      return;
    case 'clock':
      if (message.offsetMs !== 0) process.stderr.write(`${NO_CLOCK}\n`);
      send({ kind: 'clock-moved' });
  }
}

const NO_CLOCK =
  'cairn: the clock was moved, but functions run by firebase-tools use the clock of this machine';

async function load({ env }: ToWorker & { kind: 'load' }): Promise<void> {
  if (!isInstalled(ROOT)) throw new Error(NOT_INSTALLED);
  const projectId = env.GCLOUD_PROJECT ?? '';
  const [port = 0, hub = 0, logging = 0, tasks = 0, eventarc = 0] = await freePorts(5);
  emulatorPort = port;
  staging = await makeStagingFolder({
    root: ROOT,
    env,
    ports: { functions: port, hub, logging, tasks, eventarc },
  });
  if (ending) return;
  tools = startFirebaseTools({
    root: ROOT,
    folder: staging.folder,
    projectId,
    only: 'functions',
    env,
    output: process.stdout,
  });
  void tools.ended.then(() => {
    if (!ending) send({ kind: 'failed', error: 'firebase-tools exited; see its output above' });
    void end(1);
  });
  await tools.ready;
  const found = discovered(await functionsAt(`http://127.0.0.1:${port}`), projectId);
  for (const each of found) functions.set(each.spec.name, each);
  send({ kind: 'loaded', functions: found.map(({ spec }) => spec) });
}

async function serve(secrets: Readonly<Record<string, string>>): Promise<void> {
  await staging?.writeSecrets(secrets);
  const server = relay(functions, emulatorPort);
  drain = drainable(server);
  send({ kind: 'ready', port: await listenOnLoopback(server) });
  setInterval(() => send({ kind: 'heartbeat' }), HEARTBEAT_MS).unref();
}

/** Ends current requests first, then firebase-tools, then removes the staging folder. */
function end(code: number): Promise<void> {
  ending ??= (async () => {
    await drain(GRACE_MS);
    await tools?.stop();
    await staging?.remove();
    process.exit(code);
  })();
  return ending;
}
