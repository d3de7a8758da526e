/** `POST /v1/runs/{id}/approvals/{stepId}`: what a person decides about an approval, or about a step in doubt. */
import { decideApproval } from '../../operations/approvals/decide-approval.ts';
import { assertMakesSense } from '../../operations/approvals/request.ts';
import { mayActAs } from '../auth.ts';
import type { ChangeHandler } from '../route.ts';
import { iso } from '../views/values.ts';
import { assertOwnRun, runOf } from './own-run.ts';

/** `stepId` is the key of the step: `id`, or `id[itemKey]`. */
export const decide: ChangeHandler<'POST /v1/runs/{id}/approvals/{stepId}'> = {
  async before(sent) {
    assertMakesSense(sent.body);
    await assertOwnRun(sent);
  },
  async work(sent) {
    const { start, registry, dayBudgets } = sent.deps;
    const { stepId } = sent.params;
    const mayRaiseDay = mayActAs(sent.caller.role, 'installation');
    const decided = await decideApproval(
      { ...start, registry, dayBudgets },
      { ...sent.body, ...runOf(sent), stepId, mayRaiseDay },
    );
    return { status: 200, body: { ...decided, decidedAt: iso(decided.decidedAt) } };
  },
};
