/** A run may have many registrations and external calls at once, and fails with a named error above the limit. */
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { MAX_OPEN_EFFECTS, MAX_REGISTRATIONS } from '../../../packages/cairn/src/core/run/limits.ts';
import type { RunState } from '../../../packages/cairn/src/core/run/state.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { asFirestoreTakes } from '../../support/document-sizes.ts';
import { assertStored } from '../../support/soundness.ts';
import { World } from '../../support/world.ts';
import { installation } from '../effects/stage.ts';

const CALLS = 700;

test('a body may make hundreds of concurrent calls: their results take several commits', async () => {
  const { world, outside } = installation((perform, capability) =>
    Promise.all(
      Array.from({ length: CALLS }, (_, i) => perform(capability, { text: `${i}` }, { key: `k${i}` })),
    ),
  );
  const id = await world.start('post');
  const { store } = asFirestoreTakes(world.store);
  await world.run(undefined, { ...world.deps, store });
  expect(assertStored(world.db, id)).toMatchObject({ status: 'completed', effects: [] });
  expect(outside.calls).toBe(CALLS);
});

describe('a run at its limit of', () => {
  /** Writes the lists into the snapshot, because a run without a drive is read from its snapshot alone. */
  function begin(world: World, id: string, lists: Partial<Pick<RunState, 'effects' | 'ties'>>): void {
    const run = world.db.runs.get(id);
    if (!run) throw new Error('there is no run');
    run.snapshot = { ...run.snapshot, ...lists };
  }
  const endOf = (world: World, id: string) => world.db.runs.get(id)?.snapshot;

  test('effects in doubt fails by name at the next one, and its end has room', async () => {
    const { world, outside } = installation((perform, capability) => perform(capability, { text: 'more' }));
    const id = await world.start('post');
    const effects = Array.from({ length: MAX_OPEN_EFFECTS }, (_, i) => ({
      effectId: `${'e'.repeat(60)}${i}`,
      step: `send[${i}]`,
      revision: 1,
      capabilityId: 'c'.repeat(100),
    }));
    begin(world, id, { effects });
    const { store, written } = asFirestoreTakes(world.store);
    await world.run(undefined, { ...world.deps, store });
    const message = `the run has ${MAX_OPEN_EFFECTS} effects with an unknown outcome; the maximum is ${MAX_OPEN_EFFECTS}`;
    expect(endOf(world, id)).toMatchObject({ status: 'failed', error: { code: 'RUN_TOO_LARGE', message } });
    expect(outside.calls).toBe(0);
    expect(written.pages).toBeGreaterThan(5);
  });

  test('waits for others fails by name at the next one, and its end has room', async () => {
    const waiting = defineWorkflow({
      type: 'waiting',
      planVersion: 1,
      input: z.object({}),
      steps: (step) => ({ ci: step.event('ci', { event: 'ci', key: () => 'k' }) }),
    });
    const world = new World({ workflows: [waiting] });
    const id = await world.start('waiting');
    const ties = Array.from({ length: MAX_REGISTRATIONS }, (_, i) => ({
      kind: 'event' as const,
      waitId: `w${i}`,
      name: '界'.repeat(100),
      key: `${i}${'\u0001'.repeat(490)}`,
      eventId: `e${i}`,
    }));
    begin(world, id, { ties });
    const { store, written } = asFirestoreTakes(world.store);
    const isOver = () => endOf(world, id)?.status === 'failed';
    await world.run(isOver, { ...world.deps, store });
    const message = `the run has opened ${MAX_REGISTRATIONS} waits for events and children; the maximum is ${MAX_REGISTRATIONS}`;
    expect(endOf(world, id)).toMatchObject({ status: 'failed', error: { code: 'RUN_TOO_LARGE', message } });
    expect(written.pages).toBeGreaterThan(200);
  });
});
