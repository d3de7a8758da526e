/**
 * Main of a worker process: loads the functions module and serves its functions over loopback HTTP. It ends with the cloud process.
 * Owns this process's environment, signals and exit.
 */
import { enableCompileCache } from 'node:module';
import { pathToFileURL } from 'node:url';
import { drainable } from '@cairn/local-kit/http/drain';
import { listenOnLoopback } from '@cairn/local-kit/http/listen';
import { collectAll, collectWhenIdle } from '../../idle-gc.ts';
import { isShortLived } from '../../node-flags.ts';
import { type FunctionHandler, functionsOf } from '../function-spec.ts';
import { type FromWorker, reasonOf, type ToWorker, WARM_UP, type WarmUpServers } from './messages.ts';
import { setDefaults } from './params.ts';
import { shiftableTime } from './shifted-time.ts';

enableCompileCache();
const setClockOffset = shiftableTime();
const { functionsServer } = await import('../functions-server.ts');
const { ServedLink } = await import('../link/serve-link.ts');

/** Saved before a body can replace it. */
const exit: (code: number) => never = process.exit.bind(process);
let isEnding = false;
/** Grace period of Cloud Run between SIGTERM and SIGKILL. */
let graceMs = 10_000;
const HEARTBEAT_MS = 1_000;
/** Longest wait of a new body for answers. Most take a few ms; the limit matters if there is always a request. */
const NEW_BODY_WAITS_MS = 100;
const handlers = new Map<string, FunctionHandler>();
const wholeHandlers = new Map<string, FunctionHandler>();
const server = functionsServer(handlers, Date.now);
const tasks = new Set<string>();
const link = new ServedLink(server, { handlers: wholeHandlers, tasks, now: Date.now });
const drainServer = drainable(server);
const collectSoon = isShortLived(process.env)
  ? undefined
  : collectWhenIdle(server, { collect: collectAll, also: link });

const sendToCloud = takeChannel();
/** Without the cloud process the message is lost, and `disconnect` ends this process. */
const send = (message: FromWorker) => sendToCloud?.(message, () => {});

// Emitted before the first execution of a body in this process; listeners add promises to `waits`.
process.on('cairn:new-body' as 'message', (waits: unknown) => {
  (waits as Promise<void>[]).push(link.answersSent(NEW_BODY_WAITS_MS));
});
process.on('disconnect', () => exit(1));
// Ctrl-C reaches the whole process group, but the cloud process decides when this one ends.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {
  isEnding = true;
  void Promise.all([drainServer(graceMs), link.drain(graceMs)]).then(() => exit(0));
});
process.on('message', (message: ToWorker) => {
  handle(message).catch((error: unknown) => {
    send({ kind: 'failed', error: reasonOf(error) });
    process.disconnect();
  });
});

async function handle(message: ToWorker): Promise<void> {
  switch (message.kind) {
    case 'load':
      return load(message);
    case 'serve':
      return serve(message.env);
    case 'are-you-alive':
      // An ending worker does not answer, so that it gets no request.
      if (!isEnding) send({ kind: 'alive' });
      return;
    case 'warm-up':
      return warmUp();
    case 'serve-warm-up':
      return serveWarmUp(message.servers);
    case 'end-warm-up':
      return endWarmUp();
    case 'clock':
      setClockOffset(message.offsetMs);
      return afterMove();
  }
}

/** Hides `process.send` from the functions, because a deployed instance has none and libraries that find it send messages. */
function takeChannel(): typeof process.send {
  const channel = process.send?.bind(process);
  delete process.send;
  return channel;
}

/** Waits until the runs of this process have sent a heartbeat under the new time. */
async function afterMove(): Promise<void> {
  const waits: Promise<unknown>[] = [];
  process.emit('cairn:clock-moved' as 'message', waits, undefined);
  await Promise.allSettled(waits);
  send({ kind: 'clock-moved' });
}

/** Ignores failures, which the first request reports. */
async function warmUp(): Promise<void> {
  const waits: Promise<unknown>[] = [];
  process.emit('cairn:warm-up' as 'message', waits, undefined);
  await Promise.allSettled(waits);
  collectSoon?.();
  send({ kind: 'warm' });
}

async function serveWarmUp(servers: WarmUpServers): Promise<void> {
  const found: Promise<Readonly<Record<keyof typeof WARM_UP, FunctionHandler>>>[] = [];
  process.emit('cairn:warm-up-functions' as 'message', { servers, found }, undefined);
  // Several copies of the package may answer. A failure only slows down the first request, which reports it.
  const answers = await Promise.allSettled(found);
  const functions = answers.find((answer) => answer.status === 'fulfilled')?.value;
  if (functions) {
    wholeHandlers.set(WARM_UP.api, functions.api);
    wholeHandlers.set(WARM_UP.drive, functions.drive);
    tasks.add(WARM_UP.drive);
  }
  send({ kind: 'serves-warm-up', isServing: functions !== undefined });
}

function endWarmUp(): void {
  for (const name of Object.values(WARM_UP)) wholeHandlers.delete(name);
  tasks.delete(WARM_UP.drive);
  collectSoon?.();
}

async function load(message: ToWorker & { kind: 'load' }): Promise<void> {
  const { module, region, env, clockOffsetMs } = message;
  graceMs = message.graceMs ?? graceMs;
  if (clockOffsetMs !== 0) setClockOffset(clockOffsetMs);
  // Functions find their exported names by this variable.
  Object.assign(process.env, env, { CAIRN_FUNCTIONS_MODULE: module });
  const removeSecrets = addSecrets(message.secrets ?? {});
  const exports = exportsOf((await import(pathToFileURL(module).href)) as Readonly<Record<string, unknown>>);
  const unset = setDefaults(module, process.env);
  const functions = functionsOf(exports, region, env.CAIRN_FUNCTIONS_PREFIX);
  removeSecrets(new Set(functions.flatMap(({ spec }) => spec.secrets)));
  for (const { spec, handler } of functions) {
    handlers.set(spec.name, handler);
    if (spec.takesWhole) wholeHandlers.set(spec.name, handler);
    if (spec.trigger.kind === 'task-queue') tasks.add(spec.name);
  }
  send({ kind: 'loaded', functions: functions.map(({ spec }) => spec), unset });
}

/** Adds secrets to the environment. The returned function restores the previous values, except for the given names. */
function addSecrets(secrets: Readonly<Record<string, string>>): (except: ReadonlySet<string>) => void {
  const before = { ...process.env };
  Object.assign(process.env, secrets);
  return (except) => {
    for (const [name, value] of Object.entries(secrets)) {
      // The module may have set another value.
      if (except.has(name) || process.env[name] !== value) continue;
      const earlier = before[name];
      if (earlier === undefined) delete process.env[name];
      else process.env[name] = earlier;
    }
  };
}

/** The exports of a module, without `default` and `module.exports`, which Node adds to those of a CommonJS module. */
function exportsOf(imported: Readonly<Record<string, unknown>>): object {
  const { default: whole, 'module.exports': _, ...named } = imported;
  const isWhole =
    typeof whole === 'object' &&
    whole !== null &&
    Object.entries(named).every(([name, one]) => (whole as Record<string, unknown>)[name] === one);
  return isWhole ? whole : imported;
}

async function serve(env: Readonly<Record<string, string>>): Promise<void> {
  Object.assign(process.env, env);
  // All requests will be by HTTP: loads Express before the first one.
  if (wholeHandlers.size === 0) await import('../request-app.ts');
  const port = await listenOnLoopback(server);
  send({
    kind: 'ready',
    port,
    ...(takesFrames() && { hasLink: true }),
  });
  setInterval(() => {
    // A body may have removed the listener that ends this process with the cloud's.
    if (!process.connected) exit(1);
    send({ kind: 'heartbeat' });
  }, HEARTBEAT_MS).unref();
}

/** False with `CAIRN_WIRE_HOSTS=`, which turns off frames, so that tests can use both. */
const takesFrames = () => process.env.CAIRN_WIRE_HOSTS !== '';
