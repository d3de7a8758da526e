/**
 * `GET /v1/runs/{id}/retention`: how long a run is kept, and why. `GET /v1/retention`: what would be deleted, and what has been
 * kept long enough by itself and stays nevertheless. Both read, and write nothing.
 */
import { expiredRuns, type FateDeps, fateOf } from '../../../operations/retention/expired-runs.ts';
import type { ApiDeps } from '../../deps.ts';
import { pageRequest } from '../../query.ts';
import type { Read } from '../../route.ts';
import { expiredRunView, runFateView } from '../../views/retention.ts';
import { runOf } from '../own-run.ts';

export const readRetention: Read<'GET', '/v1/runs/{id}/retention'> = async (asked) =>
  runFateView(await fateOf(fateDeps(asked.deps), runOf(asked)));

export const listExpired: Read<'GET', '/v1/retention'> = async ({ deps, caller, query }) => {
  const { items, next } = await expiredRuns(fateDeps(deps), caller.tenantId, pageRequest(query));
  return { items: items.map(expiredRunView), ...(next === undefined ? {} : { next }) };
};

function fateDeps({ start, retention, retentionOf }: ApiDeps): FateDeps {
  return { ...start, retention, retentionOf };
}
