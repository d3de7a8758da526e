import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { World as AnyWorld } from '../../support/world.ts';
import { World } from '../../support/world.ts';

const HOUR = 3_600_000;
const Input = z.object({ wait: z.string().default('24h'), until: z.number().optional() });

const nap = defineWorkflow({
  type: 'nap',
  planVersion: 1,
  input: Input,
  steps(step) {
    const before = step('before', () => 'tired');
    const pause = step.sleep('pause', { needs: { before }, for: ({ input }) => input.wait });
    const after = step('after', { needs: { before, pause } }, ({ before, pause }) => `${before}, ${pause}`);
    return { after };
  },
});

async function asleep(world: AnyWorld): Promise<void> {
  await world.run(() =>
    [...world.db.runs.values()].some((run) => run.snapshot.status === 'waiting_external'),
  );
}

describe('a sleep', () => {
  test('releases everything until its time, then the run continues', async () => {
    const world = new World({ workflows: [nap] });
    const began = world.clock.now();
    const runId = await world.start('nap');
    await asleep(world);
    const state = await world.folded(runId);
    expect(state.lease).toBeUndefined();
    expect(state.waits).toMatchObject([
      { kind: 'timer', execution: { stepId: 'pause' }, dueAt: began + 24 * HOUR },
    ]);
    const { items } = await world.store.listSteps(runId, { limit: 10 });
    expect(items.find(({ id }) => id === 'pause')).toMatchObject({ kind: 'sleep', status: 'waiting' });
    await world.run();
    const done = await world.folded(runId);
    expect(done).toMatchObject({ status: 'completed', resumeCount: 0, waits: [] });
    expect(done.result).toEqual({ text: '{"after":"tired, null"}' });
    expect(done.durationMs).toBeGreaterThanOrEqual(24 * HOUR);
    expect(done.durationMs).toBeLessThan(24 * HOUR + 5_000);
    expect((await world.store.load(runId))?.state).toEqual(done);
  });

  test('runs no step twice, with the expected writes', async () => {
    const world = new World({ workflows: [nap] });
    const runId = await world.start('nap');
    await world.run();
    expect(await world.eventTypes(runId)).toEqual([
      'run_created',
      'run_claimed',
      'run_started',
      'step_succeeded',
      'wait_opened',
      'run_suspended',
      'run_resumed',
      'run_claimed',
      'wait_resolved',
      'step_succeeded',
      'step_succeeded',
      'run_completed',
    ]);
  });

  test('of a second is waited for in process', async () => {
    const world = new World({ workflows: [nap] });
    const runId = await world.start('nap', { wait: '1s' });
    await world.run();
    expect((await world.folded(runId)).status).toBe('completed');
    expect(await world.eventTypes(runId)).not.toContain('run_suspended');
  });

  test('whose task is lost is found by the scan', async () => {
    const world = new World({ workflows: [nap] });
    const runId = await world.start('nap');
    await asleep(world);
    for (const { id } of world.queue.pending) world.queue.take(id);
    await world.run();
    expect((await world.folded(runId)).status).toBe('completed');
  });

  test('is not shortened by early tasks', async () => {
    const world = new World({ workflows: [nap] });
    const runId = await world.start('nap');
    await asleep(world);
    const due = (await world.folded(runId)).waits[0]?.dueAt ?? 0;
    for (let i = 0; i < 3; i += 1) await world.queue.enqueue({ runId, reason: 'recovery' });
    await world.run(() => world.clock.now() > due - 1);
    expect(await world.eventTypes(runId)).toHaveLength(6);
    await world.run();
    expect((await world.folded(runId)).status).toBe('completed');
  });

  test('that ends while its version is not deployed waits on, and continues once it is', async () => {
    const world = new World({ workflows: [nap] });
    const runId = await world.start('nap');
    await asleep(world);
    const due = (await world.folded(runId)).waits[0]?.dueAt ?? 0;
    const without = { ...world.deps, registry: new World({ workflows: [] }).deps.registry };
    await world.run(() => world.clock.now() > due + 5 * 60_000, without);
    expect((await world.folded(runId)).status).toBe('waiting_external');
    await world.run();
    expect((await world.folded(runId)).status).toBe('completed');
  });

  test('longer than the queue can schedule sleeps to its end', async () => {
    const world = new World({ workflows: [nap] });
    const began = world.clock.now();
    const runId = await world.start('nap', { wait: '60d' });
    await world.run();
    const { status, completedAt } = await world.folded(runId);
    expect(status).toBe('completed');
    expect(completedAt).toBeGreaterThanOrEqual(began + 60 * 24 * HOUR);
  });

  test.each([
    ['until a past time ends at once', new Date(0), 'completed'],
    ['until an invalid time fails', Number.NaN, 'failed'],
  ])('%s', async (_name, until, status) => {
    const workflow = defineWorkflow({
      type: 'until',
      planVersion: 1,
      input: z.object({}),
      steps: (step) => ({ pause: step.sleep('pause', { until: () => until }) }),
    });
    const world = new World({ workflows: [workflow] });
    const runId = await world.start('until');
    await world.run();
    expect((await world.folded(runId)).status).toBe(status);
  });

  test('whose condition is false is skipped', async () => {
    const workflow = defineWorkflow({
      type: 'maybe',
      planVersion: 1,
      input: z.object({}),
      steps: (step) => ({ pause: step.sleep('pause', { for: '1h', when: () => false }) }),
    });
    const world = new World({ workflows: [workflow] });
    const runId = await world.start('maybe');
    await world.run();
    const state = await world.folded(runId);
    expect(state.durationMs).toBeLessThan(HOUR);
    expect(state.steps.get('pause')).toMatchObject({ phase: 'done', outcome: 'skipped' });
  });

  test.each([
    ['neither', {}],
    ['both', { for: '1h', until: 1 }],
    ['an invalid duration', { for: 'soon' }],
  ])('with %s is refused at definition', (_name, options) => {
    const define = () =>
      defineWorkflow({
        type: 'bad',
        planVersion: 1,
        input: z.object({}),
        steps: (step) => ({ pause: step.sleep('pause', options) }),
      });
    expect(define).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }));
  });
});
