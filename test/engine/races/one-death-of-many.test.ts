import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { PRODUCTION_SETTINGS } from '../../../packages/cairn/src/engine/settings.ts';
import { driveRequestOf, type QueuedTask } from '../../../packages/cairn/src/memory/memory-task-queue.ts';
import { mortal } from '../../support/mortal.ts';
import { assertStored } from '../../support/soundness.ts';
import { settle } from '../../support/virtual-clock.ts';
import { World } from '../../support/world.ts';

/** Concurrent dispatches of a deployed instance of `drive`. */
const RUNS = 80;
/** The shortest back-off of the deployed queue. */
const REDELIVERED_AFTER_MS = 100;
const BODY_MS = 60_000;

describe('an instance that runs out of memory with 80 runs under way', () => {
  test('delays other runs only until their tasks are redelivered, and fails only the run that killed it', async () => {
    const began = new Map<string, { at: number; alone: boolean }[]>();
    let culprit = '';
    let isAlone = false;
    let killer = () => {};
    const workflow = defineWorkflow({
      type: 'crowded',
      planVersion: 1,
      input: z.object({}),
      steps: (step) => ({
        body: step('body', { timeout: '5m' }, ({ runId }) => {
          const before = began.get(runId) ?? [];
          began.set(runId, [...before, { at: world.clock.now(), alone: isAlone }]);
          if (runId === culprit) queueMicrotask(killer);
          return new Promise<string>((resolve) => {
            world.clock.timer(BODY_MS, () => resolve('done'));
          });
        }),
      }),
    });
    const world: World = new World({ workflows: [workflow], settings: PRODUCTION_SETTINGS });
    const { clock, queue } = world;
    const runIds: string[] = [];
    for (let i = 0; i < RUNS; i += 1) runIds.push(await world.start('crowded'));

    // All run in one process, which dies when the last of them has begun.
    const crowd = mortal(world.deps, 50);
    const tasks = queue.due(clock.now());
    for (const task of tasks) {
      queue.take(task.id);
      void drive(crowd.deps, driveRequestOf(task));
    }
    await settle();
    expect([...began.values()].map(({ length }) => length)).toEqual(Array(RUNS).fill(1));
    crowd.kill();
    culprit = runIds[40] ?? '';
    const diedAt = clock.now();
    for (const task of tasks) queue.repeat(task, { at: diedAt + REDELIVERED_AFTER_MS, answered: false });

    /** One process for each dispatch to `driveAlone`, as deployed; the others share one that lives. */
    const deliver = async (task: QueuedTask) => {
      queue.take(task.id);
      if (!task.alone) return void drive(world.deps, driveRequestOf(task));
      const worker = mortal(world.deps, 1_000 + task.id * 10 + task.retryCount);
      isAlone = true;
      killer = () => {
        worker.kill();
        queue.repeat(task, { at: clock.now() + REDELIVERED_AFTER_MS, answered: false });
      };
      void drive(worker.deps, driveRequestOf(task));
      await settle();
      isAlone = false;
    };
    const isOver = () => runIds.every((id) => world.stateOf(id).completedAt !== undefined);
    for (let turn = 0; turn < 5_000 && !isOver(); turn += 1) {
      await settle();
      const due = queue.due(clock.now());
      for (const task of due) await deliver(task);
      if (due.length > 0) continue;
      const next = Math.min(
        clock.nextAt ?? Number.POSITIVE_INFINITY,
        queue.nextAt() ?? Number.POSITIVE_INFINITY,
      );
      if (!clock.fireNext(next) && next > clock.now()) clock.jump(next - clock.now());
    }

    for (const runId of runIds) {
      const state = assertStored(world.db, runId);
      const again = (began.get(runId) ?? []).slice(1);
      expect(again.every(({ alone }) => alone)).toBe(true);
      expect((again[0]?.at ?? Number.POSITIVE_INFINITY) - diedAt).toBeLessThanOrEqual(REDELIVERED_AFTER_MS);
      if (runId === culprit)
        expect(state).toMatchObject({
          status: 'failed',
          error: { code: 'RUN_RESUME_FAILED', stepId: 'body' },
        });
      else expect([runId, state.status, again.length]).toEqual([runId, 'completed', 1]);
    }
    // Three deaths alone end the run.
    expect(began.get(culprit)).toHaveLength(1 + 3);
  });
});
