/** Starts the local cloud as a user does, in a separate process that can be killed, and calls it over HTTP. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { LocalCloud, LocalCloudOptions } from './cloud.ts';
import { nodeFlags } from './node-flags.ts';

/** The line `npm start -- --json` prints. */
export interface Ready
  extends Omit<
    LocalCloud,
    'functionsUrl' | 'functions' | 'site' | 'secrets' | 'clock' | 'warmedUp' | 'reload' | 'stop'
  > {
  readonly secrets: { readonly github: string; readonly slack: string };
}

export interface CloudProcess {
  readonly ready: Ready;
  readonly process: ChildProcess;
  /** Resolves when the process has ended, whatever the reason. */
  readonly ended: Promise<unknown>;
}

interface CloudProcessOptions
  extends Pick<
    LocalCloudOptions,
    | 'data'
    | 'sync'
    | 'functionsModule'
    | 'port'
    | 'workers'
    | 'keepsSpare'
    | 'watchdogSeconds'
    | 'tickSeconds'
    | 'env'
  > {
  /** True if firebase-tools runs the functions, which takes longer to start. */
  readonly emulators?: boolean;
  /** File for the log lines of cloud and functions. Default: this process reads them, which slows both down. */
  readonly logFile?: string;
}

/** Enough for a cold start on a busy machine. firebase-tools alone takes 10 s on an idle one. */
const START_LIMIT_MS = { workers: 180_000, emulators: 180_000 };

/** Characters of the log that an error quotes. */
const QUOTED_CHARS = 4_000;

/** @throws Error if it ends, or is not ready in time */
export async function startCloudProcess(options: CloudProcessOptions): Promise<CloudProcess> {
  const main = fileURLToPath(new URL('./main.ts', import.meta.url));
  const { data, port, workers, functionsModule, watchdogSeconds, tickSeconds } = options;
  const values = {
    data,
    port,
    workers,
    functions: functionsModule,
    watchdog: watchdogSeconds,
    tick: tickSeconds,
  };
  const flags = [
    '--json',
    ...Object.entries(values).flatMap(([name, value]) =>
      value === undefined ? [] : [`--${name}`, `${value}`],
    ),
    ...(options.sync ? ['--sync'] : []),
    ...(options.emulators ? ['--emulators'] : []),
    ...(options.keepsSpare === false ? ['--no-spare'] : []),
  ];
  const { logFile } = options;
  const log = logFile === undefined ? 'pipe' : openSync(logFile, 'a');
  const child = spawn(process.execPath, [...nodeFlags(process.env), main, ...flags], {
    stdio: ['ignore', 'pipe', log],
    env: { ...process.env, ...options.env },
  });
  if (typeof log === 'number') closeSync(log);
  let read = '';
  child.stderr?.on('data', (chunk) => {
    read = `${read}${chunk}`.slice(-QUOTED_CHARS);
  });
  const logTail = () => (logFile === undefined ? read : readFileSync(logFile, 'utf8')).slice(-QUOTED_CHARS);
  const ended = once(child, 'exit');
  const line = Promise.withResolvers<string>();
  const limitMs = START_LIMIT_MS[options.emulators ? 'emulators' : 'workers'];
  const limit = setTimeout(() => line.reject(new Error(`not ready in ${limitMs} ms`)), limitMs);
  child.stdout?.once('data', (chunk) => line.resolve(String(chunk)));
  ended.then(
    () => line.reject(new Error(`the local cloud ended before it was ready:\n${logTail()}`)),
    line.reject,
  );
  try {
    return { ready: JSON.parse(await line.promise) as Ready, process: child, ended };
  } finally {
    clearTimeout(limit);
  }
}

/** Status of a cloud that is too busy, or whose worker died, with the pause before the same request is sent again. */
const UNAVAILABLE = 503;
const AGAIN_MS = 500;
/** Time of {@link getJson} with all repetitions, and of one request. */
const GET_LIMITS = { allMs: 60_000, oneMs: 20_000 };

/**
 * GET of the API as JSON, as the development client. A busy cloud is asked again, as is one that does not answer in time.
 *
 * @throws Error for a status other than 200, or once the limit for all repetitions is reached
 */
export async function getJson<T>(ready: Ready, path: string, limits = GET_LIMITS): Promise<T> {
  const headers = { authorization: `Bearer ${ready.apiKey}` };
  const deadline = performance.now() + limits.allMs;
  let last: string | undefined;
  for (let leftMs = limits.allMs; leftMs > 0; leftMs = deadline - performance.now()) {
    const signal = AbortSignal.timeout(Math.ceil(Math.min(limits.oneMs, leftMs)));
    try {
      const response = await fetch(ready.gateway + path, { headers, signal });
      const text = await response.text();
      if (response.status === 200) return JSON.parse(text) as T;
      last = `${response.status} ${text}`;
      if (response.status !== UNAVAILABLE) break;
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    await delay(Math.min(AGAIN_MS, Math.max(deadline - performance.now(), 0)));
  }
  throw new Error(`GET ${path}: ${last ?? 'no answer'}`);
}

/** Calls the control port. @throws Error for a status other than 2xx */
export async function control<T>(ready: Ready, method: string, path: string, body?: unknown): Promise<T> {
  const json = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(ready.control + path, { method, ...(body === undefined ? {} : json) });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  const text = await response.text();
  return (text === '' ? undefined : JSON.parse(text)) as T;
}
