import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { decideApproval } from '../../packages/cairn/src/operations/approvals/decide-approval.ts';
import { World } from '../support/world.ts';

describe('an answer that arrives while a drive asks its policy', () => {
  test('is accepted', async () => {
    let onResume = async () => {};
    const world = new World({
      workflows: [
        defineWorkflow({
          type: 'two-gates',
          planVersion: 1,
          input: z.object({}),
          async policy({ at }) {
            if (at === 'resume') await onResume();
            return { allowed: true, policySnapshotId: 'rules-1' };
          },
          steps(step) {
            const first = step.approval('first', { ask: () => 'may it begin?' });
            const second = step.approval('second', { ask: () => 'may it end?' });
            const both = step('both', { needs: { first, second } }, ({ first, second }) => [
              first.decision,
              second.decision,
            ]);
            return { both };
          },
        }),
      ],
    });
    const runId = await world.start('two-gates');
    await world.run(() => world.db.runs.get(runId)?.snapshot.status === 'awaiting_approval');
    const decide = (stepId: string) =>
      decideApproval(world.deps, { runId, tenantId: 't1', stepId, decision: 'approve', actor: 'u1' });
    onResume = async () => {
      onResume = async () => {};
      await decide('second');
    };
    await decide('first');
    await world.run();
    const { status, result } = await world.folded(runId);
    expect(status).toBe('completed');
    expect(result).toEqual({ text: '{"both":["approve","approve"]}' });
  });
});
