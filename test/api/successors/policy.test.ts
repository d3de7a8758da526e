import { expect, test } from '@jest/globals';
import { z } from 'zod';
import type { PolicyDecision, PolicyQuestion } from '../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { settle } from '../../support/virtual-clock.ts';
import { Installation } from '../installation.ts';

/** An installation whose only workflow, `guarded`, has this policy and fails in its only step. */
function failingUnder(
  policy: (question: PolicyQuestion<unknown>) => PolicyDecision | Promise<PolicyDecision>,
) {
  const guarded = defineWorkflow({
    type: 'guarded',
    planVersion: 1,
    input: z.object({}),
    policy,
    steps: (step) => ({
      a: step('a', { retry: { maxAttempts: 1 } }, () => {
        throw new Error('broken');
      }),
    }),
  });
  return new Installation([guarded]);
}

test('a resume asks its policy with mode, environment and actor, and a refusal leaves the source unchanged', async () => {
  const requests: PolicyQuestion<unknown>[] = [];
  const installation = failingUnder((question) => {
    requests.push(question);
    const allowed = question.mode === undefined || question.actor === 'c.boss';
    return { allowed, policySnapshotId: 'rules-1', reason: 'only the boss goes on' };
  });
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
    expect(requests.at(-1)).toMatchObject({
      mode,
      actor: 'c.robot',
      environment: 'test',
      runId,
      at: 'start',
    });
  }
  expect(world.stateOf(runId)).toEqual(before);
  expect(world.db.runs.size).toBe(1);
  expect((await go('resume', boss)).status).toBe(201);
  expect(world.stateOf(runId).supersededBy).toBeDefined();
});

test.each([
  ['undefined', () => undefined, 503],
  ['the text false', () => ({ allowed: 'false', policySnapshotId: 'p' }), 503],
  ['a reason without text', () => ({ allowed: false, policySnapshotId: 'p', reason: Symbol('x') }), 403],
  [
    'a secret as the reason',
    (token: string) => ({ allowed: false, policySnapshotId: 'p', reason: `not for ${token}` }),
    403,
  ],
])(
  'a policy that answers a resume with %s refuses it, and reveals no secret',
  async (_what, answer, status) => {
    let started = false;
    const guarded = defineWorkflow({
      type: 'guarded',
      planVersion: 1,
      input: z.object({ token: z.string() }),
      secretInput: ['token'],
      policy: ({ input }) =>
        (started ? answer(input.token) : { allowed: true, policySnapshotId: 'p' }) as PolicyDecision,
      steps: (step) => ({
        a: step('a', { retry: { maxAttempts: 1 } }, () => {
          throw new Error('broken');
        }),
      }),
    });
    const installation = new Installation([guarded]);
    const { world } = installation;
    const key = await installation.key('robot', { roles: ['operator'] });
    const response = await installation.post(key, { type: 'guarded', input: { token: 'sesame-open' } });
    const { runId } = (await response.json()) as { runId: string };
    await world.run();
    started = true;
    const refused = await installation.api.request(`/v1/runs/${runId}/resume`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
    });
    expect([refused.status, (await refused.text()).includes('sesame')]).toEqual([status, false]);
    expect(world.db.runs.size).toBe(1);
  },
);

test('a resume waits 20 s for a policy that does not answer', async () => {
  let isSilent = false;
  const installation = failingUnder(() =>
    isSilent ? new Promise<PolicyDecision>(() => {}) : { allowed: true, policySnapshotId: 'rules-1' },
  );
  const { world } = installation;
  const key = await installation.key('robot', { roles: ['operator'] });
  const started = await installation.post(key, { type: 'guarded', input: {} });
  const { runId } = (await started.json()) as { runId: string };
  await world.run();
  isSilent = true;
  const since = world.clock.now();
  const resumed = Promise.resolve(
    installation.api.request(`/v1/runs/${runId}/resume`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
    }),
  );
  let status: number | undefined;
  void resumed.then((response) => {
    status = response.status;
  });
  for (let turn = 0; status === undefined && turn < 100; turn += 1) {
    await settle();
    world.clock.fireNext();
  }
  expect([status, world.clock.now() - since]).toEqual([503, 20_000]);
});
