/** `POST /v1/runs/{id}/waits/{stepId}/fail`: the event that a step waits for will not come. */
import { z } from 'zod';
import { failWait } from '../../operations/events/fail-wait.ts';
import { loadOwn } from '../../operations/outside-append.ts';
import { assertRole, type Caller } from '../auth.ts';
import type { ApiDeps } from '../deps.ts';
import { answerOnce, principalOf, readMutation } from '../mutation.ts';
import type { RunAddress } from './read-runs.ts';

/** It becomes the message of an error. */
const MAX_REASON_CHARS = 1_000;

export const FailWaitBody = z.strictObject({ reason: z.string().trim().min(1).max(MAX_REASON_CHARS) });

export async function failWaitFromApi(
  deps: ApiDeps,
  caller: Caller,
  { runId, stepId, request }: RunAddress & { readonly stepId: string; readonly request: Request },
): Promise<Response> {
  assertRole(caller, 'submitter');
  const mutation = await readMutation(request, FailWaitBody);
  const { tenantId } = caller;
  // Before anything is kept: a request about a run that is not there leaves nothing behind.
  await loadOwn(deps.start, { runId, tenantId });
  return answerOnce(deps, caller, mutation, async (requestId) => {
    const failed = await failWait(
      { ...deps.start, registry: deps.registry },
      {
        ...mutation.body,
        runId,
        tenantId,
        stepId,
        requestId: `f.${requestId}`,
        actor: principalOf(caller),
      },
    );
    return { status: 200, body: { ...failed } };
  });
}
