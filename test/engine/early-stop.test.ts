import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../functions/src/engine/define/workflow.ts';
import { drive } from '../../functions/src/engine/drive/drive.ts';
import { decideApproval } from '../../functions/src/operations/approvals/decide-approval.ts';
import { intercept } from '../support/intercept.ts';
import { World } from '../support/world.ts';

const reviewed = defineWorkflow({
  type: 'reviewed',
  planVersion: 1,
  input: z.object({}),
  steps(step) {
    const text = step('text', () => 'what was written');
    const gate = step.approval('gate', { needs: { text }, ask: () => 'is it good?' });
    return { text, gate };
  },
});

/** A run whose steps have all ended; what is left is to say so. */
async function approved() {
  const world = new World({ workflows: [reviewed] });
  const runId = await world.start('reviewed');
  await world.run(() => world.db.runs.get(runId)?.snapshot.status === 'awaiting_approval');
  await decideApproval(world.deps, {
    runId,
    tenantId: 't1',
    stepId: 'gate',
    decision: 'approve',
    actor: 'u1',
  });
  return { world, runId };
}

describe('a drive that is told to stop while it still reads what earlier drives left', () => {
  test('does not end the run without it', async () => {
    const { world, runId } = await approved();
    const stop = new AbortController();
    const store = intercept(world.store, ({ method }, proceed) => {
      if (method === 'readCheckpoints') stop.abort();
      return proceed();
    });
    await drive({ ...world.deps, store, shutdown: stop.signal }, { runId });
    expect(stop.signal.aborted).toBe(true);
    await world.run();
    const { status, result } = await world.folded(runId);
    expect(status).toBe('completed');
    expect(result).toMatchObject({ text: expect.stringContaining('"text":"what was written"') });
  });
});
