import { expect, test } from '@jest/globals';
import { z } from 'zod';
import type { PolicyQuestion } from '../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { Installation } from '../installation.ts';

test('a policy that refuses a resume is asked before it, sees mode, environment and actor, and leaves the source as it was', async () => {
  const asked: PolicyQuestion<unknown>[] = [];
  const guarded = defineWorkflow({
    type: 'guarded',
    planVersion: 1,
    input: z.object({}),
    policy: (question) => {
      asked.push(question);
      const allowed = question.mode === undefined || question.actor === 'c.boss';
      return { allowed, policySnapshotId: 'rules-1', reason: 'only the boss goes on' };
    },
    steps: (step) => ({
      a: step('a', { retry: { maxAttempts: 1 } }, () => {
        throw new Error('broken');
      }),
    }),
  });
  const installation = new Installation([guarded]);
  const { world } = installation;
  const robot = await installation.key('robot', { roles: ['operator'] });
  const boss = await installation.key('boss', { roles: ['operator'] });
  const started = await installation.post(robot, { type: 'guarded', input: {} });
  const { runId } = (await started.json()) as { runId: string };
  await world.run();
  const before = world.stateOf(runId);
  expect(before.status).toBe('failed');
  const go = (mode: string, key: string) =>
    installation.api.request(`/v1/runs/${runId}/${mode}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
    });
  for (const mode of ['resume', 'replay', 'fork']) {
    const refused = await go(mode, robot);
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({
      code: 'FORBIDDEN',
      details: { policySnapshotId: 'rules-1', runId },
    });
    expect(asked.at(-1)).toMatchObject({ mode, actor: 'c.robot', environment: 'test', runId, at: 'start' });
  }
  expect(world.stateOf(runId)).toEqual(before);
  expect(world.db.runs.size).toBe(1);
  expect((await go('resume', boss)).status).toBe(201);
  expect(world.stateOf(runId).supersededBy).toBeDefined();
});
