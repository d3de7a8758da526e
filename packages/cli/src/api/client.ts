/** The API as the command line asks it: with the network, the clock and Ctrl-C of its world. */
import { CairnClient } from '@cairn/client';
import type { World } from '../world.ts';

/** URL and credential of requests. */
export interface Connection {
  /** Without a slash at its end. */
  readonly url: string;
  readonly apiKey: string;
}

/** @param key the idempotency key of the one change that is made; undefined: a new one each */
export function apiOf({ url, apiKey }: Connection, world: World, key?: string): CairnClient {
  return new CairnClient({
    url,
    credential: apiKey,
    name: 'cli',
    signal: world.interrupted,
    fetch: (target, init) => world.fetch(target, init),
    now: () => world.now(),
    newKey: () => key ?? `cli-${world.token()}`,
    sleep: (ms, signal) => world.sleep(ms, signal),
  });
}
