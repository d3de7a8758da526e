/** Starts a run from a body, message or command that the caller parses or maps, and may refuse. */
import { startedBefore } from './known-start.ts';
import type { StartDeps, StartRequest, StartResult } from './request.ts';
import { startRun } from './start-run.ts';

/**
 * The mapping, or what is deployed, may have changed since the run was started, and refuse a repetition: then that run is the response.
 *
 * @throws what the mapping and the start throw
 */
export async function startMapped<Mapped>(
  deps: StartDeps,
  identity: Pick<StartRequest, 'key' | 'tenantId' | 'requestHash'>,
  mapping: () => Mapped,
  request: (mapped: Mapped) => StartRequest,
): Promise<StartResult> {
  let mapped: Mapped;
  try {
    mapped = mapping();
  } catch (refusal) {
    return startedBefore(deps, identity, refusal);
  }
  return startRun(deps, request(mapped));
}
