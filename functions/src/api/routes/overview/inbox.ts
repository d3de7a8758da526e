/** `GET /v1/inbox`: every open question to a person of the caller's tenant, the oldest first. */
import { readInbox } from '../../../operations/inbox/read-inbox.ts';
import type { Caller } from '../../auth.ts';
import type { ApiDeps } from '../../deps.ts';
import { pageRequest, readQuery } from '../../query.ts';
import { inboxItems } from '../../views/inbox.ts';

/** The page is one of runs: the questions of a run stand together. */
export async function listInbox(
  { finder, effects, registry, start }: ApiDeps,
  { tenantId }: Caller,
  url: string,
): Promise<Response> {
  const page = pageRequest(readQuery(url, ['limit', 'cursor']));
  const { items, next } = await readInbox({ finder, effects, registry, clock: start.clock }, tenantId, page);
  return Response.json({ items: items.flatMap(inboxItems), ...(next === undefined ? {} : { next }) });
}
