/** `POST /v1/runs/{id}/waits/{stepId}/heartbeat`: who works on the answer to a wait says that it still does. */
import { z } from 'zod';
import { iso } from '../../core/run/readable.ts';
import { heartbeatWait } from '../../operations/events/heartbeat-wait.ts';
import { assertRole, type Caller } from '../auth.ts';
import type { ApiDeps } from '../deps.ts';
import { principalOf, readMutation } from '../mutation.ts';
import type { RunAddress } from './read-runs.ts';

export const HeartbeatWaitBody = z.strictObject({});

/** No record is kept under a key: the same beat again says the same, and a record would cost more than the beat. */
export async function heartbeatWaitFromApi(
  deps: ApiDeps,
  caller: Caller,
  { runId, stepId, request }: RunAddress & { readonly stepId: string; readonly request: Request },
): Promise<Response> {
  assertRole(caller, 'submitter');
  await readMutation(request, HeartbeatWaitBody);
  const { tenantId } = caller;
  const beaten = await heartbeatWait(deps.start, { runId, tenantId, stepId, actor: principalOf(caller) });
  return Response.json({ ...beaten, dueAt: iso(beaten.dueAt) });
}
