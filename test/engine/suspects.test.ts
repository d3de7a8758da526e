import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../packages/cairn/src/engine/drive/drive.ts';
import { driveRequestOf } from '../../packages/cairn/src/memory/memory-task-queue.ts';
import { dieDuring, mortal } from '../support/mortal.ts';
import { assertStored } from '../support/soundness.ts';
import { settle } from '../support/virtual-clock.ts';
import { World } from '../support/world.ts';

type Does = 'well' | 'dies' | 'terminates';

/** Two steps. The input decides what the body of `middle` does to its process. */
function crowd(options: { idempotent?: boolean } = {}) {
  const struck: Does[] = [];
  const workflow = defineWorkflow({
    type: 'crowd',
    planVersion: 1,
    input: z.object({ does: z.enum(['well', 'dies', 'terminates']) }),
    steps(step) {
      const before = step('before', () => 'b');
      const middle = step(
        'middle',
        { needs: { before }, idempotent: options.idempotent ?? true, timeout: '5m' },
        ({ input }) => {
          if (input.does === 'well') return 'm';
          struck.push(input.does);
          return new Promise<string>(() => {});
        },
      );
      return { middle };
    },
  });
  return { world: new World({ workflows: [workflow] }), struck };
}

/**
 * Processes that run all due tasks together, or one task alone. When a process ends, all its runs stop, and the queue delivers
 * their tasks again.
 */
async function serve({ world, struck }: ReturnType<typeof crowd>): Promise<number> {
  let deaths = 0;
  for (let turn = 0; turn < 60; turn += 1) {
    const due = world.queue.due(world.clock.now());
    const [first] = due;
    if (!first) {
      const next = [world.queue.nextAt(), world.clock.nextAt].filter((at) => at !== undefined);
      if (world.queue.nextAt() === undefined) break;
      const at = Math.min(...next);
      if (!world.clock.fireNext(at)) world.clock.jump(Math.max(0, at - world.clock.now()));
      continue;
    }
    const served = first.alone ? [first] : due.filter(({ alone }) => !alone);
    const process = mortal(world.deps, 100 + turn);
    const left = new Set(served);
    for (const task of served) {
      world.queue.take(task.id);
      void drive(process.deps, driveRequestOf(task)).then(() => left.delete(task));
    }
    await settle();
    const [how] = struck.splice(0);
    if (how === undefined) continue;
    deaths += 1;
    if (how === 'terminates') {
      process.terminate();
      const graceEndsAt = world.clock.now() + world.deps.settings.graceMs;
      while (world.clock.fireNext(graceEndsAt)) await settle();
    }
    process.kill();
    for (const task of left) world.queue.repeat(task, { at: world.clock.now() + 100, answered: false });
  }
  return deaths;
}

describe('a run that kills its process', () => {
  test.each(['dies', 'terminates'] as const)(
    'fails with a named error after at most five deaths, and no other run fails, if its body %s',
    async (does) => {
      const stage = crowd();
      const innocent = [];
      for (let i = 0; i < 10; i += 1) innocent.push(await stage.world.start('crowd', { does: 'well' }));
      const hostile = await stage.world.start('crowd', { does });
      expect(await serve(stage)).toBeLessThanOrEqual(5);
      for (const runId of innocent) expect(assertStored(stage.world.db, runId).status).toBe('completed');
      expect(assertStored(stage.world.db, hostile)).toMatchObject({
        status: 'failed',
        error: { code: 'RUN_RESUME_FAILED', stepId: 'middle' },
      });
    },
  );
});

describe('a redelivery of the task that holds the lease', () => {
  test.each([
    [true, 'moved'],
    [false, 'leased'],
  ] as const)('with an idempotent step (%s) under way: the dispatch is %s', async (idempotent, expected) => {
    const { world } = crowd({ idempotent });
    const runId = await world.start('crowd', { does: 'dies' });
    const task = world.queue.take();
    if (!task) throw new Error('no task');
    await dieDuring(world.deps, driveRequestOf(task));
    const again = driveRequestOf({ ...task, retryCount: 1 });
    expect(await drive(world.deps, again)).toBe(expected);
    const [orphan] = (await world.eventTypes(runId)).filter((type) => type === 'orphan_detected');
    expect(orphan !== undefined).toBe(idempotent);
  });
});

test('a drive that throws releases its run with a growing back-off, which does not count as a death', async () => {
  const { world } = crowd();
  const runId = await world.start('crowd', { does: 'well' });
  let failing = true;
  const broken = {
    ...world.deps,
    registry: Object.create(world.deps.registry, {
      pinned: {
        value: (type: string, version: number) => {
          const workflow = world.deps.registry.pinned(type, version);
          if (!failing || !workflow) return workflow;
          return { ...workflow, graph: { ...workflow.graph, order: undefined } };
        },
      },
    }),
  };
  const task = world.queue.take();
  if (!task) throw new Error('no task');
  expect(await drive(broken, driveRequestOf(task))).toBe('failed');
  const released = assertStored(world.db, runId);
  expect(released.lease).toBeUndefined();
  expect(released.failures).toMatchObject({ times: 1, error: { code: 'INTERNAL' } });
  expect(released.dueAt).toBeGreaterThanOrEqual(world.clock.now());
  failing = false;
  await world.run();
  const state = assertStored(world.db, runId);
  expect(state).toMatchObject({ status: 'completed', resumeCount: 0, interruptions: 0 });
  expect(state.failures).toBeUndefined();
  expect(state.suspect).toBeUndefined();
});

test('a process that dies after it released a suspect makes it a suspect again, while another dispatch has it', async () => {
  const held = Promise.withResolvers<string>();
  let calls = 0;
  const workflow = defineWorkflow({
    type: 'late',
    planVersion: 1,
    input: z.object({}),
    steps(step) {
      const first = step('first', { timeout: '5m' }, () => {
        calls += 1;
        return calls === 1 ? new Promise<string>(() => {}) : 'well';
      });
      return { second: step('second', { needs: { first }, timeout: '5m' }, () => held.promise) };
    },
  });
  const world = new World({ workflows: [workflow] });
  const runId = await world.start('late', {});
  const taken = () => {
    const task = world.queue.take();
    if (!task) throw new Error('no task');
    return task;
  };
  const task = taken();
  await dieDuring(world.deps, driveRequestOf(task));
  expect(await drive(world.deps, driveRequestOf({ ...task, retryCount: 1 }))).toBe('moved');
  const alone = taken();
  expect(await drive(mortal(world.deps, 51).deps, driveRequestOf(alone))).toBe('released');
  const inCompany = drive(world.deps, driveRequestOf(taken()));
  await settle();
  expect(assertStored(world.db, runId).suspect).toMatchObject({ times: 1, alone: false });

  expect(await drive(world.deps, driveRequestOf({ ...alone, retryCount: 1 }))).toBe('leased');
  const state = assertStored(world.db, runId);
  expect(state.suspect).toMatchObject({ times: 2, alone: true, inARow: { times: 1 } });
  expect(state.lease).toBeDefined();

  held.resolve('done');
  expect(await inCompany).toBe('closed');
  const types = await world.eventTypes(runId);
  expect(types.filter((type) => type === 'worker_lost')).toHaveLength(1);
  expect(assertStored(world.db, runId)).toMatchObject({ status: 'completed', interruptions: 0 });
});
