/** `GET /v1/me`: who the caller is, so that a page can offer what they may do and nothing else. */
import type { Caller } from '../../auth.ts';
import { readQuery } from '../../query.ts';

export function readMe({ principal, tenantId, role }: Caller, url: string): Response {
  readQuery(url, []);
  return Response.json({ principal, tenantId, role });
}
