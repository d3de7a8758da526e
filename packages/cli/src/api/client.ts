/** The API client of the command line, with the network, clock and Ctrl-C of its environment. */
import { CairnClient } from '@cairn/client';
import type { World } from '../world.ts';

/** URL and credential of requests. */
export interface ApiConnection {
  /** Without a slash at its end. */
  readonly url: string;
  readonly apiKey: string;
}

/** @param key the idempotency key of the change; undefined: a new one for each change */
export function apiOf({ url, apiKey }: ApiConnection, world: World, key?: string): CairnClient {
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
