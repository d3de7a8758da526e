/**
 * `GET /v1/runs/{id}/retention`: retention of a run. `GET /v1/retention`: runs past their retention period that would
 * be deleted, or are kept nevertheless. Both are read-only.
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
