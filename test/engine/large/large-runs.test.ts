/** Runs whose state is larger than a document: they end, and every document on the way has room. */
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { Fatal, NotApplied } from '../../../packages/cairn/src/core/errors.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { cancelRun } from '../../../packages/cairn/src/operations/cancel-run.ts';
import { asFirestoreTakes, MAX_BYTES } from '../../support/document-sizes.ts';
import { assertStored } from '../../support/soundness.ts';
import { World } from '../../support/world.ts';

const ITEMS = 1_000;
const over = () => Array.from({ length: ITEMS }, (_, i) => i);
/** 100 characters, as many as an id may have. */
const idOf = (name: string) => name.padEnd(100, 'x');

describe('ten maps of a thousand items with ids of a hundred characters', () => {
  const maps = (maxConcurrent: number) =>
    defineWorkflow({
      type: 'wide',
      planVersion: 1,
      input: z.object({}),
      steps(step) {
        const lists = Array.from({ length: 10 }, (_, m) =>
          step.map(idOf(`map${m}`), { over, concurrency: maxConcurrent }, ({ item }) => item),
        );
        const needs = Object.fromEntries(lists.map((list, i) => [`n${i}`, list] as const));
        return { count: step('count', { needs }, (context) => Object.keys(context).length) };
      },
    });

  test('complete', async () => {
    const world = new World({ workflows: [maps(1_000)], settings: { concurrentSteps: 500 } });
    const { store, written } = asFirestoreTakes(world.store);
    const runId = await world.start('wide');
    await world.run(undefined, { ...world.deps, store });
    const state = assertStored(world.db, runId);
    expect([state.status, state.steps.size]).toEqual(['completed', 10 * (ITEMS + 1) + 1]);
    expect(written.largest).toBeLessThan(MAX_BYTES);
    expect(written.pages).toBeGreaterThan(5);
  });
});

describe('three maps whose receiver answers 503 to every undo', () => {
  const refuse = () => {
    throw new NotApplied(`503 Service Unavailable: ${'界'.repeat(400)}`);
  };
  const undoing = (items: number) =>
    defineWorkflow({
      type: 'undoing',
      planVersion: 1,
      input: z.object({}),
      steps(step) {
        const over = () => Array.from({ length: items }, (_, i) => i);
        const retry = { maxAttempts: 2, initialMs: 1 };
        const lists = Array.from({ length: 3 }, (_, m) =>
          step.map(idOf(`map${m}`), { over, retry, compensate: refuse }, ({ item }) => item),
        );
        const needs = Object.fromEntries(lists.map((list, i) => [`n${i}`, list] as const));
        return {
          broken: step('broken', { needs }, (): string => {
            throw new Fatal('broken');
          }),
        };
      },
    });

  test('of a thousand items are all undone, each failure is recorded, and the run ends', async () => {
    const world = new World({ workflows: [undoing(ITEMS)] });
    const { store, written } = asFirestoreTakes(world.store);
    const runId = await world.start('undoing');
    await world.run(undefined, { ...world.deps, store });
    const state = assertStored(world.db, runId);
    expect(state).toMatchObject({ status: 'failed', error: { message: 'broken' } });
    expect(state.compensationLog).toHaveLength(3 * ITEMS);
    expect(state.compensationLog.every(({ outcome }) => outcome === 'failed')).toBe(true);
    expect(written.pages).toBeGreaterThan(10);
    expect(written.largest).toBeLessThan(MAX_BYTES);
    const events = await world.store.readEvents(runId, 0, 100_000);
    const started = events.find(({ type }) => type === 'compensation_started');
    expect(started?.data).toMatchObject({ count: 3 * ITEMS, steps: { length: 100 } });
  });

  test('of hundreds of items are cancelled midway by one call', async () => {
    const items = 350;
    const world = new World({ workflows: [undoing(items)] });
    const { store } = asFirestoreTakes(world.store);
    const deps = { ...world.deps, store };
    const runId = await world.start('undoing');
    const events = () => world.db.runs.get(runId)?.events.length ?? 0;
    await world.run(() => events() > 4.5 * items, deps);
    await cancelRun(deps, { runId, tenantId: 't1', stopKind: 'user' });
    await world.run(undefined, deps);
    const state = assertStored(world.db, runId);
    expect(state.status).toBe('cancelled');
    expect(state.compensationLog).toHaveLength(3 * items);
  });
});
