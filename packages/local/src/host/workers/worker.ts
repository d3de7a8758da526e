/**
 * Main of a worker process: loads the functions module and serves its functions over loopback HTTP. It lives as
 * long as the cloud process does and no longer. Owns this process's environment, signals and exit.
 */
import { enableCompileCache } from 'node:module';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import { drainable } from '@cairn/local-kit/http/drain';
import { collectAll, collectWhenIdle } from '../../idle-gc.ts';
import { type FunctionHandler, functionsOf } from '../function-spec.ts';
import { type FromWorker, reasonOf, type ToWorker } from './messages.ts';
import { shiftableTime } from './shifted-time.ts';

enableCompileCache();
const setClockOffset = shiftableTime();
const { functionsServer } = await import('../functions-server.ts');
const { ServedLink } = await import('../link/serve-link.ts');

let isEnding = false;
/** Grace period of Cloud Run between SIGTERM and SIGKILL. */
let graceMs = 10_000;
const HEARTBEAT_MS = 1_000;
const handlers = new Map<string, FunctionHandler>();
const wholeHandlers = new Map<string, FunctionHandler>();
const server = functionsServer(handlers, Date.now);
const link = new ServedLink(server, wholeHandlers, Date.now);
const drainServer = drainable(server);
collectWhenIdle(server, { collect: collectAll, also: link });

/** A word that the cloud process is no longer there to hear is not missed: `disconnect` ends this one. */
const send = (message: FromWorker) => process.send?.(message, () => {});

process.on('disconnect', () => process.exit(1));
// Ctrl-C reaches the whole process group; when the cloud process ends is for it to say.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {
  isEnding = true;
  void Promise.all([drainServer(graceMs), link.drain(graceMs)]).then(() => process.exit(0));
});
process.on('message', (message: ToWorker) => {
  obey(message).catch((error: unknown) => {
    send({ kind: 'failed', error: reasonOf(error) });
    process.disconnect();
  });
});

async function obey(message: ToWorker): Promise<void> {
  switch (message.kind) {
    case 'load':
      return load(message);
    case 'serve':
      return serve(message.env);
    case 'are-you-alive':
      // One that is ending takes no request, and is given none as long as it says nothing.
      if (!isEnding) send({ kind: 'alive' });
      return;
    case 'warm-up':
      return warmUp();
    case 'clock':
      setClockOffset(message.offsetMs);
      return afterMove();
  }
}

/** Runs that are driven here show that they are alive, before anybody may judge them by the new time. */
async function afterMove(): Promise<void> {
  const waits: Promise<unknown>[] = [];
  process.emit('cairn:clock-moved' as 'message', waits, undefined);
  await Promise.allSettled(waits);
  send({ kind: 'clock-moved' });
}

/** A failure is the first request's to answer. */
async function warmUp(): Promise<void> {
  const waits: Promise<unknown>[] = [];
  process.emit('cairn:warm-up' as 'message', waits, undefined);
  await Promise.allSettled(waits);
  collectAll();
  send({ kind: 'warm' });
}

async function load(message: ToWorker & { kind: 'load' }): Promise<void> {
  const { module, region, env, clockOffsetMs } = message;
  graceMs = message.graceMs ?? graceMs;
  if (clockOffsetMs !== 0) setClockOffset(clockOffsetMs);
  // By it functions find the names under which they are exported.
  Object.assign(process.env, env, { CAIRN_FUNCTIONS_MODULE: module });
  const exports = exportsOf((await import(pathToFileURL(module).href)) as Readonly<Record<string, unknown>>);
  setParamDefaults();
  const functions = functionsOf(exports, region, env.CAIRN_FUNCTIONS_PREFIX);
  for (const { spec, handler } of functions) {
    handlers.set(spec.name, handler);
    if (spec.takesWhole) wholeHandlers.set(spec.name, handler);
  }
  send({ kind: 'loaded', functions: functions.map(({ spec }) => spec) });
}

/** A CommonJS module is imported with its exports also as `default` and `module.exports`, which are no functions of it. */
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
  // All requests will come by HTTP, and the first one is not to wait for Express.
  if (wholeHandlers.size === 0) await import('../request-app.ts');
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  send({
    kind: 'ready',
    port: (server.address() as AddressInfo).port,
    ...(takesFrames() && { hasLink: true }),
  });
  setInterval(() => send({ kind: 'heartbeat' }), HEARTBEAT_MS).unref();
}

/** Off with the other short ways (`CAIRN_WIRE_HOSTS=`), so that both can be tested. */
const takesFrames = () => process.env.CAIRN_WIRE_HOSTS !== '';

/** `firebase deploy` writes the defaults of declared parameters into the environment; this does it here. */
function setParamDefaults(): void {
  const symbol = Symbol.for('firebase-functions:manifest');
  const manifest = (globalThis as unknown as Record<symbol, { params?: ParamSpec[] } | undefined>)[symbol];
  for (const { name, type, default: value } of manifest?.params ?? []) {
    if (type === 'secret' || value === undefined || process.env[name] !== undefined) continue;
    process.env[name] = typeof value === 'object' ? JSON.stringify(value) : String(value);
  }
}

interface ParamSpec {
  readonly name: string;
  readonly type: string;
  readonly default?: unknown;
}
