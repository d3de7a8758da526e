import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { childRunId } from '../../../packages/cairn/src/core/encoding/ids.ts';
import { Fatal } from '../../../packages/cairn/src/core/errors.ts';
import type { PolicyQuestion } from '../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { cancelRun } from '../../../packages/cairn/src/operations/cancel-run.ts';
import { assertStored } from '../../support/soundness.ts';
import { depsOf, driven, resultOf, reusedIn, said, succeed } from '../../support/successors.ts';
import { NEWER, World } from '../../support/world.ts';

/** A parent with one child of two steps. It records which bodies ran; steps of parent and child can be made to fail. */
function family() {
  const on = {
    childBroken: false,
    parentBroken: false,
    n: 1,
    ran: [] as string[],
    asked: [] as PolicyQuestion<unknown>[],
    refuses: false,
  };
  const child = defineWorkflow({
    type: 'child',
    planVersion: 1,
    input: z.object({ n: z.number() }),
    policy: (question) => {
      on.asked.push(question);
      return { allowed: !on.refuses, policySnapshotId: 'rules-1', reason: 'not today' };
    },
    steps(step) {
      const half = step('half', ({ input }) => {
        on.ran.push('half');
        return input.n;
      });
      return {
        whole: step('whole', { needs: { half } }, ({ half }) => {
          on.ran.push('whole');
          if (on.childBroken) throw new Fatal('broken below');
          return half * 2;
        }),
      };
    },
  });
  const parent = defineWorkflow({
    type: 'parent',
    planVersion: 1,
    input: z.unknown(),
    steps(step) {
      const n = step('n', () => on.n);
      const kid = step.child('kid', { needs: { n }, workflow: child, input: ({ n }) => ({ n }) });
      return {
        end: step('end', { needs: { kid } }, ({ kid }) => {
          if (on.parentBroken) throw new Fatal('broken above');
          return kid;
        }),
      };
    },
  });
  const world = new World({ workflows: [parent, child] });
  return { world, on };
}

async function run({ world, on }: ReturnType<typeof family>): Promise<string> {
  const runId = await world.start('parent');
  await world.run();
  on.ran.length = 0;
  on.childBroken = false;
  on.parentBroken = false;
  return runId;
}

function childOf(world: World, parentId: string) {
  return assertStored(world.db, childRunId(parentId, 'kid.1'));
}

describe('a child step that runs again', () => {
  test('in a resume resumes the failed child: each continues where it had stopped', async () => {
    const scene = family();
    const { world, on } = scene;
    on.childBroken = true;
    const runId = await run(scene);
    const resumed = await driven(world, 'resume', runId);
    expect([resumed.status, on.ran]).toEqual(['completed', ['whole']]);
    expect(await resultOf(world, resumed)).toEqual({ end: { whole: 2 } });
    const [before, after] = [childOf(world, runId), childOf(world, resumed.id)];
    expect(after).toMatchObject({
      source: { runId: before.id, mode: 'resume' },
      resumedFrom: before.id,
      rootRunId: before.id,
      parent: { runId: resumed.id, stepId: 'kid', topRunId: resumed.id },
    });
    expect(before.supersededBy).toBe(after.id);
  });

  test('in a replay replays the child, and in a fork forks it', async () => {
    const scene = family();
    const { world, on } = scene;
    const runId = await run(scene);
    const original = childOf(world, runId);
    const replay = await driven(world, 'replay', runId);
    expect(childOf(world, replay.id)).toMatchObject({ source: { runId: original.id, mode: 'replay' } });
    expect(on.ran).toEqual(['half', 'whole']);
    const fork = await driven(world, 'fork', runId, { from: { step: 'kid' } });
    expect(childOf(world, fork.id)).toMatchObject({ source: { runId: original.id, mode: 'fork' } });
    // The child had not changed.
    expect(on.ran).toEqual(['half', 'whole']);
    expect(assertStored(world.db, original.id).supersededBy).toBeUndefined();
  });

  test('with another input forks the child, whatever the mode of the parent', async () => {
    const scene = family();
    const { world, on } = scene;
    on.parentBroken = true;
    const runId = await run(scene);
    on.n = 5;
    const resumed = await driven(world, 'resume', runId, { from: { step: 'n' } });
    expect(await resultOf(world, resumed)).toEqual({ end: { whole: 10 } });
    const child = childOf(world, resumed.id);
    expect([child.source?.mode, child.rootRunId]).toEqual(['fork', childOf(world, runId).id]);
  });

  test('in a resume reuses a child that had completed', async () => {
    const scene = family();
    const { world, on } = scene;
    on.parentBroken = true;
    const runId = await run(scene);
    const resumed = await driven(world, 'resume', runId, { from: { step: 'kid' } });
    expect([resumed.status, on.ran]).toEqual(['completed', []]);
    const child = childOf(world, resumed.id);
    expect(child.source).toMatchObject({ mode: 'fork' });
    expect(reusedIn(world, child.id)).toEqual(['half', 'whole']);
  });

  test('is reused whole where nothing changed: no child is started', async () => {
    const scene = family();
    const { world, on } = scene;
    on.parentBroken = true;
    const runId = await run(scene);
    const resumed = await driven(world, 'resume', runId);
    expect([resumed.status, on.ran, reusedIn(world, resumed.id)]).toEqual(['completed', [], ['n', 'kid']]);
    expect(world.db.runs.has(childRunId(resumed.id, 'kid.1'))).toBe(false);
  });

  test('finds the child of the last run that had it, across successors that reused it', async () => {
    const scene = family();
    const { world, on } = scene;
    on.parentBroken = true;
    const runId = await run(scene);
    on.parentBroken = true;
    const resumed = await driven(world, 'resume', runId);
    on.parentBroken = false;
    const replay = await driven(world, 'replay', resumed.id, { from: { step: 'kid' } });
    expect(childOf(world, replay.id)).toMatchObject({
      source: { runId: childOf(world, runId).id, mode: 'replay' },
    });
  });

  test('continues from the newest successor of a child that was resumed by itself', async () => {
    const scene = family();
    const { world, on } = scene;
    on.childBroken = true;
    const runId = await run(scene);
    const alone = await driven(world, 'resume', childOf(world, runId).id);
    expect([alone.status, alone.parent]).toEqual(['completed', undefined]);
    const resumed = await driven(world, 'resume', runId);
    expect(resumed.status).toBe('completed');
    // The child had completed, so nothing runs again.
    expect(on.ran).toEqual(['whole']);
    expect(childOf(world, resumed.id).source).toMatchObject({ runId: alone.id, mode: 'fork' });
  });

  test('waits until the child of a cancelled parent has ended as well', async () => {
    const scene = family();
    const { world } = scene;
    const runId = await world.start('parent');
    await world.run(() => world.stateOf(runId).waits.length === 1);
    // The child was neither driven nor cancelled before.
    for (const { id } of world.queue.pending) world.queue.take(id);
    await cancelRun(depsOf(world), { runId, tenantId: 't1', stopKind: 'user', actor: 'u.ann' });
    for (const { id } of world.queue.pending) world.queue.take(id);
    const childId = childRunId(runId, 'kid.1');
    expect(assertStored(world.db, childId).status).not.toBe('cancelled');
    const resumed = await succeed(world, 'resume', runId);
    await world.run();
    expect(assertStored(world.db, resumed).status).toBe('completed');
    expect(assertStored(world.db, childId).status).toBe('cancelled');
    expect(childOf(world, resumed)).toMatchObject({ status: 'completed', resumedFrom: childId });
  });
});

describe('the policy of the child', () => {
  test('is asked before a resume of the parent supersedes the child, and a refusal leaves the child unchanged', async () => {
    const scene = family();
    const { world, on } = scene;
    on.childBroken = true;
    const runId = await run(scene);
    const before = childOf(world, runId);
    on.refuses = true;
    on.asked.length = 0;
    const refused = await driven(world, 'resume', runId, { actor: 'u.bob' });
    expect(refused).toMatchObject({ status: 'failed', error: { code: 'FORBIDDEN', stepId: 'kid' } });
    expect(on.asked).toEqual([
      expect.objectContaining({
        runId: before.id,
        mode: 'resume',
        actor: 'u.bob',
        at: 'start',
        input: { n: 1 },
      }),
    ]);
    expect(childOf(world, runId)).toEqual(before);
    expect(world.db.runs.has(childRunId(refused.id, 'kid.1'))).toBe(false);
    on.refuses = false;
    const resumed = await driven(world, 'resume', refused.id);
    expect([resumed.status, on.ran]).toEqual(['completed', ['whole']]);
    expect(childOf(world, runId).supersededBy).toBe(childOf(world, resumed.id).id);
  });

  test.each(['replay', 'fork'] as const)(
    'is asked before a %s of the parent creates one of the child',
    async (mode) => {
      const scene = family();
      const { world, on } = scene;
      const runId = await run(scene);
      on.refuses = true;
      const successor = await driven(world, mode, runId, mode === 'fork' ? { from: { step: 'kid' } } : {});
      expect(successor.error).toMatchObject({ code: 'FORBIDDEN', stepId: 'kid' });
      expect(on.asked.at(-1)).toMatchObject({ mode });
      expect(world.db.runs.size).toBe(3);
    },
  );

  test('is bypassed where an admin forces the resume of the parent, and the journal of the child says so', async () => {
    const scene = family();
    const { world, on } = scene;
    on.childBroken = true;
    const runId = await run(scene);
    on.refuses = true;
    const resumed = await driven(world, 'resume', runId, { actor: 'u.root', force: true });
    expect(resumed.status).toBe('completed');
    const [evaluated] = said(world, childRunId(resumed.id, 'kid.1'), 'policy_evaluated');
    expect(evaluated).toMatchObject({ allowed: true, forced: true, reason: 'passed over by u.root' });
  });

  test('is asked before a successor of the child itself is made', async () => {
    const scene = family();
    const { world, on } = scene;
    on.childBroken = true;
    const runId = await run(scene);
    const before = childOf(world, runId);
    on.refuses = true;
    for (const mode of ['resume', 'replay', 'fork'] as const) {
      await expect(succeed(world, mode, before.id)).rejects.toMatchObject({ code: 'FORBIDDEN' });
      expect(on.asked.at(-1)).toMatchObject({ runId: before.id, mode, actor: 'u.ann' });
    }
    expect(childOf(world, runId)).toEqual(before);
    expect(world.db.runs.size).toBe(2);
  });
});

test('a resumed parent does not fail beside a child of its source that a newer version wrote', async () => {
  const { world, on } = family();
  on.childBroken = true;
  const failed = await world.start('parent');
  await world.run();
  expect(world.stateOf(failed).status).toBe('failed');
  on.childBroken = false;
  const kid = childRunId(failed, 'kid.1');
  const before = world.writtenBy(kid, NEWER);
  const resumed = await succeed(world, 'resume', failed);
  let looks = 0;
  await world.run(() => {
    looks += 1;
    return looks > 50;
  });
  expect(world.stateOf(resumed).status).toBe('running');
  world.writtenBy(kid, before);
  await world.run();
  expect(world.stateOf(resumed).status).toBe('completed');
});
