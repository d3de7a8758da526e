import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { isOver } from '../../../packages/cairn/src/core/run/state.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { previewSuccessor } from '../../../packages/cairn/src/operations/successors/preview.ts';
import { resumeRun } from '../../../packages/cairn/src/operations/successors/resume-run.ts';
import { suspendRun } from '../../../packages/cairn/src/operations/suspend-run.ts';
import { scan } from '../../../packages/cairn/src/recovery/scan.ts';
import { World } from '../../support/world.ts';

const BY = { tenantId: 't1', actor: 'u.ada' };

/** A run whose policy fails until `up` is true. */
async function guarded() {
  const policy = { up: false, asked: 0 };
  const workflow = defineWorkflow({
    type: 'guarded',
    planVersion: 1,
    input: z.object({}),
    policy: () => {
      policy.asked += 1;
      if (!policy.up) throw new Error('nobody answers');
      return { allowed: true, policySnapshotId: 'p' };
    },
    steps: (step) => ({ a: step('a', () => 1) }),
  });
  const world = new World({ workflows: [workflow] });
  const runId = await world.start('guarded');
  const failed = (times: number) => world.run(() => world.stateOf(runId).failures?.times === times);
  const deps = { ...world.deps, records: world.records };
  const resume = () => resumeRun(deps, { ...BY, runId });
  return { world, runId, policy, failed, resume, deps };
}

describe('a run whose policy fails', () => {
  test('reports it within five minutes, also while the policy is asked again, until the run continues', async () => {
    const { world, runId, policy, failed } = await guarded();
    await failed(3);
    expect(world.db.findings.size).toBe(0);
    await failed(4);
    const { failures } = world.stateOf(runId);
    expect([...world.db.findings.values()]).toMatchObject([
      { runId, reason: 'dispatches', message: failures?.error.message },
    ]);
    expect(world.clock.now() - world.stateOf(runId).createdAt).toBeLessThan(5 * 60_000);
    await world.run(() => world.stateOf(runId).lease !== undefined);
    await scan(world.deps);
    expect(world.db.findings.size).toBe(1);
    policy.up = true;
    await world.run();
    await scan(world.deps);
    expect([world.stateOf(runId).status, world.db.findings.size]).toEqual(['completed', 0]);
  });

  test('asks it at once when a person resumes the run, however long its back-off', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 12 }), fc.boolean(), async (times, up) => {
        const { world, runId, policy, failed, resume, deps } = await guarded();
        await failed(times);
        policy.up = up;
        policy.asked = 0;
        const since = world.clock.now();
        const preview = await previewSuccessor(deps, { runId, tenantId: 't1', mode: 'resume' });
        expect(preview.would).toBe('unpark');
        expect(await resume()).toMatchObject({ outcome: 'resumed', status: 'running' });
        await world.run(
          () => isOver(world.stateOf(runId)) || world.stateOf(runId).failures?.times === times + 1,
        );
        expect(world.clock.now() - since).toBeLessThan(5_000);
        expect(world.stateOf(runId).status).toBe(up ? 'completed' : 'running');
        expect(policy.asked).toBe(up ? 1 : 3);
      }),
      { numRuns: 20 },
    );
  });

  test('does not ask it earlier on a resume while it is suspended', async () => {
    const { world, runId, policy, failed, resume } = await guarded();
    await failed(2);
    await suspendRun(world.deps, { ...BY, runId, reason: 'look first' });
    policy.asked = 0;
    await expect(resume()).rejects.toMatchObject({ code: 'RUN_INVALID_TRANSITION' });
    await world.run(() => true);
    expect(policy.asked).toBe(0);
  });
});

test('a resume does not advance the next attempt of a step: the workflow sets its time', async () => {
  const begun: number[] = [];
  const retried = defineWorkflow({
    type: 'retried',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({
      a: step('a', { retry: { maxAttempts: 2, initialMs: 3_600_000, capMs: 3_600_000 } }, () => {
        begun.push(world.clock.now());
        throw new Error('not now');
      }),
    }),
  });
  const world: World = new World({ workflows: [retried] });
  const runId = await world.start('retried');
  await world.run(() => world.stateOf(runId).dueAt !== undefined);
  const { dueAt = 0 } = world.stateOf(runId);
  const deps = { ...world.deps, records: world.records };
  expect(await resumeRun(deps, { ...BY, runId })).toMatchObject({ outcome: 'moving' });
  await world.run();
  expect(begun).toHaveLength(2);
  expect(begun[1]).toBeGreaterThanOrEqual(dueAt);
});
