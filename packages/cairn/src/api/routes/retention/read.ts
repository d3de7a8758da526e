/**
 * `GET /v1/runs/{id}/retention`: how long a run is kept, and why. `GET /v1/retention`: what would be deleted, and what has been
 * kept long enough by itself and stays nevertheless. Both read, and write nothing.
 */
import { expiredRuns, type FateDeps, fateOf } from '../../../operations/retention/expired-runs.ts';
import { assertRole, type Caller } from '../../auth.ts';
import type { ApiDeps } from '../../deps.ts';
import { pageRequest, readQuery } from '../../query.ts';
import { expiredRunView, runFateView } from '../../views/retention.ts';
import type { RunAddress } from '../read-runs.ts';

export async function readRetention(
  deps: ApiDeps,
  caller: Caller,
  { runId, url }: RunAddress,
): Promise<Response> {
  readQuery(url, []);
  return Response.json(runFateView(await fateOf(fateDeps(deps), { runId, tenantId: caller.tenantId })));
}

export async function listExpired(deps: ApiDeps, caller: Caller, url: string): Promise<Response> {
  assertRole(caller, 'admin');
  const page = pageRequest(readQuery(url, ['limit', 'cursor']));
  const { items, next } = await expiredRuns(fateDeps(deps), caller.tenantId, page);
  return Response.json({ items: items.map(expiredRunView), ...(next === undefined ? {} : { next }) });
}

function fateDeps({ start, retention, retentionOf }: ApiDeps): FateDeps {
  return { ...start, retention, retentionOf };
}
