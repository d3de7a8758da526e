/**
 * Repetitions that reach an instance which has just answered, or is answering, the same request: they share its outcome
 * instead of reading the store. This is safe, because only durable outcomes are cached, and a record with a run is
 * never replaced before it expires, which is much later than the cache does.
 *
 * Must not: decide. A request with any difference goes to the store.
 */
import { BoundedMap } from '../../core/bounded-map.ts';
import { logHit } from '../repeated-request.ts';
import type { StartDeps, StartRequest, StartResult } from './request.ts';

/** Time an outcome is cached: clients that retry immediately do so within seconds. */
const KEEP_MS = 60_000;
/** About 1 KiB each; the oldest is evicted first. */
const MAX_KEPT = 2_000;

interface Recent {
  readonly outcome: Promise<StartResult>;
  readonly until: number;
}

export class RecentStarts {
  readonly #recent = new BoundedMap<string, Recent>(MAX_KEPT);

  /** Calls `start` unless the same request is in progress or was answered here. Failures are not shared. */
  async join(
    deps: StartDeps,
    request: StartRequest,
    start: () => Promise<StartResult>,
  ): Promise<StartResult> {
    if (request.key === undefined) return start();
    const same = JSON.stringify([request.tenantId, request.key, request.requestHash]);
    const now = deps.clock.now();
    const before = this.#recent.get(same);
    if (before && now < before.until) {
      const outcome = await before.outcome.catch(() => undefined);
      if (outcome && outcome.kind !== 'in_flight') return replayed(deps, request, outcome);
      return start();
    }
    const outcome = start();
    this.#recent.set(same, { outcome, until: now + KEEP_MS });
    try {
      const { kind } = await outcome;
      if (kind === 'in_flight') this.#recent.delete(same);
    } catch {
      this.#recent.delete(same);
    }
    return outcome;
  }
}

function replayed(
  deps: StartDeps,
  request: StartRequest,
  outcome: Exclude<StartResult, { kind: 'in_flight' }>,
): StartResult {
  logHit(deps.log, { ...request, traceId: request.trace?.traceId, cachedRunId: outcome.runId });
  return { ...outcome, kind: 'replayed' };
}
