/**
 * Returns memory to the system when a process of the local cloud is idle: loading the libraries and a burst of work leave a
 * half-empty heap, and V8 does not shrink it while nothing is allocated.
 *
 * Must not: collect during a request. A collection stops the process for 0.03 to 0.1 s.
 */
import type { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Long enough that a pause between two requests of one client is none. */
export const REST_MS = 1_000;
/** Without a request until then it may never have one: a spare, or a cloud that was only started. */
export const UNUSED_MS = 10_000;
/** After so many requests a heap has grown again; the scan of every few seconds is too little to ask for it. */
export const REQUESTS_BETWEEN = 100;

export interface GiveBackOptions {
  collect(): void;
  readonly restMs?: number;
  /** Takes requests beside the server. */
  readonly also?: Pick<EventEmitter, 'on'>;
}

/** Once it serves, at the first rest after a request, when everything is loaded, and at rests after much work. */
export function giveBackAtRest(server: Server, { collect, restMs = REST_MS, also }: GiveBackOptions): void {
  let underWay = 0;
  let since = REQUESTS_BETWEEN;
  let timer: NodeJS.Timeout | undefined;
  const collectSoon = (sinceThen: number, afterMs = restMs) => {
    timer = setTimeout(() => {
      since = sinceThen;
      collect();
    }, afterMs);
    timer.unref();
  };
  // A spare may never have a request.
  server.once('listening', () => collectSoon(REQUESTS_BETWEEN, UNUSED_MS));
  const onRequest = (_request: unknown, response: Pick<EventEmitter, 'once'>) => {
    clearTimeout(timer);
    underWay += 1;
    since += 1;
    response.once('close', () => {
      underWay -= 1;
      if (underWay > 0 || since < REQUESTS_BETWEEN) return;
      collectSoon(0);
    });
  };
  server.on('request', onRequest);
  also?.on('request', onRequest);
}

type Collect = (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void;
let gc: Collect | undefined;

/** A collection that also shrinks the heap. Node offers it only behind a flag. */
export function collectAll(): void {
  gc ??= exposedGc();
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/** The flag is taken back: V8 rejects every entry of the compile cache that was made under other flags. */
function exposedGc(): Collect {
  setFlagsFromString('--expose-gc');
  const exposed = runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  return exposed;
}
