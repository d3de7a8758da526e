/** `GET /v1/search?q=`: runs of the caller's tenant by an identifier. */
import { findRuns } from '../../../operations/search/find-runs.ts';
import type { ReadHandler } from '../../route.ts';
import { listedBlocked } from '../../views/blocked.ts';
import { runSummary } from '../../views/run.ts';

/** Runs that do not exist and runs of other tenants give the same empty response. */
export const searchRuns: ReadHandler<'GET /v1/search'> = async ({ deps, caller, query }) => {
  const now = deps.clock.now();
  const found = await findRuns(deps, caller.tenantId, query.q);
  return {
    items: found.map(({ by, run }) => ({
      by,
      run: { ...runSummary(run, query.vocabulary), ...listedBlocked(deps.registry, run, now) },
    })),
  };
};
