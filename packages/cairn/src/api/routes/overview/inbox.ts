/** `GET /v1/inbox`: every open question to a person of the caller's tenant, the oldest first. */
import { readInbox } from '../../../operations/inbox/read-inbox.ts';
import type { Caller } from '../../auth.ts';
import type { ApiDeps } from '../../deps.ts';
import { pageRequest, readQuery } from '../../query.ts';
import { inboxItems } from '../../views/inbox.ts';

/** The page is one of runs: the questions of a run stand together. */
export async function listInbox(
  { finder, effects, registry, bindings, start }: ApiDeps,
  { tenantId }: Caller,
  url: string,
): Promise<Response> {
  const page = pageRequest(readQuery(url, ['limit', 'cursor']));
  const { store, clock, log } = start;
  const deps = { finder, effects, registry, bindings, store, clock, log };
  const { items, ...listed } = await readInbox(deps, tenantId, page);
  return Response.json({ items: items.flatMap(inboxItems), ...listed });
}
