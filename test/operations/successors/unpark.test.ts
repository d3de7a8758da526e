import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { WorkflowRegistry } from '../../../packages/cairn/src/engine/define/registry.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { previewSuccessor } from '../../../packages/cairn/src/operations/successors/preview.ts';
import { resumeRun } from '../../../packages/cairn/src/operations/successors/resume-run.ts';
import { continueRun, suspendRun } from '../../../packages/cairn/src/operations/suspend-run.ts';
import { assertStored } from '../../support/soundness.ts';
import { depsOf, preview, said } from '../../support/successors.ts';
import { World } from '../../support/world.ts';
import { Scene } from '../approvals/scene.ts';

const plain = defineWorkflow({
  type: 'plain',
  planVersion: 1,
  input: z.unknown(),
  steps: (step) => ({ done: step('do', () => 1) }),
});
const waiting = defineWorkflow({
  type: 'waiting',
  planVersion: 1,
  input: z.unknown(),
  steps: (step) => ({
    built: step.event('built', { event: 'built', key: () => 'main' }),
    night: step.sleep('night', { for: '8h' }),
  }),
});
const asleep = defineWorkflow({
  type: 'asleep',
  planVersion: 1,
  input: z.unknown(),
  steps(step) {
    const night = step.sleep('night', { for: '8h' });
    return { slept: step('wake', { needs: { night } }, () => 'late') };
  },
});
const askingBeside = defineWorkflow({
  type: 'asking-beside',
  planVersion: 1,
  input: z.unknown(),
  steps: (step) => ({
    gate: step.approval('gate', { ask: () => 'Go?' }),
    busy: step('busy', () => new Promise<never>(() => {})),
  }),
});
const ANN = { tenantId: 't1', actor: 'u.ann' };

/** A run that was dispatched by a deployment without its plan. */
async function parked(world: World): Promise<string> {
  const runId = await world.start('plain');
  world.queue.take();
  await drive({ ...world.deps, registry: new WorkflowRegistry([]) }, { runId });
  expect(assertStored(world.db, runId).parked).toBe('PLAN_VERSION_UNAVAILABLE');
  return runId;
}

describe('resuming a run that has not ended:', () => {
  test('a blocked run continues as soon as its plan is deployed', async () => {
    const world = new World({ workflows: [plain] });
    const runId = await parked(world);
    expect(await preview(world, 'resume', runId)).toMatchObject({ would: 'unpark', blockers: [] });
    expect(await resumeRun(depsOf(world), { ...ANN, runId })).toEqual({
      runId,
      status: 'running',
      outcome: 'resumed',
    });
    expect(world.queue.pending).toHaveLength(1);
    await world.run();
    expect(assertStored(world.db, runId).status).toBe('completed');
  });

  test('a run whose plan is still missing stays blocked, and the answer says so', async () => {
    const world = new World({ workflows: [plain] });
    const runId = await parked(world);
    const bare = { ...depsOf(world), registry: new WorkflowRegistry([]) };
    const before = assertStored(world.db, runId);
    await expect(resumeRun(bare, { ...ANN, runId })).rejects.toMatchObject({
      code: 'PLAN_VERSION_UNAVAILABLE',
    });
    expect(assertStored(world.db, runId)).toEqual(before);
  });

  test('a suspended run is refused, and both preview and resume name the way to continue it', async () => {
    const world = new World({ workflows: [asleep] });
    const runId = await world.start('asleep');
    await world.run(() => world.db.runs.get(runId)?.snapshot.status === 'waiting_external');
    await suspendRun(world.deps, { ...ANN, runId, reason: 'to look first' });
    // The same applies when its wait is due.
    for (const laterMs of [0, 9 * 3_600_000]) {
      world.clock.jump(laterMs);
      const help = expect.stringContaining('cairn runs continue');
      const blocker = expect.objectContaining({ code: 'RUN_INVALID_TRANSITION', help });
      expect(await preview(world, 'resume', runId)).toMatchObject({ would: 'nothing', blockers: [blocker] });
      await expect(resumeRun(depsOf(world), { ...ANN, runId })).rejects.toEqual(blocker);
    }
    await continueRun(world.deps, { ...ANN, runId });
    expect(await preview(world, 'resume', runId)).toMatchObject({ would: 'unpark', blockers: [] });
  });

  test('for a run that works while a question is open, the preview names the decision too', async () => {
    const world = new World({ workflows: [askingBeside] });
    const runId = await world.start('asking-beside');
    await world.run(() => world.stateOf(runId).waits.length > 0);
    expect(await preview(world, 'resume', runId)).toMatchObject({
      would: 'nothing',
      blockers: [{ code: 'RUN_INVALID_TRANSITION', stepId: 'gate' }],
    });
  });

  test('a run that became due while its plan was missing continues at once when the plan is back', async () => {
    const world = new World({ workflows: [asleep] });
    const runId = await world.start('asleep');
    await world.run(() => world.db.runs.get(runId)?.snapshot.status === 'waiting_external');
    const ask = (deps = depsOf(world)) => resumeRun(deps, { ...ANN, runId });
    await expect(ask()).rejects.toMatchObject({ code: 'RUN_INVALID_TRANSITION', stepId: 'night' });

    const away = { ...depsOf(world), registry: new WorkflowRegistry([]) };
    world.clock.jump(8 * 3_600_000 + 60_000);
    world.queue.take();
    const before = assertStored(world.db, runId);
    await expect(ask(away)).rejects.toMatchObject({ code: 'PLAN_VERSION_UNAVAILABLE' });
    const { would, blockers } = await previewSuccessor(away, { tenantId: 't1', runId, mode: 'resume' });
    expect([would, blockers.map(({ code }) => code)]).toEqual(['nothing', ['PLAN_VERSION_UNAVAILABLE']]);
    expect(assertStored(world.db, runId)).toEqual(before);

    expect(await preview(world, 'resume', runId)).toMatchObject({ would: 'unpark', blockers: [] });
    const back = world.clock.now();
    expect(await ask()).toEqual({ runId, status: 'running', outcome: 'resumed' });
    await world.run(() => world.db.runs.get(runId)?.snapshot.status === 'completed');
    expect(world.clock.now()).toBe(back);
    expect(said(world, runId, 'run_resumed')[0]).toEqual({ reason: 'requested by u.ann' });
    expect(assertStored(world.db, runId).result).toEqual({ text: '{"slept":"late"}' });
  });

  test('an interrupted run continues at once, instead of at the next scan', async () => {
    const scene = await Scene.begun();
    const { world, runId } = scene;
    await scene.done('fetch');
    await scene.interrupt();
    const { status, outcome } = await resumeRun(depsOf(world), { ...ANN, runId });
    expect([status, outcome]).toEqual(['running', 'resumed']);
    const [last] = (await world.store.readEvents(runId, scene.state.head - 1, 1)) ?? [];
    expect(last).toMatchObject({ type: 'run_resumed', initiator: 'user', actor: 'u.ann' });
    expect(scene.tasks()).toBe(1);
  });

  test('a run that asks a person is refused, with the missing decision', async () => {
    const { world, runId, state } = await Scene.asking();
    await expect(resumeRun(depsOf(world), { ...ANN, runId })).rejects.toMatchObject({
      code: 'RUN_INVALID_TRANSITION',
      stepId: 'gate',
      details: {
        status: 'awaiting_approval',
        waits: [{ waitId: 'gate.1', kind: 'approval', stepId: 'gate' }],
      },
    });
    expect(assertStored(world.db, runId)).toEqual(state);
    const { would, blockers } = await preview(world, 'resume', runId);
    expect([would, blockers.map(({ stepId }) => stepId)]).toEqual(['nothing', ['gate']]);
  });

  test('a run that waits for an event is refused, with the event and the time', async () => {
    const world = new World({ workflows: [waiting] });
    const runId = await world.start('waiting');
    await world.run(() => world.db.runs.get(runId)?.snapshot.status === 'waiting_external');
    await expect(resumeRun(depsOf(world), { ...ANN, runId })).rejects.toMatchObject({
      details: {
        waits: [
          { kind: 'event', stepId: 'built', name: 'built', key: 'main' },
          { kind: 'timer', stepId: 'night' },
        ],
      },
    });
  });

  test('a run that makes progress is left alone', async () => {
    const scene = await Scene.begun();
    const { world, runId, state } = scene;
    const { outcome } = await resumeRun(depsOf(world), { ...ANN, runId });
    expect(outcome).toBe('moving');
    expect(scene.state).toEqual(state);
    expect(scene.tasks()).toBe(0);
  });
});
