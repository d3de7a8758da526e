/** `POST /v1/runs/{id}/cancel`: ends a run, or asks whoever drives it to. */
import { z } from 'zod';
import { cancelRun } from '../../operations/cancel-run.ts';
import { loadOwn } from '../../operations/outside-append.ts';
import { assertRole, type Caller } from '../auth.ts';
import type { ApiDeps } from '../deps.ts';
import { answerOnce, principalOf, readMutation } from '../mutation.ts';
import { iso } from '../views/values.ts';
import type { RunAddress } from './read-runs.ts';

/** A sentence or two; it stands in the snapshot and in every list. */
const MAX_REASON_CHARS = 1_000;

export const CancelBody = z.strictObject({
  reason: z.string().min(1).max(MAX_REASON_CHARS).optional(),
  withoutUndo: z
    .boolean()
    .optional()
    .describe(
      'End the run without running the compensations of its steps, for example because its version will not be deployed again. The last event names the steps.',
    ),
});

export async function cancelFromApi(
  deps: ApiDeps,
  caller: Caller,
  { runId, request }: RunAddress & { readonly request: Request },
): Promise<Response> {
  assertRole(caller, 'operator');
  const mutation = await readMutation(request, CancelBody);
  const { tenantId } = caller;
  // Before anything is kept: a request about a run that is not there leaves nothing behind.
  await loadOwn(deps.start, { runId, tenantId });
  return answerOnce(deps, caller, mutation, async () => {
    const { reason, withoutUndo } = mutation.body;
    const cancellation = await cancelRun(
      { ...deps.start, registry: deps.registry },
      {
        runId,
        tenantId,
        actor: principalOf(caller),
        reason,
        stopKind: 'user',
        withoutUndo,
      },
    );
    return { status: 200, body: { ...cancellation, requestedAt: iso(cancellation.requestedAt) } };
  });
}
