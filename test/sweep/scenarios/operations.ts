/** What people and programs do to the runs of the scenarios, as operations that can be repeated. */

import { decideApproval } from '../../../functions/src/operations/approvals/decide-approval.ts';
import type { DecideRequest } from '../../../functions/src/operations/approvals/request.ts';
import { cancelRun } from '../../../functions/src/operations/cancel-run.ts';
import type { Operation, View } from '../scenario.ts';

type When = (view: View) => boolean;

/** Everybody who acts is the same person. */
const ACTOR = 'ada';

export function cancels(when: When, more: Partial<Operation> = {}): Operation {
  return {
    name: 'cancel',
    when,
    act: async ({ deps, runId, tenantId }) => {
      const { status } = await cancelRun(deps, {
        runId,
        tenantId,
        actor: ACTOR,
        reason: 'no longer wanted',
        stopKind: 'user',
      });
      // Whether it has ended already is a matter of the moment.
      return status.startsWith('cancel');
    },
    ...more,
  };
}

type Said = Pick<DecideRequest, 'decision' | 'note' | 'feedback' | 'steps' | 'waitId'>;

/** As soon as the step asks, unless told otherwise. */
export function decides(stepId: string, said: Said, more: Partial<Operation> = {}): Operation {
  return {
    name: `decide ${stepId}`,
    when: (view) => view.waitsAt(stepId),
    act: async ({ deps, runId, tenantId }) => {
      const { decidedAt: _, ...decided } = await decideApproval(deps, {
        runId,
        tenantId,
        stepId,
        actor: ACTOR,
        ...said,
      });
      return decided;
    },
    ...more,
  };
}
