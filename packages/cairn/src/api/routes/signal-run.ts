/** `POST /v1/runs/{id}/signals`: tells one run something it waits for, or soon will. */
import { z } from 'zod';
import { signalDataText, signalRun } from '../../operations/events/signal-run.ts';
import { loadOwn } from '../../operations/outside-append.ts';
import { assertRole, type Caller } from '../auth.ts';
import type { ApiDeps } from '../deps.ts';
import { answerOnce, principalOf, readMutation } from '../mutation.ts';
import { MAX_EVENT_BODY_BYTES } from './deliver-event.ts';
import type { RunAddress } from './read-runs.ts';

export const SignalBody = z.strictObject({
  name: z.string(),
  key: z.string().optional(),
  data: z.unknown().optional(),
});

export async function signalFromApi(
  deps: ApiDeps,
  caller: Caller,
  { runId, request }: RunAddress & { readonly request: Request },
): Promise<Response> {
  assertRole(caller, 'submitter');
  const mutation = await readMutation(request, SignalBody, MAX_EVENT_BODY_BYTES);
  const { tenantId } = caller;
  // Before anything is kept: what is refused as it stands, or is about a run that is not there, leaves nothing behind.
  signalDataText(mutation.body);
  await loadOwn(deps.start, { runId, tenantId });
  return answerOnce(deps, caller, mutation, async (requestId) => {
    const signalled = await signalRun(
      { ...deps.start, registry: deps.registry },
      { ...mutation.body, runId, tenantId, signalId: `s.${requestId}`, actor: principalOf(caller) },
    );
    return { status: 200, body: { ...signalled } };
  });
}
