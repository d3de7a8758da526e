/**
 * Collects garbage when a process of the local cloud is idle, to return memory to the system, because V8 does not shrink a
 * half-empty heap while nothing is allocated.
 *
 * Must not: collect during a request. A collection stops the process for 0.03 to 0.1 s.
 */
import type { EventEmitter } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isScheduled } from './scheduler/scheduled-call.ts';

/** Interval at which a process that needs a collection checks whether it is idle. */
export const LOOK_EVERY_MS = 5_000;
/**
 * Consecutive idle checks before a collection. A collection discards compiled code, after which a run takes up to twice the processor
 * time. The pause keeps the code while a user reads a result and starts the next run.
 */
export const IDLE_LOOKS = 5;
/** Requests between two collections. */
export const REQUESTS_BETWEEN = 100;

interface IdleGcOptions {
  collect(): void;
  /** Another source of `request` events. */
  readonly also?: Pick<EventEmitter, 'on'>;
  /** Number of requests so far that this process passed on without a `request` event. */
  readonly passedOn?: (() => number) | undefined;
}

/**
 * Collects when idle after the start, after the first request, which loads libraries, and after many requests. Calls by schedules, such as the
 * periodic scan, leave a process idle.
 *
 * @returns function to call after work without a request: collects when idle after it
 */
export function collectWhenIdle(
  server: Server,
  { collect, also, passedOn = () => 0 }: IdleGcOptions,
): () => void {
  let underWay = 0;
  let hasServed = false;
  /** Requests without calls by schedules. */
  let total = 0;
  let atCollection: number | undefined;
  let atLook = 0;
  let idleLooks = 0;
  let timer: NodeJS.Timeout | undefined;
  const look = () => {
    const now = total + passedOn();
    idleLooks = underWay > 0 || now > atLook ? 0 : idleLooks + 1;
    atLook = now;
    if (idleLooks < IDLE_LOOKS) return;
    clearInterval(timer);
    timer = undefined;
    if (hasServed) atCollection = total;
    collect();
  };
  const collectSoon = () => {
    idleLooks = 0;
    atLook = total + passedOn();
    timer ??= setInterval(look, LOOK_EVERY_MS).unref();
  };
  // Collects after the start too, because a spare may never get a request.
  server.once('listening', collectSoon);
  const onRequest = ({ headers }: Pick<IncomingMessage, 'headers'>, response: Pick<EventEmitter, 'once'>) => {
    hasServed = true;
    underWay += 1;
    if (!isScheduled(headers)) total += 1;
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
