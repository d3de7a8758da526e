/** Starts a run whose input the author's mapping makes from a message or command. */
import { startedBefore } from '../operations/start/known-start.ts';
import type { StartDeps, StartRequest, StartResult } from '../operations/start/request.ts';
import { startRun } from '../operations/start/start-run.ts';

/**
 * The mapping may have changed since the run was started, and refuse a repetition: then that run is the response.
 *
 * @throws what the mapping and the start throw
 */
export async function startMapped(
  deps: StartDeps,
  identity: Pick<StartRequest, 'key' | 'tenantId' | 'requestHash'>,
  mapping: () => unknown,
  request: (input: unknown) => StartRequest,
): Promise<StartResult> {
  let input: unknown;
  try {
    input = mapping();
  } catch (refusal) {
    return startedBefore(deps, identity, refusal);
  }
  return startRun(deps, request(input));
}
