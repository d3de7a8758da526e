/** `GET /v1/runs/{id}/consistency`: what is wrong with the documents of a run. Reads all of them, and writes nothing. */
import { checkConsistency } from '../../../operations/integrity/check.ts';
import { assertRole, type Caller } from '../../auth.ts';
import type { ApiDeps } from '../../deps.ts';
import { readQuery } from '../../query.ts';
import { consistencyView } from '../../views/integrity.ts';
import type { RunAddress } from '../read-runs.ts';

export async function readConsistency(
  { start, integrity }: ApiDeps,
  caller: Caller,
  { runId, url }: RunAddress,
): Promise<Response> {
  assertRole(caller, 'operator');
  readQuery(url, []);
  const { tenantId } = caller;
  const found = await checkConsistency(
    { ...start, reader: integrity, payloads: start.store },
    { runId, tenantId },
  );
  return Response.json(consistencyView(found));
}
