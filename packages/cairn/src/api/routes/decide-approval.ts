/** `POST /v1/runs/{id}/approvals/{stepId}`: what a person decides about an approval, or about a step in doubt. */
import { z } from 'zod';
import { DECISIONS } from '../../core/run/events.ts';
import { decideApproval } from '../../operations/approvals/decide-approval.ts';
import { assertMakesSense } from '../../operations/approvals/request.ts';
import { loadOwn } from '../../operations/outside-append.ts';
import { assertRole, type Caller } from '../auth.ts';
import type { ApiDeps } from '../deps.ts';
import { answerOnce, principalOf, readMutation } from '../mutation.ts';
import { iso } from '../views/values.ts';
import type { RunAddress } from './read-runs.ts';

/** Steps named in one request. More fit no screen; what follows a step need not be named. */
const MAX_NAMED_STEPS = 200;
/** Above the longest step key and wait id there can be. */
const MAX_ID_CHARS = 500;

const id = z.string().min(1).max(MAX_ID_CHARS);
/** How the members go together is the operation's business: it has callers that are not HTTP. */
export const DecisionBody = z.strictObject({
  decision: z.enum(DECISIONS),
  waitId: id.optional(),
  note: z.string().optional(),
  feedback: z.string().optional(),
  steps: z.array(id).max(MAX_NAMED_STEPS).optional(),
});

export interface ApprovalAddress extends RunAddress {
  /** Key of the step, percent-decoded: `id`, or `id[itemKey]`. */
  readonly stepId: string;
}

export async function decideFromApi(
  deps: ApiDeps,
  caller: Caller,
  { runId, stepId, request }: ApprovalAddress & { readonly request: Request },
): Promise<Response> {
  assertRole(caller, 'operator');
  const mutation = await readMutation(request, DecisionBody);
  assertMakesSense(mutation.body);
  const { tenantId } = caller;
  // Before anything is kept: a request about a run that is not there leaves nothing behind.
  await loadOwn(deps.start, { runId, tenantId });
  return answerOnce(deps, caller, mutation, async () => {
    const decided = await decideApproval(
      { ...deps.start, registry: deps.registry },
      { ...mutation.body, runId, tenantId, stepId, actor: principalOf(caller) },
    );
    return { status: 200, body: { ...decided, decidedAt: iso(decided.decidedAt) } };
  });
}
