/**
 * Collects garbage when a process of the local cloud is idle, which returns memory to the system: V8 does not shrink a
 * half-empty heap while nothing is allocated.
 *
 * Must not: collect during a request. A collection stops the process for 0.03 to 0.1 s.
 */
import type { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Interval at which a process that is to be collected looks whether it is idle. */
export const LOOK_EVERY_MS = 5_000;
/**
 * Idle looks in a row before a collection. It lets go of compiled code, without which a run takes 1.4 to 2 times as long: a user who looks at a
 * result and starts the next run keeps it.
 */
export const IDLE_LOOKS = 5;
/** Requests between two looks that leave a process idle: the periodic scan makes one. */
export const FEW_REQUESTS = 3;
/** Requests between two collections. The periodic scan alone stays below it for minutes. */
export const REQUESTS_BETWEEN = 100;

interface IdleGcOptions {
  collect(): void;
  /** Also receives requests. */
  readonly also?: Pick<EventEmitter, 'on'>;
}

/**
 * Collects when idle after the start, after the first request, which loads libraries, and after many requests.
 *
 * @returns function to call after work without a request: collects when idle after it
 */
export function collectWhenIdle(server: Server, { collect, also }: IdleGcOptions): () => void {
  let underWay = 0;
  let total = 0;
  let atCollection: number | undefined;
  let atLook = 0;
  let idleLooks = 0;
  let timer: NodeJS.Timeout | undefined;
  const look = () => {
    idleLooks = underWay > 0 || total - atLook > FEW_REQUESTS ? 0 : idleLooks + 1;
    atLook = total;
    if (idleLooks < IDLE_LOOKS) return;
    clearInterval(timer);
    timer = undefined;
    if (total > 0) atCollection = total;
    collect();
  };
  const collectSoon = () => {
    idleLooks = 0;
    atLook = total;
    timer ??= setInterval(look, LOOK_EVERY_MS).unref();
  };
  // A spare may never get a request.
  server.once('listening', collectSoon);
  const onRequest = (_request: unknown, response: Pick<EventEmitter, 'once'>) => {
    underWay += 1;
    total += 1;
    if (!timer && (atCollection === undefined || total - atCollection >= REQUESTS_BETWEEN)) collectSoon();
    response.once('close', () => {
      underWay -= 1;
    });
  };
  server.on('request', onRequest);
  also?.on('request', onRequest);
  return collectSoon;
}

type Collect = (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void;
let gc: Collect | undefined;

/** A collection that also shrinks the heap, which Node exposes only behind a flag. */
export function collectAll(): void {
  gc ??= exposedGc();
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/** Resets the flag, because V8 rejects entries of the compile cache that were made under other flags. */
function exposedGc(): Collect {
  setFlagsFromString('--expose-gc');
  const exposed = runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  return exposed;
}
