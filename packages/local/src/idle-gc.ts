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

/** Longer than the pause between two requests of one client. */
export const IDLE_MS = 1_000;
/** Time after which a process without a request, such as a spare, is collected too. */
export const UNUSED_MS = 10_000;
/** Requests between two collections. The periodic scan alone stays below it. */
export const REQUESTS_BETWEEN = 100;

interface IdleGcOptions {
  collect(): void;
  readonly idleMs?: number;
  /** Also receives requests. */
  readonly also?: Pick<EventEmitter, 'on'>;
}

/**
 * Collects after the start, when idle after the first request, which loads libraries, and when idle after many requests.
 *
 * @returns function to call after work without a request: collects when idle after it
 */
export function collectWhenIdle(
  server: Server,
  { collect, idleMs = IDLE_MS, also }: IdleGcOptions,
): () => void {
  let underWay = 0;
  let since = REQUESTS_BETWEEN;
  let timer: NodeJS.Timeout | undefined;
  const collectSoon = (sinceThen: number, afterMs = idleMs) => {
    timer = setTimeout(() => {
      since = sinceThen;
      collect();
    }, afterMs);
    timer.unref();
  };
  // A spare may never get a request.
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
  return () => {
    if (underWay > 0) return;
    clearTimeout(timer);
    collectSoon(since);
  };
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
