/** `GET /v1/search?q=`: runs of the caller's tenant by an identifier. */
import { CairnError } from '../../../core/errors.ts';
import { findRuns } from '../../../operations/search/find-runs.ts';
import { vocabularyOf } from '../../query.ts';
import type { ReadHandler } from '../../route.ts';
import { listedBlocked } from '../../views/blocked.ts';
import { runSummary } from '../../views/run.ts';

/** Runs that do not exist and runs of other tenants give the same empty response. */
export const searchRuns: ReadHandler<'GET /v1/search'> = async ({ deps, caller, query }) => {
  const { finder, start, registry } = deps;
  if (query.q === undefined)
    throw new CairnError('INVALID_INPUT', 'the search text is missing', { field: 'q' });
  const vocabulary = vocabularyOf(query);
  const now = start.clock.now();
  const found = await findRuns({ ...start, finder }, caller.tenantId, query.q);
  return {
    items: found.map(({ by, run }) => ({
      by,
      run: { ...runSummary(run, vocabulary), ...listedBlocked(registry, run, now) },
    })),
  };
};
