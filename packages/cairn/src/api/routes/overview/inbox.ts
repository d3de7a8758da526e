/**
 * `GET /v1/inbox`: every open question to a person of the caller's tenant, the oldest first, and with the first page the runs that
 * get nowhere until a person mends something.
 */

import { readInbox } from '../../../operations/inbox/read-inbox.ts';
import { FINDINGS_READ } from '../../../ports/diagnosis/findings.ts';
import type { Caller } from '../../auth.ts';
import type { ApiDeps } from '../../deps.ts';
import { pageRequest, readQuery } from '../../query.ts';
import { listedFinding } from '../../views/finding.ts';
import { inboxItems } from '../../views/inbox.ts';

/** The page is one of runs: the questions of a run stand together. */
export async function listInbox(
  { finder, effects, registry, bindings, start, diagnosis }: ApiDeps,
  { tenantId }: Caller,
  url: string,
): Promise<Response> {
  const page = pageRequest(readQuery(url, ['limit', 'cursor']));
  const { store, clock, log } = start;
  const deps = { finder, effects, registry, bindings, store, clock, log };
  const [{ items, ...listed }, findings] = await Promise.all([
    readInbox(deps, tenantId, page),
    page.cursor === undefined ? diagnosis.findings.ofTenant(tenantId, FINDINGS_READ) : [],
  ]);
  return Response.json({
    items: items.flatMap(inboxItems),
    ...listed,
    ...(findings.length > 0 ? { findings: findings.map(listedFinding) } : {}),
  });
}
