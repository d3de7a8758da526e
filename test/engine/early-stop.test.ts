import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../packages/cairn/src/engine/drive/drive.ts';
import { LOCAL_SETTINGS } from '../../packages/cairn/src/engine/settings.ts';
import { decideApproval } from '../../packages/cairn/src/operations/approvals/decide-approval.ts';
import { cancelRun } from '../../packages/cairn/src/operations/cancel-run.ts';
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

/** A run whose steps have all ended, but whose end is not recorded. */
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

describe('a drive that is stopped while it reads the state of earlier drives', () => {
  test('does not end the run before that state is known', async () => {
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

describe('a drive that waits for its policy', () => {
  test('notices a cancel of the run', async () => {
    let runId = '';
    let requestCount = 0;
    const world = new World({
      workflows: [
        defineWorkflow({
          type: 'guarded',
          planVersion: 1,
          input: z.object({}),
          policy: async () => {
            requestCount += 1;
            if (requestCount === 3) await cancelRun(world.deps, { runId, tenantId: 't1', stopKind: 'user' });
            throw new Error('unreachable');
          },
          steps: (step) => ({ a: step('a', () => 1) }),
        }),
      ],
    });
    runId = await world.start('guarded');
    const patience = world.clock.now() + 10_000;
    const status = () => world.db.runs.get(runId)?.snapshot.status;
    await world.run(() => status() === 'cancelled' || world.clock.now() > patience);
    expect(status()).toBe('cancelled');
    expect((await world.folded(runId)).lease).toBeUndefined();
  });

  test('leaves a run that is taken over meanwhile', async () => {
    const asking = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    let requestCount = 0;
    const world = new World({
      workflows: [
        defineWorkflow({
          type: 'guarded',
          planVersion: 1,
          input: z.object({}),
          policy: async () => {
            requestCount += 1;
            if (requestCount === 1) {
              asking.resolve();
              await answer.promise;
            }
            return { allowed: true, policySnapshotId: 'p' };
          },
          steps: (step) => ({ a: step('a', () => requestCount) }),
        }),
      ],
    });
    const runId = await world.start('guarded');
    const frozen = drive(world.deps, { runId });
    await asking.promise;
    world.clock.jump(2 * LOCAL_SETTINGS.leaseMs);
    expect(await drive(world.deps, { runId })).toBe('moved');
    expect(await drive(world.deps, { runId, alone: true })).toBe('closed');
    answer.resolve();
    expect(await frozen).toBe('lease_lost');
    expect(await world.folded(runId)).toMatchObject({ status: 'completed', result: { text: '{"a":2}' } });
  });
});
