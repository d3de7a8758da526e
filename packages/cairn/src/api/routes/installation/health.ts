/** `GET /v1/healthz`: the version, and whether the store is reachable. Public, so it returns nothing else. */
import { SharedAnswers } from '../../../operations/shared-answers.ts';
import { type Clock, pause } from '../../../ports/clock.ts';
import type { ApiDeps } from '../../deps.ts';

/** A store that takes longer counts as unavailable. */
const PROBE_TIMEOUT_MS = 3_000;
/** One probe serves all requests within this time: the route is public, and each probe is a billed read. */
const PROBE_TTL_MS = 5_000;
/** Read to test the store. The client need not exist. */
const PROBE_CLIENT = 'healthz';

export class HealthProbe {
  readonly #deps: ApiDeps;
  readonly #probes: SharedAnswers<boolean>;

  constructor(deps: ApiDeps) {
    this.#deps = deps;
    this.#probes = new SharedAnswers({ clock: deps.clock, ttlMs: PROBE_TTL_MS, most: 1 });
  }

  async answer(): Promise<Response> {
    const { clock, version } = this.#deps;
    const reachable = await this.#probes.get(PROBE_CLIENT, () => this.#read(clock));
    const body = { status: reachable ? 'ok' : 'degraded', version, store: reachable ? 'ok' : 'unreachable' };
    return Response.json(body, { status: reachable ? 200 : 503, headers: { 'cache-control': 'no-store' } });
  }

  async #read(clock: Clock): Promise<boolean> {
    const { log, clients } = this.#deps;
    const done = new AbortController();
    const read = clients.read(PROBE_CLIENT).then(
      () => true,
      (error: unknown) => {
        log.warn('store_unreachable', { error });
        return false;
      },
    );
    const reachable = await Promise.race([
      read,
      pause(clock, PROBE_TIMEOUT_MS, done.signal).then(() => false),
    ]);
    done.abort();
    return reachable;
  }
}
