/** `POST /v1/runs/{id}/approvals/{stepId}`: what a person decides about an approval, or about a step in doubt. */
import { decideApproval } from '../../operations/approvals/decide-approval.ts';
import { assertDecisionContent } from '../../operations/approvals/request.ts';
import { mayActAs } from '../auth.ts';
import type { ChangeHandler } from '../route.ts';
import { iso } from '../views/values.ts';
import { assertOwnRun, runOf } from './own-run.ts';

/** `stepId` is the key of the step: `id`, or `id[itemKey]`. */
export const decide: ChangeHandler<'POST /v1/runs/{id}/approvals/{stepId}'> = {
  async before(call) {
    assertDecisionContent(call.body);
    await assertOwnRun(call);
  },
  async work(call) {
    const { start, registry, dayBudgets, dayLimits } = call.deps;
    const { stepId } = call.params;
    const mayRaiseDay = mayActAs(call.caller.role, 'installation');
    const decided = await decideApproval(
      { ...start, registry, dayBudgets, dayLimits },
      { ...call.body, ...runOf(call), stepId, mayRaiseDay },
    );
    return { status: 200, body: { ...decided, decidedAt: iso(decided.decidedAt) } };
  },
};
